/* A sender: acknowledgements in, a pacing rate out. Time is in nanoseconds from any origin. A step is as long as any
 * packet may take but for queueing, R_m + D: so what delays packets on the whole path, propagation too, is what the
 * model calls jitter. R_m is the least RTT seen; a smaller one counts from the next window on. */

/* The BPF verifier looks at a global function by itself, once, not at each call of it. */
#ifdef CCM_KERNEL
#define CCM_GLOBAL __attribute__((noinline))
#else
#define CCM_GLOBAL static inline
#endif

struct ccm_sender {
    struct ccm_window w;
    unsigned t; /* of the window, the step last over */
    bool windows; /* the first window is under way: it begins when the first step is over */
    uint64_t start, step; /* when the step under way began, and its length */
    uint64_t rtt; /* R_m; 0 if the length of a step is fixed */
    uint64_t sent, acked, lost; /* bytes so far */
    uint64_t lost_early; /* bytes found to be lost that were sent in the step under way */
    uint64_t timely, timely_early; /* of those lost, what tells that the link was busy */
    uint64_t first_out, first_out_before; /* when the first bytes of the step under way, and of that before, were sent */
    bool limited, paused; /* the application had nothing to send in the step under way, and has nothing now */
    bool any; /* bytes were acknowledged in the step under way: the first and the last of them were sent at */
    uint64_t first_sent, last_sent;
    uint64_t last_delay, first_delay;
    bool started; /* past the start: see CCM_START_WITH */
};

static inline uint64_t ccm_step_of(uint64_t rtt)
{
    return ccm_at_least(1, ccm_down(rtt * CCM_STEP_NUMERATOR, CCM_STEP_DENOMINATOR));
}

static inline void ccm_look(struct ccm_sender *s, unsigned t)
{
    s->w.sent[t] = s->sent;
    s->w.acked[t] = s->acked;
    s->w.lost[t] = s->lost;
    s->w.timely[t] = s->timely;
    s->w.limited[t] = s->limited;
    s->w.last_delay[t] = s->last_delay;
    s->w.first_delay[t] = s->first_delay;
    s->t = t;
}

/* now_ns: when sending begins. rtt_ns: the least RTT known so far. packet: bytes in one, MSS. */
static inline void ccm_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    s->start = now_ns;
    s->rtt = rtt_ns;
    s->step = ccm_step_of(rtt_ns);
    s->w.packet = packet;
    s->sent = s->acked = s->lost = s->lost_early = s->timely = s->timely_early = 0;
    s->first_out = s->first_out_before = now_ns;
    s->last_delay = s->first_delay = s->last_sent = s->first_sent = 0;
    s->any = s->windows = s->started = s->limited = s->paused = false;
    ccm_look(s, 0);
    ccm_start_beliefs(&s->w, &s->w.beliefs[0]);
}

/* Steps of this length, whatever RTTs are measured. */
static inline void ccm_fix_step(struct ccm_sender *s, uint64_t step_ns)
{
    s->step = step_ns;
    s->rtt = 0;
}

static inline void ccm_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    if (s->rtt)
        s->rtt = ccm_at_least(1, ccm_at_most(s->rtt, rtt_ns));
}

static inline void ccm_end_window(struct ccm_sender *s)
{
    struct ccm_beliefs after = s->w.beliefs[CCM_STEPS - 1];

    ccm_time_out(&s->w, &after);
    s->w.beliefs[0] = after;
    ccm_look(s, 0);
    if (s->rtt)
        s->step = ccm_step_of(s->rtt);
}

/* A step is over: its counters and delays are what `s` has. */
CCM_GLOBAL int ccm_end_step(struct ccm_sender *s)
{
    if (!s)
        return 0;
    const unsigned before = s->t;

    if (before >= CCM_STEPS - 1)
        return 0;
    if (!s->windows) {
        s->windows = true;
        ccm_look(s, 0);
        ccm_start_beliefs(&s->w, &s->w.beliefs[0]);
        return 0;
    }
    if (s->lost - s->w.lost[before] > CCM_LARGE_LOSS * s->w.packet)
        s->started = true;
    ccm_look(s, before + 1);
    ccm_move(&s->w, before + 1);
    if (before + 1 == CCM_STEPS - 1)
        ccm_end_window(s);
    return 0;
}

/* Of the step under way: fewer than two packets were sent, so the link may have had nothing to serve, or none was for
 * longer than the rate takes for two, or a 32nd of the step, as a sender that learns of its rate late sends the more in
 * what is left of the step. */
static inline bool ccm_uneven(const struct ccm_sender *s)
{
    const uint64_t packets = ccm_down(s->sent - s->w.sent[ccm_index(s->t)], s->w.packet);

    return packets < 2 || s->first_out - s->start > ccm_down(2 * s->step, ccm_at_most(64, packets));
}

/* Takes the steps that were over before now. After a long pause those that nobody could see are left out. */
static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < CCM_STEPS && now_ns - s->start > s->step; i++) {
        s->limited = s->limited || ccm_uneven(s);
        s->start += s->step;
        if (s->any) {
            s->last_delay = ccm_down(s->start - s->last_sent, s->step);
            s->first_delay = ccm_down(s->start - s->first_sent, s->step);
            s->any = false;
        }
        ccm_end_step(s);
        s->lost += s->lost_early;
        s->timely += s->timely_early;
        s->lost_early = s->timely_early = 0;
        s->first_out_before = s->first_out;
        s->first_out = s->start;
        s->limited = s->paused;
    }
    if (now_ns - s->start > s->step)
        s->start = now_ns;
}

static inline void ccm_sent(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    if (s->sent == s->w.sent[ccm_index(s->t)])
        s->first_out = now_ns;
    s->paused = false;
    s->sent += bytes;
}

/* The application has nothing more to send for now, though the rate would let it: until bytes are sent again. A step in
 * which that is so tells nothing of the link from above, as the link may have had nothing to serve. */
static inline void ccm_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns);
    s->limited = s->paused = true;
}

/* Bytes acknowledged now, the last of them sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->acked += bytes;
    s->last_sent = sent_ns;
    if (!s->any)
        s->first_sent = sent_ns;
    s->any = true;
}

/* Bytes found to be lost now, that were sent at sent_ns, or about then. In the models a loss is seen by the end of the
 * step after the one in which the bytes were sent: what is found earlier waits until then. Then it tells that the link was
 * busy all that step, as the sender overfilled the buffer at a constant rate. It does not if found later, nor if it is of
 * the step's first packet, which may have met the queue of the step before. */
static inline void ccm_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    if (sent_ns > s->start) {
        s->lost_early += bytes;
        s->timely_early += sent_ns > s->first_out ? bytes : 0;
    } else {
        s->lost += bytes;
        s->timely += sent_ns > s->first_out_before ? bytes : 0;
    }
}

/* The rate of the step under way, bytes per step: at least a packet. */
static inline uint64_t ccm_rate_per_step(const struct ccm_sender *s)
{
    const unsigned t = s->t;
    const struct ccm_beliefs *b = &s->w.beliefs[t < CCM_STEPS ? t : 0];
    const uint64_t rate = s->started ? ccm_decide(b, s->w.packet) : ccm_decide_at_start(b, s->w.packet);

    return ccm_at_most(CCM_MOST, ccm_at_least(s->w.packet, rate));
}

/* The rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return ccm_down(ccm_rate_per_step(s) * UINT64_C(1000000000), s->step);
}
