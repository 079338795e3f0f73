/* A sender with one rate per monitor interval. The network chooses the rate by the measurements of earlier
 * intervals. Time is in nanoseconds from any origin. */
#define CCM_CATCH_UP 16 /* the most intervals that one call processes; the rest of a longer pause is skipped */

struct ccm_sender {
    struct ccm_watch watch;
    float rate; /* bytes per second */
    uint64_t packet; /* bytes */
    uint64_t start, step; /* the start and the length of the current interval */
    uint64_t rtt; /* R_m; 0 if the length of an interval is fixed */
    bool guessed; /* R_m is a guess; no interval ends until it is measured */
    uint64_t sent, acked, lost; /* bytes so far */
};

static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns); /* below */

static inline uint64_t ccm_step_of(uint64_t rtt)
{
    return ccm_at_least(1, rtt * CCM_INTERVAL_NUMERATOR / CCM_INTERVAL_DENOMINATOR);
}

/* Begin with no measurement except R_m. */
static inline void ccm_know_first(struct ccm_sender *s, uint64_t rtt)
{
    ccm_watch_from(&s->watch, rtt, s->step, s->packet);
    ccm_omit_action(&s->watch);
    s->rate = ccm_first_rate((float)s->packet, rtt);
}

/* Prepare a sender. now_ns: when sending begins. rtt_ns: the smallest RTT known so far. packet: the bytes of a
 * packet. Returns false, and the sender is unusable, if one of these is 0 or the RTT is longer than CCM_LONGEST_RTT. */
static inline bool ccm_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    const uint64_t rtt = ccm_at_least(1, ccm_at_most(CCM_LONGEST_RTT, rtt_ns));

    *s = (struct ccm_sender){.packet = packet, .start = now_ns, .step = ccm_step_of(rtt), .rtt = rtt};
    ccm_know_first(s, rtt);
    return rtt == rtt_ns && packet > 0;
}

/* Process a measured RTT. A smaller R_m shortens intervals, beginning with the next one. */
static inline void ccm_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    if (!s->rtt || !rtt_ns)
        return;
    s->rtt = ccm_at_most(s->guessed ? CCM_LONGEST_RTT : s->rtt, rtt_ns);
    if (s->guessed) {
        s->step = ccm_step_of(s->rtt);
        ccm_know_first(s, s->rtt);
    }
    s->guessed = false;
}

/* End an interval with these measurements. The next one, of this many seconds, begins. */
static inline void ccm_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds)
{
    float rate;

    ccm_observe(&s->watch, measured);
    ccm_action(&s->watch);
    ccm_act(&s->watch.known, s->rate, &rate);
    s->rate = ccm_within(rate, (float)s->packet / seconds, CCM_FASTEST);
}

/* Process the intervals that ended before now. */
static inline void ccm_take_steps(struct ccm_sender *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < CCM_CATCH_UP && ccm_less(now_ns, s->start) > s->step; i++) {
        const struct ccm_interval measured = ccm_watched(&s->watch, s->step, s->sent, s->acked, s->lost);

        s->start += s->step;
        if (s->rtt)
            s->step = ccm_step_of(s->rtt);
        ccm_decide(s, &measured, ccm_seconds(s->step));
    }
    if (ccm_less(now_ns, s->start) > s->step)
        s->start = now_ns;
}

/* Bytes are acknowledged now. The last of them was sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->acked += bytes;
    ccm_watch_acked(&s->watch, ccm_less(now_ns, sent_ns), bytes);
}

/* Of the acknowledged bytes, so many have a mark by now, in all. */
static inline void ccm_marked(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_watch_marked(&s->watch, bytes);
}

/* A retransmission timer fires. For a policy this is a loss like any other. */
static inline void ccm_timed_out(struct ccm_sender *s)
{
    (void)s;
}

/* Only the rate limits the sender. */
static inline uint64_t ccm_window(const struct ccm_sender *s, uint64_t now_ns)
{
    (void)s, (void)now_ns;
    return UINT64_MAX;
}

/* The rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return (uint64_t)s->rate;
}

/* Send at this rate from now on, in bytes per second. */
static inline void ccm_want(struct ccm_sender *s, uint64_t now_ns, uint64_t rate)
{
    ccm_advance(s, now_ns);
    s->rate = (float)rate;
}

/* A record of the last finished interval, for logs. `rate` is that of the next one. Units: ns, bytes, bytes per
 * second; bytes are cumulative. */
struct ccm_record {
    uint64_t time, step, packet, rate, sent, acked, lost, rtt, rtt_end, marked;
};

static inline void ccm_record(const struct ccm_sender *s, uint64_t rate, struct ccm_record *record)
{
    *record = (struct ccm_record){
        .time = s->start,
        .step = s->step,
        .packet = s->packet,
        .rate = rate,
        .sent = s->watch.sent,
        .acked = s->watch.acked,
        .lost = s->watch.lost,
        .rtt = (uint64_t)(1e9f * s->watch.known.now.rtt),
        .rtt_end = (uint64_t)(1e9f * s->watch.known.now.rtt_end),
        .marked = s->watch.marked,
    };
}

/* For programs that begin with other state: a policy has no state with a name. */
static inline bool ccm_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    (void)s, (void)name, (void)value;
    return false;
}
