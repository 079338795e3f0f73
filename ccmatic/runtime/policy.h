/* A sender that sends at one rate in a monitor interval, which the network chooses by what was measured in those before.
 * Time is in nanoseconds from any origin. */
#define CCM_CATCH_UP 16 /* intervals that one call takes; of a longer pause the rest is left out */
#define CCM_FIRST_PACKETS 10 /* that are sent in the first R_m (RFC 6928) */
#define CCM_FASTEST 1e10f /* bytes per second */

struct ccm_sender {
    struct ccm_watch watch;
    float rate; /* bytes per second */
    uint64_t packet; /* bytes */
    uint64_t start, step; /* when the interval under way began, and its length */
    uint64_t rtt; /* R_m; 0 if the length of an interval is fixed */
    bool guessed; /* it was not measured: until then no interval is over */
    uint64_t sent, acked, lost; /* bytes so far */
};

static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns); /* below */

static inline uint64_t ccm_step_of(uint64_t rtt)
{
    return ccm_at_least(1, rtt * CCM_INTERVAL_NUMERATOR / CCM_INTERVAL_DENOMINATOR);
}

/* Nothing was measured but R_m. */
static inline void ccm_know_first(struct ccm_sender *s, uint64_t rtt)
{
    ccm_watch_from(&s->watch, rtt, s->step, s->packet);
    s->rate = CCM_FIRST_PACKETS * (float)s->packet / ccm_seconds(rtt);
}

/* now_ns: when sending begins. rtt_ns: the least RTT known so far. packet: bytes in one. False, and no sender to use, if
 * one of them is 0, or the RTT longer than CCM_LONGEST_RTT. */
static inline bool ccm_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    const uint64_t rtt = ccm_at_least(1, ccm_at_most(CCM_LONGEST_RTT, rtt_ns));

    *s = (struct ccm_sender){.packet = packet, .start = now_ns, .step = ccm_step_of(rtt), .rtt = rtt};
    ccm_know_first(s, rtt);
    return rtt == rtt_ns && packet > 0;
}

/* An RTT was measured. A smaller R_m makes shorter intervals, from the next on. */
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

/* An interval is over in which this was measured, and the next of so many seconds begins. */
static inline void ccm_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds)
{
    float rate;

    ccm_observe(&s->watch, measured);
    ccm_action(&s->watch);
    ccm_act(&s->watch.known, s->rate, &rate);
    s->rate = ccm_within(rate, (float)s->packet / seconds, CCM_FASTEST);
}

/* Takes the intervals that were over before now. */
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

/* Bytes acknowledged now, the last of them sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->acked += bytes;
    ccm_watch_acked(&s->watch, ccm_less(now_ns, sent_ns), bytes);
}

/* A retransmission timer fires: to a policy a loss as any other. */
static inline void ccm_timed_out(struct ccm_sender *s)
{
    (void)s;
}

/* Nothing but the rate limits what is sent. */
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

/* What there was at the end of the interval last over, for logs; `rate` is that of the one after. In ns, bytes, bytes per
 * second; bytes so far. */
struct ccm_record {
    uint64_t time, step, packet, rate, sent, acked, lost, rtt, rtt_end;
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
    };
}

/* For programs that begin with other state: there is none that has a name. */
static inline bool ccm_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    (void)s, (void)name, (void)value;
    return false;
}
