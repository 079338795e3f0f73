/* A sender: acknowledgements in, a pacing rate out. Time is in nanoseconds from any origin.
 *
 * A step is R_m + D long: the longest time that a packet may take, except for queueing. So every delay on the whole
 * path, including propagation, is what the model calls jitter.
 *
 * R_m is the smallest RTT so far. A smaller one takes effect when a whole window has passed since, and with it the
 * packets that took a longer path. R_m grows, and beliefs begin again, when all RTTs of a period exceed it by more
 * than half of D: jitter alone does not explain them.
 */
#define CCM_PERIOD 10 /* windows with RTT measurements */
#define CCM_MOST_WANTED (UINT64_C(1) << 50) /* bytes per second */

struct ccm_sender {
    struct ccm_window w;
    unsigned t; /* the step of the window that ended last */
    bool windows; /* whether the first window has begun, which it does at the end of the first step */
    uint64_t start, step; /* the start and the length of the current step */
    uint64_t rtt; /* R_m; 0 if the length of a step is fixed */
    uint64_t rtt_before; /* R_m when the window began */
    uint64_t more; /* additional jitter that does not grow with R_m: see ccm_more_jitter */
    bool guessed; /* R_m is a guess; no step ends until it is measured */
    uint64_t least; /* the smallest RTT of the current period, or UINT64_MAX */
    unsigned windows_over; /* finished windows of that period */
    bool measured; /* whether the current window has measured an RTT */
    bool grown; /* whether R_m grew at the end of the period before */
    uint64_t begun_again; /* how often the sender dropped its beliefs because they might have been false */
    uint64_t sent, acked, lost; /* cumulative bytes */
    uint64_t lost_early; /* bytes detected as lost that were sent in the current step */
    uint64_t in_time, in_time_early; /* bytes detected as lost in the current step that show the last one's state */
    uint64_t timely; /* lost bytes that show that the link was busy */
    uint64_t excess; /* lost bytes that show by how much the arrivals exceeded the room */
    uint64_t burst, burst_before; /* the most bytes sent at once in the current step, and in the one before */
    uint64_t first_out, first_out_before; /* when the first bytes of the current step, and of the one before, left */
    bool limited, paused; /* whether the application had nothing to send in the current step, and has nothing now */
    uint64_t doubted, doubted_sent; /* bytes given up that may still be acknowledged; when the last of them was sent */
    uint64_t doubted_until; /* one step after later bytes were acknowledged, or UINT64_MAX */
    uint64_t newest; /* when the newest acknowledged bytes were sent */
    bool any; /* whether bytes were acknowledged in the current step; when the first and the last of them were sent */
    uint64_t first_sent, last_sent;
    uint64_t first_wait, last_wait; /* from then to the end of the last step with any, ns */
    uint64_t last_delay, first_delay; /* the same delays in whole steps */
    bool started; /* whether the start is over: see CCM_HAS_START */
    uint64_t planned; /* the start of the step to which `budget` belongs */
    uint64_t budget, left; /* bytes to send in that step; remainder of the one before, less than a packet */
    uint64_t wanted, wanted_in; /* the wanted rate in an envelope, bytes per second, and the start of its step */
#ifdef CCM_NETWORK
    struct ccm_watch watch; /* from which a network computes the wanted rate */
    float latest; /* for a guard: the rate of the current step, bytes per second */
#endif
};

static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns); /* below */

static inline uint64_t ccm_step_of(const struct ccm_sender *s, uint64_t rtt)
{
    return ccm_at_least(1, ccm_up(rtt * CCM_STEP_NUMERATOR, CCM_STEP_DENOMINATOR)) + s->more;
}

static inline void ccm_look(struct ccm_sender *s, unsigned t)
{
    s->w.sent[t] = s->sent;
    s->w.acked[t] = s->acked;
    s->w.lost[t] = s->lost;
    s->w.timely[t] = s->timely;
    s->w.excess[t] = s->excess;
    s->w.limited[t] = s->limited;
    s->w.doubtful[t] = s->doubted > 0;
    s->w.last_delay[t] = s->last_delay;
    s->w.first_delay[t] = s->first_delay;
    s->t = t;
}

/* Begin a window now, with the beliefs of a sender without knowledge. */
static inline void ccm_begin_window(struct ccm_sender *s)
{
    ccm_look(s, 0);
    ccm_start_beliefs(&s->w, &s->w.beliefs[0]);
}

