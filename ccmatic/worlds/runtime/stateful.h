/* A sender with state: events in, a window and a rate out. Time is in nanoseconds from any origin. At the end of
 * each step, of length R_m / CCM_R, the controller receives the observations. R_m is the smallest RTT. */
#define CCM_CATCH_UP 16 /* the most steps that one call processes; the rest of a longer pause is skipped */

struct ccm_sender {
    struct ccm_state state;
    struct ccm_seen seen[CCM_PAST + 1]; /* by the ends of the last steps, the latest one first */
    uint64_t stayed; /* steps in which an assumption of the controller failed, so its state stayed as it was */
    uint64_t packet; /* MSS, bytes */
    uint64_t start, step; /* the start and the length of the current step */
    uint64_t rtt; /* R_m; 0 if the length of a step is fixed */
    bool guessed; /* R_m is a guess; no step ends until it is measured */
    uint64_t sent, acked, lost, marked; /* cumulative bytes */
    bool timeout, any; /* in the current step: a retransmission timer fired; bytes were acknowledged */
    bool limited, paused; /* the application had nothing to send for a part of the current step; it has had nothing since */
    uint64_t paused_at; /* the bytes sent when the application last had nothing more to send */
    uint64_t last_sent, last_rtt; /* when the last acknowledged of them was sent, and its RTT */
};

static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns); /* below */

static inline uint64_t ccm_step_of(uint64_t rtt)
{
    return ccm_at_least(1, rtt / CCM_R);
}

/* Prepare a sender. now_ns: when sending begins. rtt_ns: the smallest RTT known so far. packet: the bytes of a
 * packet, MSS. Returns false, and the sender is unusable, if one of these is 0 or the RTT is longer than
 * CCM_LONGEST_RTT. */
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
    s->guessed = s->timeout = s->any = s->limited = s->paused = false;
    s->paused_at = 0;
    s->sent = s->acked = s->lost = s->marked = s->last_sent = s->last_rtt = 0;
    ccm_first(&s->state, packet);
    return s->rtt == rtt_ns && packet > 0;
}

static inline void ccm_set_step(struct ccm_sender *s, uint64_t step)
{
    if (s->step != step)
        ccm_rescale(&s->state, step, s->step);
    s->step = step;
}

/* Process a measured RTT. A smaller R_m shortens steps, beginning with the next one. */
static inline void ccm_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    if (!s->rtt || !rtt_ns)
        return;
    s->rtt = ccm_at_most(s->guessed ? CCM_LONGEST_RTT : s->rtt, rtt_ns);
    if (s->guessed)
        s->step = ccm_step_of(s->rtt);
    s->guessed = false;
}

/* End a step with these observations. */
CCM_GLOBAL int ccm_end_step(struct ccm_sender *s, const struct ccm_seen *seen)
{
    if (!s || !seen)
        return 0;
    for (unsigned i = CCM_PAST; i > 0; i--) {
        s->seen[i] = s->seen[i - 1];
        CCM_BARRIER();
    }
    s->seen[0] = *seen;
    if (seen->time >= CCM_FIRST && !ccm_update(&s->state, s->seen, (int64_t)s->packet, s->step))
        s->stayed++;
    return 0;
}

/* Limit bytes to the largest number that terms support. */
static inline int64_t ccm_counted(uint64_t bytes)
{
    return (int64_t)ccm_at_most((uint64_t)CCM_LARGEST, bytes);
}

/* Return the observations by the end of the step that ended at s->start. */
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
        .app_limited = s->limited,
        .waited = s->any ? (int64_t)ccm_scaled(beyond, 4096, s->step, false) : before->waited,
        .marked = ccm_counted(s->marked),
    };
}

/* Process the steps that ended before now. */
CCM_GLOBAL int ccm_take_steps(struct ccm_sender *s, uint64_t now_ns)
{
    if (!s)
        return 0;
    for (unsigned i = 0; i < CCM_CATCH_UP && ccm_less(now_ns, s->start) > s->step; i++) {
        s->start += s->step;
        const struct ccm_seen seen = ccm_look(s);

        ccm_end_step(s, &seen);
        s->timeout = s->any = false;
        s->limited = s->paused && s->sent == s->paused_at;
        if (s->rtt)
            ccm_set_step(s, ccm_step_of(s->rtt));
    }
    if (ccm_less(now_ns, s->start) > s->step)
        s->start = now_ns;
    return 0;
}

/* Bytes are acknowledged now. The last of them was sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->acked += bytes;
    s->last_sent = sent_ns;
    s->last_rtt = ccm_less(now_ns, sent_ns);
    s->any = true;
}

/* Of the acknowledged bytes, so many have a mark by now, in all. */
static inline void ccm_marked(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->marked = ccm_at_least(s->marked, bytes);
}

/* The application has nothing more to send for now, though window and rate would allow it, until bytes are sent
 * again. */
static inline void ccm_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns);
    s->limited = s->paused = true;
    s->paused_at = s->sent;
}

/* A retransmission timer fires. */
static inline void ccm_timed_out(struct ccm_sender *s)
{
    s->timeout = true;
}

/* Return the most bytes that may be in flight from now on. It is at least a packet, because a sender that sends
 * nothing learns nothing. */
static inline uint64_t ccm_window(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return ccm_at_least(s->packet, (uint64_t)ccm_max(0, ccm_window_of(&s->state, (int64_t)s->packet)));
}

/* Return the rate in bytes per step. A rate below 0 sends nothing. */
static inline uint64_t ccm_rate_per_step(const struct ccm_sender *s)
{
    return (uint64_t)ccm_max(0, ccm_min(CCM_LINE_RATE, ccm_rate_of(&s->state, (int64_t)s->packet)));
}

/* Return the rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    return ccm_scaled(ccm_rate_per_step(s), 1000000000, s->step, false);
}

/* A record of the last finished step, for logs. `rate` is that of the next step. Units: ns, bytes, bytes per second;
 * bytes are cumulative. */
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
/* For programs that begin with other state, in the form that C stores; false if there is no state of this name. */
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
