/* Asks, whenever a step of the sender is over, whether what it believes is true of the link. */

/* Windows in which the sender measured RTTs, by whose end it has noticed that R_m is longer than it took it to be: two
 * of its periods, once it could measure that, and no packet that took the shorter path is out. Until then C_U may be
 * false, as a link of the rate that is sent, on which a queue stands, shows the sender the same; C_L only where D is
 * longer than a step, as then ACKs come in longer bursts; and a packet in a step may be more than C. */
enum { GRACE = 2 * CCM_PERIOD };

static struct link path;
static uint64_t at_once;   /* most bytes that were sent at once */
static uint64_t clock_now; /* what happens next, happens then or later */
static struct ccm_sender sender;
static struct scenario drawn;
static const uint64_t never = UINT64_MAX;
static uint64_t judged, seen_start, steps;
static uint64_t grace, begun_before; /* windows of it that are left; how often the sender had begun again before it */
static unsigned was_at;              /* of its window, the step that was over before */
static uint64_t longer, shorter;     /* the first packet of the longer path; those out that took the shorter one */
static bool measured, told;          /* a packet of the longer path was acknowledged; any, in this window */
static uint64_t kept, begun_then, step_then; /* C_Llambda when it was judged last, and what may make it fall */
static bool excused;                 /* something false was believed in it */

static uint64_t belief(const char *wanted, uint64_t otherwise)
{
    const char *name;
    uint64_t value;
    for (unsigned i = 0; ccm_beliefs(&sender, i, &name, &value); i++)
        if (!strcmp(name, wanted))
            return value;
    return otherwise;
}

static void must(bool is_true, bool excusable, const char *what, uint64_t believed, uint64_t truth)
{
    if (is_true)
        return;
    if (grace && excusable) {
        excused = true;
        return;
    }
    printf("false: %s; seed %" PRIu64 ", troubles 0x%x, step %" PRIu64 ": believed %" PRIu64 ", true %" PRIu64
           " (R_m %" PRIu64 " ns, D %" PRIu64 " ns, packet %" PRIu64 " bytes in %" PRIu64 " ns, buffer %" PRIu64
           " packets, step %" PRIu64 " ns)\n",
           what, drawn.seed, drawn.troubles, steps, believed, truth, path.R_m, path.D, drawn.bytes, path.tx,
           path.buffer, sender.step);
    exit(1);
}

/* The link carries bytes/tx a nanosecond, exactly. Its queue is what waits, beyond the packet that is served; it is
 * known to what was sent at once, a packet where each is paced, and to two and a 32nd of what the link carries in a step
 * where the sender may learn of its rate so late. */
static void judge(void)
{
    const unsigned __int128 carried = (unsigned __int128)drawn.bytes * sender.step;
    const uint64_t C = (uint64_t)(carried / path.tx);
    const uint64_t C_L = belief("C_L", 0), C_U = belief("C_U", CCM_MOST), C_Llambda = belief("C_Llambda", 0);
    const uint64_t unsure = (drawn.troubles & LAZY ? drawn.bytes + C / 32 : 0) + at_once;
    const uint64_t q_U = belief("q_U", never / 2), waiting = path.waiting * drawn.bytes;
    const uint64_t together = at_once + (path.late ? drawn.bytes : 0); /* most that may come at the same time */
    const bool too_small = together > drawn.bytes && together > path.buffer * drawn.bytes;

    must((unsigned __int128)C_L * path.tx <= carried, path.D > sender.step || C < drawn.bytes, "C_L", C_L, C);
    must(C_U == CCM_MOST || (unsigned __int128)C_U * path.tx >= carried, true, "C_U", C_U, C); /* MOST claims nothing */
    must((unsigned __int128)C_Llambda * path.tx <= carried, C < drawn.bytes, "C_Llambda", C_Llambda, C);
    must(waiting <= q_U + unsure, C < drawn.bytes, "q_U", q_U, waiting);
    must(C_Llambda >= kept || too_small || sender.begun_again != begun_then || sender.step != step_then, true,
         "what was true, but it timed out: C_Llambda", C_Llambda, kept);
    kept = C_Llambda, begun_then = sender.begun_again, step_then = sender.step;
    judged += !grace;
}

/* After each call of the sender, before the link has what the call was about. */
static void look(void)
{
    if (sender.start == seen_start)
        return;
    seen_start = sender.start;
    steps++;
    serve_until(&path, sender.start);
    judge();
    const bool at_start = !was_at; /* of a window, for a step already: it had begun again */
    was_at = sender.t;
    if (sender.t || at_start)
        return;
    if (grace && told && measured && !shorter && --grace == 0)
        must(!excused || sender.begun_again > begun_before, false, "nothing, but the sender did not begin again", 0, 1);
    told = false;
}

static void begin_grace(void)
{
    grace = GRACE;
    begun_before = sender.begun_again;
    longer = path.next;
    shorter = path.pending;
    measured = excused = false;
}

/* The RTT of a packet is told. */
static void measure(const struct packet *p, uint64_t now)
{
    ccm_rtt(&sender, now - p->sent);
    measured = measured || p->number >= longer;
    told = true;
    shorter -= shorter && p->number < longer;
}
