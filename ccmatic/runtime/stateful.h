/* A sender that remembers: what happens in, a window and a rate out. Time is in nanoseconds from any origin. At the end
 * of each step, of R_m / CCM_R, the controller is told what was seen by then. R_m is the least RTT. */
#define CCM_CATCH_UP 16 /* steps that one call takes; of a longer pause the rest is left out */

struct ccm_sender {
    struct ccm_state state;
    struct ccm_seen seen[CCM_PAST + 1]; /* by the ends of the last steps, the latest first */
    uint64_t stayed; /* steps in which what the controller assumes was not so, and its state stayed as it was */
    uint64_t packet; /* MSS, bytes */
    uint64_t start, step; /* when the step under way began, and its length */
    uint64_t rtt; /* R_m; 0 if the length of a step is fixed */
    bool guessed; /* it was not measured: until then no step is over */
    uint64_t sent, acked, lost; /* bytes so far */
    bool timeout, any; /* in the step under way a retransmission timer fired, bytes were acknowledged */
    uint64_t last_sent, last_rtt; /* when the last acknowledged of them was sent, and how long before */
};

static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns); /* below */

static inline uint64_t ccm_step_of(uint64_t rtt)
{
    return ccm_at_least(1, rtt / CCM_R);
}

/* now_ns: when sending begins. rtt_ns: the least RTT known so far. packet: bytes in one, MSS. False, and no sender to
 * use, if one of them is 0, or the RTT longer than CCM_LONGEST_RTT. */
static inline bool ccm_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    const struct ccm_seen nothing = {.delay = -1};

    for (unsigned i = 0; i <= CCM_PAST; i++)
        s->seen[i] = nothing;
    s->stayed = 0;
    s->packet = packet;
    s->start = now_ns;
    s->rtt = ccm_at_least(1, ccm_at_most(CCM_LONGEST_RTT, rtt_ns));
    s->step = ccm_step_of(s->rtt);
    s->guessed = s->timeout = s->any = false;
    s->sent = s->acked = s->lost = s->last_sent = s->last_rtt = 0;
    ccm_first(&s->state, packet);
    return s->rtt == rtt_ns && packet > 0;
}

static inline void ccm_set_step(struct ccm_sender *s, uint64_t step)
{
    if (s->step != step)
        ccm_rescale(&s->state, step, s->step);
    s->step = step;
}

/* An RTT was measured. A smaller R_m makes shorter steps, from the next on. */
static inline void ccm_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    if (!s->rtt || !rtt_ns)
        return;
    s->rtt = ccm_at_most(s->guessed ? CCM_LONGEST_RTT : s->rtt, rtt_ns);
    if (s->guessed)
        s->step = ccm_step_of(s->rtt);
    s->guessed = false;
}

/* A step is over in which this was seen. */
CCM_GLOBAL int ccm_end_step(struct ccm_sender *s, const struct ccm_seen *seen)
{
    if (!s || !seen)
        return 0;
    for (unsigned i = CCM_PAST; i > 0; i--)
        s->seen[i] = s->seen[i - 1];
    s->seen[0] = *seen;
    if (seen->time >= CCM_FIRST && !ccm_update(&s->state, s->seen, (int64_t)s->packet, s->step))
        s->stayed++;
    return 0;
}

/* Terms are of so many bytes at most. */
static inline int64_t ccm_counted(uint64_t bytes)
{
    return (int64_t)ccm_at_most((uint64_t)CCM_LARGEST, bytes);
}

/* What was seen by the end of the step that is over at s->start. */
static inline struct ccm_seen ccm_look(const struct ccm_sender *s)
{
    const uint64_t waited = ccm_down(ccm_less(s->start, s->last_sent), s->step);
    const uint64_t most = ccm_at_most(CCM_LONGEST_DELAY * s->step, (UINT64_C(1) << 51) - 1);
    const uint64_t beyond = ccm_at_most(ccm_less(s->last_rtt, CCM_R * s->step), most);
    const struct ccm_seen *before = &s->seen[0];

    return (struct ccm_seen){
        .acked = ccm_counted(s->acked),
        .lost = ccm_counted(s->lost),
        .sent = ccm_counted(s->sent),
        .admitted = ccm_counted(ccm_less(s->sent, s->lost)),
        .time = before->time + 1,
        .delay = s->any ? (int64_t)ccm_at_most(CCM_LONGEST_DELAY, ccm_less(waited, CCM_R)) : before->delay,
        .timeout = s->timeout,
        .measured = s->any,
        .waited = s->any ? (int64_t)ccm_scaled(beyond, 4096, s->step, false) : before->waited,
    };
}

/* Takes the steps that were over before now. */
CCM_GLOBAL int ccm_take_steps(struct ccm_sender *s, uint64_t now_ns)
{
    if (!s)
        return 0;
    for (unsigned i = 0; i < CCM_CATCH_UP && ccm_less(now_ns, s->start) > s->step; i++) {
        s->start += s->step;
        const struct ccm_seen seen = ccm_look(s);

        ccm_end_step(s, &seen);
        s->timeout = s->any = false;
        if (s->rtt)
            ccm_set_step(s, ccm_step_of(s->rtt));
    }
    if (ccm_less(now_ns, s->start) > s->step)
        s->start = now_ns;
    return 0;
}

/* Bytes acknowledged now, the last of them sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->acked += bytes;
    s->last_sent = sent_ns;
    s->last_rtt = ccm_less(now_ns, sent_ns);
    s->any = true;
}

/* A retransmission timer fires. */
static inline void ccm_timed_out(struct ccm_sender *s)
{
    s->timeout = true;
}

/* The most bytes that may be out from now on: at least a packet, as one who sends nothing learns nothing. */
static inline uint64_t ccm_window(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return ccm_at_least(s->packet, (uint64_t)ccm_max(0, ccm_window_of(&s->state, (int64_t)s->packet)));
}

/* Bytes per step. A rate below 0 sends nothing. */
static inline uint64_t ccm_rate_per_step(const struct ccm_sender *s)
{
    return (uint64_t)ccm_max(0, ccm_min(CCM_LINE_RATE, ccm_rate_of(&s->state, (int64_t)s->packet)));
}

/* The rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return ccm_scaled(ccm_rate_per_step(s), 1000000000, s->step, false);
}

/* What there was at the end of the step last over, for logs; `rate` is that of the step after. In ns, bytes, bytes per
 * second; bytes so far. */
struct ccm_record {
    uint64_t time, step, packet, rate, sent, acked, lost, stayed, window;
    struct ccm_state state;
};

static inline void ccm_record(const struct ccm_sender *s, uint64_t rate, struct ccm_record *record)
{
    record->time = s->start;
    record->step = s->step;
    record->packet = s->packet;
    record->rate = rate;
    record->sent = s->sent;
    record->acked = (uint64_t)s->seen[0].acked;
    record->lost = (uint64_t)s->seen[0].lost;
    record->stayed = s->stayed;
    record->window = (uint64_t)ccm_max(0, ccm_window_of(&s->state, (int64_t)s->packet));
    record->state = s->state;
}

#ifndef CCM_KERNEL
/* For programs that begin with other state, as it is kept: false if there is none of this name. */
static inline bool ccm_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    static const char *const names[] = {CCM_STATE_NAMES};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) {
            ((int64_t *)&s->state)[i] = (int64_t)ccm_at_most((uint64_t)CCM_LARGEST, value);
            return true;
        }
    return false;
}
#endif
