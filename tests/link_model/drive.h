/* The sender with its application, and what befalls them, one event at a time. */

static struct random dice;
static uint64_t rate, last_sent; /* of the sender: bytes a second; when it sent last */
static uint64_t packets = 1;     /* that it sends in a step, if not what the controller says */
static uint64_t has, wakes;      /* of the application: packets to send; when there are more of them */
static uint64_t next_trouble;
static uint64_t next_due;        /* when the next packet leaves, by ccm_next */
static uint64_t last_left;       /* when the last one did */
static uint64_t lost[RING], first_lost, revealed, next_lost; /* numbers of packets lost; those that are to be found */

static bool troubled(unsigned by)
{
    return drawn.troubles & by;
}

static void ask_rate(uint64_t now)
{
    static uint64_t of_step;
    rate = ccm_rate(&sender, now);
    look();
    if (!troubled(ANY_RATE))
        return;
    if (of_step != sender.start)
        packets = between(&dice, 1, between(&dice, 1, 1 + 3 * sender.step / path.tx));
    of_step = sender.start;
    rate = (uint64_t)((unsigned __int128)packets * drawn.bytes * 1000000000 / sender.step);
}

static uint64_t due(void)
{
    if (troubled(TIMER | BURSTS))
        return next_due > clock_now ? next_due : clock_now;
    const unsigned __int128 gap = ((unsigned __int128)drawn.bytes * 1000000000 + rate - 1) / (rate ? rate : 1);
    const uint64_t at = last_sent + (uint64_t)(gap < never / 4 ? gap : never / 4);
    return at > clock_now ? at : clock_now;
}

/* The application has nothing more to send. */
static void pause_at(uint64_t now)
{
    ccm_limited(&sender, now);
    look();
    wakes = now + spread(&dice, 1, troubled(HOURS) ? HOUR : sender.step << between(&dice, 0, 12));
}

static void wake(void)
{
    has = troubled(IDLE | HOURS) ? spread(&dice, 1, 2000) : never;
    wakes = never;
}

/* So much is in flight that the ring could not tell more apart, as where R_m is far longer than the sender takes it. */
static bool crowded(void)
{
    const bool waits = path.pending && path.next - path.heap[0] > RING / 2;
    return waits || (first_lost < next_lost && path.next - lost[first_lost % RING] > RING / 2);
}

/* Packets leave: by a timer, when the next do is settled as well. */
static void tell_sent(uint64_t when, uint64_t count)
{
    if (troubled(TIMER | BURSTS))
        next_due = ccm_next(&sender, when, next_due, count);
    at_once = count * drawn.bytes > at_once ? count * drawn.bytes : at_once;
    ccm_sent(&sender, when, count * drawn.bytes);
    look();
}

static uint64_t to_send(void)
{
    const uint64_t burst = (uint64_t)((unsigned __int128)rate * drawn.burst / 1000000000 / drawn.bytes);
    const uint64_t most = burst < has ? burst : has;
    return most < RING / 8 ? (most ? most : 1) : RING / 8;
}

/* When what the sender is told to leave now does: by a timer, somewhat later. */
static uint64_t leaves(uint64_t now)
{
    const uint64_t at = now + between(&dice, 0, path.late);
    last_left = at > last_left ? at : last_left;
    return last_left;
}

static void send_one(uint64_t now)
{
    /* A timer may let a packet leave before the sender is asked. */
    const uint64_t count = to_send();
    const bool unasked = troubled(TIMER) && due() <= now && !crowded() && between(&dice, 0, 19) == 0;

    if (unasked)
        tell_sent(now, count);
    ask_rate(now);
    if (due() > now && !unasked)
        return;
    if (crowded()) {
        last_sent = now;
        next_due = now + sender.step;
        ccm_limited(&sender, now);
        look();
        return;
    }
    if (!unasked)
        tell_sent(now, count);
    for (uint64_t i = 0, at = leaves(now); i < count; i++)
        if (!offer(&path, now, at))
            lost[next_lost++ % RING] = path.next - 1;
    last_sent = now;
    has -= count;
    if (has == 0)
        pause_at(now);
}

/* One acknowledgement, or all that come now as one; packets that were given up are told one by one. */
static void acknowledge(uint64_t now)
{
    uint64_t bytes = 0, sent = 0, number = 0;
    do {
        const struct packet *p = arrived(&path);
        measure(p, now);
        number = p->number;
        if (p->marked)
            ccm_found(&sender, now, p->sent, drawn.bytes);
        else
            bytes += drawn.bytes, sent = p->sent;
    } while (troubled(MERGED_ACKS) && path.pending && of(&path, path.heap[0])->at == now);
    if (bytes)
        ccm_acked(&sender, now, sent, bytes);
    look();
    for (; revealed < next_lost && lost[revealed % RING] < number; revealed++)
        of(&path, lost[revealed % RING])->at = now + drawn.loss_wait;
}

static void mark(struct packet *p, uint64_t now, void tell(struct ccm_sender *, uint64_t, uint64_t, uint64_t))
{
    if (p->marked || p->acked)
        return;
    p->marked = true;
    tell(&sender, now, p->sent, drawn.bytes);
    look();
}

static void change_R_m(void)
{
    const uint64_t by = between(&dice, 2, 20);
    const uint64_t most = 50 * drawn.R_m < LONGEST_R_M ? 50 * drawn.R_m : LONGEST_R_M;
    const bool falls = path.R_m * by > most || (troubled(R_M_FALLS) && between(&dice, 0, 1));
    /* The models want five packets in a step. */
    const uint64_t least = 5 * path.tx < path.R_m ? 5 * path.tx : path.R_m;

    if (falls || !troubled(R_M_GROWS)) {
        lengthen(&path, least + (path.R_m - least) / by);
    } else if (2 * path.R_m * by > sender.rtt + sender.step) {
        begin_grace();
        lengthen(&path, path.R_m * by);
    } /* else it grows by less than half of the sender's D, which has to allow for that */
}

static void befall(uint64_t now)
{
    if (troubled(SPURIOUS))
        for (uint64_t i = path.next > RING ? path.next - RING : 0; i < path.next; i++)
            mark(of(&path, i), now, ccm_gave_up);
    /* A path that is longer for less than a period is not told from a queue. */
    if (troubled(R_M_FALLS | R_M_GROWS) && !grace)
        change_R_m();
    next_trouble = now + between(&dice, 1, (troubled(SPURIOUS) ? 20 : 200) * sender.step);
}