/* Return the rate for the beliefs at the end of the last finished step and for this wanted rate. Both are in bytes
 * per step; the result is at least a packet. */
static inline uint64_t ccm_allowed(const struct ccm_sender *s, uint64_t wanted)
{
    const unsigned t = s->t;
    const struct ccm_beliefs *b = &s->w.beliefs[t < CCM_STEPS ? t : 0];
    const uint64_t packet = s->w.packet;
    const uint64_t rate = s->started ? ccm_decide(b, packet, wanted) : ccm_decide_at_start(b, packet, wanted);

    return ccm_at_most(CCM_MOST, ccm_at_least(packet, rate));
}

#ifdef CCM_GUARD
/* Set the wanted rate, in bytes per second. */
static inline void ccm_want_within(struct ccm_sender *s, float rate)
{
    s->wanted = ccm_at_most(CCM_MOST_WANTED, (uint64_t)rate);
    s->latest = (float)ccm_allowed(s, ccm_scaled(s->wanted, s->step, 1000000000, false)) / ccm_seconds(s->step);
}

/* Begin a step. The network wants a rate, which depends on the last step's rate. The envelope limits it. */
static inline void ccm_choose(struct ccm_sender *s)
{
    float rate;

    ccm_action(&s->watch);
    ccm_act(&s->watch.known, s->latest, &rate);
    ccm_want_within(s, ccm_within(rate, (float)s->w.packet / ccm_seconds(s->step), CCM_FASTEST));
}
#elif defined CCM_NETWORK
/* Begin a step. The network's action, from -1 to 1, is the place of the wanted rate between the lowest and the
 * highest. */
static inline void ccm_choose(struct ccm_sender *s)
{
    const uint64_t least = ccm_allowed(s, 0), room = ccm_less(ccm_allowed(s, CCM_MOST), least);
    const uint64_t wanted = least + (uint64_t)((ccm_action(&s->watch) + 1.0f) / 2.0f * (float)room);

    s->wanted = ccm_at_most(CCM_MOST_WANTED, ccm_scaled(wanted, 1000000000, s->step, true));
}

#endif

#ifdef CCM_NETWORK
/* Begin with no knowledge except R_m. */
static inline void ccm_begin_to_watch(struct ccm_sender *s)
{
    s->watch = (struct ccm_watch){0};
    ccm_watch_from(&s->watch, s->rtt, s->step, s->w.packet);
#ifdef CCM_GUARD
    ccm_omit_action(&s->watch);
    ccm_want_within(s, ccm_first_rate((float)s->w.packet, s->rtt));
#else
    ccm_choose(s);
#endif
}

static inline void ccm_watch_rtt(struct ccm_sender *s, uint64_t rtt, uint64_t bytes)
{
    ccm_watch_acked(&s->watch, rtt, bytes);
}

/* Of the acknowledged bytes, so many have a mark by now, in all. */
static inline void ccm_marked(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_watch_marked(&s->watch, bytes);
}

/* End a step: store its measurements for the network. Bytes given up count as lost. */
static inline void ccm_watch_step(struct ccm_sender *s)
{
    const uint64_t lost = s->lost + s->lost_early + s->doubted;
    const struct ccm_interval measured = ccm_watched(&s->watch, s->step, s->sent, s->acked, lost);

    ccm_observe(&s->watch, &measured);
}
#else
static inline void ccm_choose(struct ccm_sender *s)
{
    (void)s;
}

static inline void ccm_begin_to_watch(struct ccm_sender *s)
{
    (void)s;
}

static inline void ccm_watch_rtt(struct ccm_sender *s, uint64_t rtt, uint64_t bytes)
{
    (void)s, (void)rtt, (void)bytes;
}

static inline void ccm_watch_step(struct ccm_sender *s)
{
    (void)s;
}
#endif

static inline void ccm_begin_again(struct ccm_sender *s)
{
    s->begun_again++;
    s->started = false;
    ccm_begin_window(s);
}

/* Prepare a sender. now_ns: when sending begins. rtt_ns: the smallest RTT known so far. packet: the bytes of a
 * packet, MSS. Returns false, and the sender is unusable, if one of these is 0 or the RTT is longer than
 * CCM_LONGEST_RTT. */
static inline bool ccm_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    s->start = now_ns;
    s->rtt = ccm_at_least(1, ccm_at_most(CCM_LONGEST_RTT, rtt_ns));
    s->rtt_before = s->rtt;
    s->more = 0;
    s->step = ccm_step_of(s, s->rtt);
    s->w.packet = packet;
    s->least = UINT64_MAX;
    s->windows_over = 0;
    s->begun_again = 0;
    s->sent = s->acked = s->lost = s->lost_early = 0;
    s->in_time = s->in_time_early = s->timely = s->excess = 0;
    s->burst = s->burst_before = 0;
    s->first_out = s->first_out_before = now_ns;
    s->doubted = s->doubted_sent = s->doubted_until = s->newest = 0;
    s->last_wait = s->first_wait = 0;
    s->last_delay = s->first_delay = s->last_sent = s->first_sent = 0;
    s->any = s->windows = s->started = s->guessed = s->limited = s->paused = false;
    s->measured = s->grown = false;
    s->planned = now_ns;
    s->budget = s->left = 0;
    s->wanted = CCM_MOST_WANTED;
    s->wanted_in = UINT64_MAX;
    ccm_begin_window(s);
    ccm_begin_to_watch(s);
    return s->rtt == rtt_ns && packet > 0;
}

/* Lengthen D by this much, directly after ccm_init; for example if packets leave in bursts that take this time at
 * the rate. */
static inline void ccm_more_jitter(struct ccm_sender *s, uint32_t ns)
{
    s->more = ns;
    s->step = ccm_step_of(s, s->rtt);
}

static inline void ccm_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    if (!s->rtt || !rtt_ns)
        return;
    rtt_ns = ccm_at_most(CCM_LONGEST_RTT, rtt_ns);
    s->least = ccm_at_most(s->least, rtt_ns);
    s->measured = true;
    if (s->guessed) {
        s->guessed = false;
        s->rtt = s->rtt_before = rtt_ns;
        s->step = ccm_step_of(s, rtt_ns);
        ccm_begin_to_watch(s);
    }
    s->rtt = ccm_at_most(s->rtt, rtt_ns);
}

static inline void ccm_set_step(struct ccm_sender *s, uint64_t step)
{
    if (s->step == step)
        return;
    s->step = step;
    s->last_delay = ccm_down(s->last_wait, step);
    s->first_delay = ccm_down(s->first_wait, step);
}

/* End a window, possibly early. Return whether it also ends a period in which all RTTs exceeded R_m by more than
 * half of D. R_m then becomes the smallest of them. That one may belong to a packet that took the shorter path and
 * met a queue, so in the next period any excess suffices. */
static inline bool ccm_outgrown(struct ccm_sender *s)
{
    s->windows_over += s->measured;
    s->measured = false;
    if (s->windows_over < CCM_PERIOD)
        return false;
    const bool outgrown = s->rtt && s->least > (s->grown ? s->rtt : (s->rtt + s->step) / 2);

    if (outgrown) {
        s->rtt = s->rtt_before = s->least;
        ccm_set_step(s, ccm_step_of(s, s->rtt));
    }
    s->grown = outgrown;
    s->windows_over = 0;
    s->least = UINT64_MAX;
    return outgrown;
}

/* End a window. The next one has the new length of a step, so no window mixes two lengths. */
static inline void ccm_end_window(struct ccm_sender *s)
{
    struct ccm_beliefs after = s->w.beliefs[CCM_STEPS - 1];
    const uint64_t before = s->step;
    const bool outgrown = ccm_outgrown(s);

    ccm_time_out(&s->w, &after);
    s->w.beliefs[0] = after;
    if (s->rtt)
        ccm_set_step(s, ccm_step_of(s, s->rtt_before));
    s->rtt_before = s->rtt;
    ccm_look(s, 0);
    if (outgrown)
        ccm_begin_again(s);
    else if (s->step != before)
        ccm_rescale(&s->w, &s->w.beliefs[0], s->step, before);
}

/* End a step, whose counters and delays are in `s`. */
CCM_GLOBAL int ccm_end_step(struct ccm_sender *s)
{
    if (!s)
        return 0;
    const unsigned before = s->t;

    if (before >= CCM_STEPS - 1)
        return 0;
    if (!s->windows) {
        s->windows = true;
        ccm_begin_window(s);
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

/* Whether the current step was uneven, so that it shows no upper bound of the link's rate. Either fewer than two
 * packets were sent, so the link may have had nothing to serve. Or, at first, none was sent for longer than the rate
 * takes for two packets, or than a 32nd of the step: a sender that learns its rate late sends more in the rest of
 * the step. */
static inline bool ccm_uneven(const struct ccm_sender *s)
{
    const uint64_t packets = ccm_down(s->sent - s->w.sent[ccm_index(s->t)], s->w.packet);

    return packets < 2 || ccm_less(s->first_out, s->start) > ccm_down(2 * s->step, ccm_at_most(64, packets));
}

/* End a step, and use what its losses show about the step before. That step kept the link busy if packets were sent
 * one by one. If several were sent at once, some may be lost and the link may still have nothing to serve
 * afterwards. The excess over the room is reduced by the bytes sent at once, which come that much early, and by a
 * packet, because a part of the lost packet would have fitted. */
static inline void ccm_count_timely(struct ccm_sender *s)
{
    if (s->burst_before <= s->w.packet)
        s->timely += s->in_time;
    s->excess += ccm_less(s->in_time, s->w.packet + s->burst_before);
    s->in_time = s->in_time_early;
    s->in_time_early = 0;
    s->burst_before = s->burst;
    s->burst = 0;
}

/* Process the steps that ended before now. After a long pause the unobserved steps are skipped, and a new window
 * begins, so no window spans the gap. */
static inline void ccm_take_steps(struct ccm_sender *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < CCM_STEPS && ccm_less(now_ns, s->start) > s->step; i++) {
        s->limited = s->limited || ccm_uneven(s);
        s->start += s->step;
        if (s->any) {
            s->last_wait = ccm_less(s->start, s->last_sent);
            s->first_wait = ccm_less(s->start, s->first_sent);
            s->last_delay = ccm_down(s->last_wait, s->step);
            s->first_delay = ccm_down(s->first_wait, s->step);
            s->any = false;
        }
        ccm_count_timely(s);
        ccm_watch_step(s);
        ccm_end_step(s);
        ccm_choose(s);
        s->lost += s->lost_early;
        s->lost_early = 0;
        s->first_out_before = s->first_out;
        s->first_out = s->start;
        s->limited = s->paused;
    }
    if (ccm_less(now_ns, s->start) > s->step) {
        s->start = now_ns;
        if (s->t && s->t < CCM_STEPS) {
            s->w.beliefs[0] = s->w.beliefs[s->t];
            ccm_look(s, 0);
        }
    }
}

static inline void ccm_sent(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    if (s->sent == s->w.sent[ccm_index(s->t)])
        s->first_out = now_ns;
    s->paused = false;
    s->sent += bytes;
    s->burst = ccm_at_least(s->burst, bytes);
}

/* The application has nothing more to send for now, though the rate would allow it, until bytes are sent again. Such
 * a step gives no upper bound of the link's rate, because the link may have had nothing to serve. */
static inline void ccm_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns);
    s->limited = s->paused = true;
}

/* Count a loss. In the models the sender detects a loss by the end of the step after the one in which the bytes were
 * sent. So an earlier detection waits until then. Then the loss shows that the link was busy in that whole step,
 * because the sender overfilled the buffer at a constant rate. It does not show this in three cases: it is detected
 * later; it is the loss of the step's first packet, which may have met the queue of the step before; or the time of
 * its sending is unknown.
 */
static inline void ccm_count_lost(struct ccm_sender *s, uint64_t sent_ns, uint64_t bytes, bool known)
{
    const bool early = sent_ns > s->start;
    const uint64_t in_time = known && sent_ns > (early ? s->first_out : s->first_out_before) ? bytes : 0;

    if (early) {
        s->lost_early += bytes;
        s->in_time_early += in_time;
    } else {
        s->lost += bytes;
        s->in_time += in_time;
    }
}

/* Take back losses that were none. The first of these bytes are those given up, which no belief uses yet. If there
 * are more, beliefs rest on false losses, and begin again. */
static inline void ccm_take_back(struct ccm_sender *s, uint64_t bytes)
{
    const uint64_t doubted = ccm_at_most(s->doubted, bytes), early = ccm_at_most(s->lost_early, bytes - doubted);
    const uint64_t counted = ccm_at_most(s->lost, bytes - doubted - early);

    s->doubted -= doubted;
    s->lost_early -= early;
    if (early)
        s->in_time_early = 0;
    s->lost -= counted;
    if (counted) {
        s->windows = false;
        (void)ccm_outgrown(s);
        ccm_begin_again(s);
    }
}

static inline void ccm_count_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    if (s->doubted && now_ns > s->doubted_until) {
        ccm_count_lost(s, s->doubted_sent, s->doubted, false);
        s->doubted = 0;
    }
    if (s->doubted_until == UINT64_MAX && sent_ns > s->doubted_sent)
        s->doubted_until = now_ns + s->step;
    s->acked += bytes;
    ccm_watch_rtt(s, ccm_less(now_ns, sent_ns), bytes);
    s->last_sent = sent_ns;
    s->newest = ccm_at_least(s->newest, sent_ns);
    if (!s->any)
        s->first_sent = sent_ns;
    s->any = true;
}

/* Bytes are acknowledged now. The last of them was sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_count_acked(s, now_ns, sent_ns, bytes);
    if (sent_ns <= s->doubted_sent)
        s->doubted = ccm_less(s->doubted, bytes);
}

/* Bytes are acknowledged now that had been given up or reported as lost. */
static inline void ccm_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_count_acked(s, now_ns, sent_ns, bytes);
    ccm_take_back(s, bytes);
}

/* The caller gives bytes up now. The last of them was sent at sent_ns. Neither a timeout nor the acknowledgement of
 * later bytes proves a loss. The bytes count as lost if they are still unacknowledged one step after such an
 * acknowledgement: a network may change the order by D, and by R_m when the path gets shorter. */
static inline void ccm_gave_up(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->doubted += bytes;
    s->doubted_sent = ccm_at_least(s->doubted_sent, sent_ns);
    s->doubted_until = s->newest > s->doubted_sent ? now_ns + s->step : UINT64_MAX;
}

/* Bytes sent at sent_ns, or about then, are detected as lost now: later ones were acknowledged, and the caller has
 * waited since for as long as the network may change the order. */
static inline void ccm_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    if (sent_ns < s->newest)
        ccm_count_lost(s, sent_ns, bytes, true);
    else
        ccm_gave_up(s, now_ns, sent_ns, bytes);
}

/* The bytes in flight now, by a stack's own count; for stacks that take back losses silently. */
static inline void ccm_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_take_back(s, ccm_less(s->acked + s->lost + s->lost_early + s->doubted + bytes, s->sent));
}

/* Set the wanted rate of a sender in an envelope, in bytes per second. The first call in a step counts for the whole
 * step, because the models have one rate per step. Before the first call the highest rate is wanted. */
static inline void ccm_want(struct ccm_sender *s, uint64_t now_ns, uint64_t wanted)
{
    ccm_advance(s, now_ns + 1);
    if (s->wanted_in == s->start)
        return;
    s->wanted_in = s->start;
    s->wanted = ccm_at_most(CCM_MOST_WANTED, wanted);
}

/* Return the rate of the current step in bytes per step, at least a packet. */
static inline uint64_t ccm_rate_per_step(const struct ccm_sender *s)
{
    return ccm_allowed(s, ccm_scaled(s->wanted, s->step, 1000000000, false));
}

/* Return the rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    const uint64_t rate = ccm_rate_per_step(s);

    if (rate >> 34)
        return ccm_scaled(rate, 1000000000, s->step, false);
    return ccm_down(rate * UINT64_C(1000000000), s->step);
}

/* A record of the last finished step, for logs. `rate` is that of the next step. Units: ns, bytes, bytes per second;
 * bytes are cumulative, and those given up count as lost. */
struct ccm_record {
    uint64_t time, step, packet, rate, sent, acked, lost, begun_again;
    struct ccm_beliefs beliefs;
};

static inline void ccm_record(const struct ccm_sender *s, uint64_t rate, struct ccm_record *record)
{
    const unsigned t = ccm_index(s->t);

    record->time = s->start;
    record->step = s->step;
    record->packet = s->w.packet;
    record->rate = rate;
    record->sent = s->w.sent[t];
    record->acked = s->w.acked[t];
    record->lost = s->w.lost[t] + s->doubted;
    record->begun_again = s->begun_again;
    record->beliefs = s->w.beliefs[t];
}
