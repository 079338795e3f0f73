/* A sender: acknowledgements in, a pacing rate out. Time is in nanoseconds from any origin. A step is as long as any
 * packet may take but for queueing, R_m + D: so what delays packets on the whole path, propagation too, is what the
 * model calls jitter. R_m is the least RTT seen; a smaller one counts when a whole window has passed since, and with it
 * the packets that took a longer path. It grows, and beliefs begin again, when all RTTs of a period exceed it by more
 * than half of D: jitter alone does not explain them. */
#define CCM_PERIOD 10 /* windows in which RTTs were measured */
#define CCM_MOST_WANTED (UINT64_C(1) << 50) /* bytes per second */

struct ccm_sender {
    struct ccm_window w;
    unsigned t; /* of the window, the step last over */
    bool windows; /* the first window is under way: it begins when the first step is over */
    uint64_t start, step; /* when the step under way began, and its length */
    uint64_t rtt; /* R_m; 0 if the length of a step is fixed */
    uint64_t rtt_before; /* the same when the window began */
    uint64_t more; /* jitter besides that which grows with R_m: see ccm_more_jitter */
    bool guessed; /* it was not measured: until then no step is over */
    uint64_t least; /* RTT of the period under way, or UINT64_MAX */
    unsigned windows_over; /* of that period */
    bool measured; /* an RTT, in the window under way */
    bool grown; /* R_m, at the end of the period before */
    uint64_t begun_again; /* how often beliefs were dropped, as they may have been false */
    uint64_t sent, acked, lost; /* bytes so far */
    uint64_t lost_early; /* bytes found to be lost that were sent in the step under way */
    uint64_t in_time, in_time_early; /* of those found lost in the step under way, what tells of the one before */
    uint64_t timely; /* of those lost, what tells that the link was busy */
    uint64_t excess; /* and what tells by how much more was sent than fits */
    uint64_t burst, burst_before; /* most bytes sent at once in the step under way, and in that before */
    uint64_t first_out, first_out_before; /* when the first bytes of the step under way, and of that before, left */
    bool limited, paused; /* the application had nothing to send in the step under way, and has nothing now */
    uint64_t doubted, doubted_sent; /* bytes given up that may be acknowledged yet; the last of them was sent at */
    uint64_t doubted_until; /* a step after bytes sent later were acknowledged, or UINT64_MAX */
    uint64_t newest; /* when the last sent of all acknowledged bytes was sent */
    bool any; /* bytes were acknowledged in the step under way: the first and the last of them were sent at */
    uint64_t first_sent, last_sent;
    uint64_t first_wait, last_wait; /* from then to the end of the last step that had any, ns */
    uint64_t last_delay, first_delay; /* the same in whole steps */
    bool started; /* past the start: see CCM_START_WITH */
    uint64_t planned; /* the step, by when it began, of which `budget` is: bytes that may be sent in it, */
    uint64_t budget, left; /* with what was left of the step before, less than a packet */
    uint64_t wanted, wanted_in; /* of an envelope's rates, bytes per second; of the step that began then */
#ifdef CCM_NETWORK
    struct ccm_watch watch; /* by which a network says what is wanted */
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

/* A window begins here and now, with the beliefs of one who knows nothing. */
static inline void ccm_begin_window(struct ccm_sender *s)
{
    ccm_look(s, 0);
    ccm_start_beliefs(&s->w, &s->w.beliefs[0]);
}

/* The rate for the beliefs at the end of the step last over, where this one is wanted; both bytes per step, and at least a
 * packet. */
static inline uint64_t ccm_allowed(const struct ccm_sender *s, uint64_t wanted)
{
    const unsigned t = s->t;
    const struct ccm_beliefs *b = &s->w.beliefs[t < CCM_STEPS ? t : 0];
    const uint64_t packet = s->w.packet;
    const uint64_t rate = s->started ? ccm_decide(b, packet, wanted) : ccm_decide_at_start(b, packet, wanted);

    return ccm_at_most(CCM_MOST, ccm_at_least(packet, rate));
}

#ifdef CCM_NETWORK
/* A step begins: the network's action, from -1 to 1, is where between the least and the most rate it wants the step's. */
static inline void ccm_choose(struct ccm_sender *s)
{
    const uint64_t least = ccm_allowed(s, 0), room = ccm_less(ccm_allowed(s, CCM_MOST), least);
    const uint64_t wanted = least + (uint64_t)((ccm_action(&s->watch) + 1.0f) / 2.0f * (float)room);

    s->wanted = ccm_at_most(CCM_MOST_WANTED, ccm_scaled(wanted, 1000000000, s->step, true));
}

/* Nothing is known but R_m. */
static inline void ccm_begin_to_watch(struct ccm_sender *s)
{
    s->watch = (struct ccm_watch){0};
    ccm_watch_from(&s->watch, s->rtt, s->step, s->w.packet);
    ccm_choose(s);
}

static inline void ccm_watch_rtt(struct ccm_sender *s, uint64_t rtt, uint64_t bytes)
{
    ccm_watch_acked(&s->watch, rtt, bytes);
}

/* A step is over: what was measured in it. What was given up counts as lost. */
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

/* now_ns: when sending begins. rtt_ns: the least RTT known so far. packet: bytes in one, MSS. False, and no sender to
 * use, if one of them is 0, or the RTT longer than CCM_LONGEST_RTT. */
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

/* Right after ccm_init: D is longer by so much, as where packets are sent in bursts that take this time at the rate. */
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

/* A window is over, or cut short: whether a period is over with it in which all RTTs exceeded R_m by more than half of
 * D. R_m is then the least of them. That may be of a packet that took the shorter path and met a queue, so in the
 * period after that any more is enough. */
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

/* A window is over: the next has the new length of a step, so no window mixes two. */
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

/* Of the step under way: fewer than two packets were sent, so the link may have had nothing to serve, or none was for
 * longer than the rate takes for two, or a 32nd of the step, as a sender that learns of its rate late sends the more in
 * what is left of the step. */
static inline bool ccm_uneven(const struct ccm_sender *s)
{
    const uint64_t packets = ccm_down(s->sent - s->w.sent[ccm_index(s->t)], s->w.packet);

    return packets < 2 || ccm_less(s->first_out, s->start) > ccm_down(2 * s->step, ccm_at_most(64, packets));
}

/* A step is over: what losses tell of the one before. It kept the link busy if packets were sent one by one: of several
 * at once some may be lost while the link has nothing to serve afterwards. By how much more was sent than fits: what is
 * sent at once comes early by that much, and of the packet that does not fit a part would have. */
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

/* Takes the steps that were over before now. After a long pause those that nobody could see are left out, and a new
 * window begins: no window spans the gap. */
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

/* The application has nothing more to send for now, though the rate would let it: until bytes are sent again. A step in
 * which that is so tells nothing of the link from above, as the link may have had nothing to serve. */
static inline void ccm_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns);
    s->limited = s->paused = true;
}

/* In the models a loss is seen by the end of the step after the one in which the bytes were sent: what is found earlier
 * waits until then. Then it tells that the link was busy all that step, as the sender overfilled the buffer at a
 * constant rate. It does not if found later, nor if it is of the step's first packet, which may have met the queue of
 * the step before, nor if it is not known when it was sent. */
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

/* Bytes that are not lost after all: first of those given up, which no belief knows of. If others are among them,
 * beliefs rest on losses that were none, and begin again. */
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

/* Bytes acknowledged now, the last of them sent at sent_ns. */
static inline void ccm_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_count_acked(s, now_ns, sent_ns, bytes);
    if (sent_ns <= s->doubted_sent)
        s->doubted = ccm_less(s->doubted, bytes);
}

/* Bytes acknowledged now that had been given up or told to be lost. */
static inline void ccm_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_count_acked(s, now_ns, sent_ns, bytes);
    ccm_take_back(s, bytes);
}

/* Bytes given up now, the last of them sent at sent_ns. A timeout is no proof, nor is it that later bytes were
 * acknowledged: they are lost if they still are not a step after that. A network may change the order by D, and by R_m
 * where the path gets shorter. */
static inline void ccm_gave_up(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->doubted += bytes;
    s->doubted_sent = ccm_at_least(s->doubted_sent, sent_ns);
    s->doubted_until = s->newest > s->doubted_sent ? now_ns + s->step : UINT64_MAX;
}

/* Bytes found lost now, that were sent at sent_ns, or about then: later ones were acknowledged, and the caller has
 * waited since for as long as the network may change the order. */
static inline void ccm_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    if (sent_ns < s->newest)
        ccm_count_lost(s, sent_ns, bytes, true);
    else
        ccm_gave_up(s, now_ns, sent_ns, bytes);
}

/* For stacks that take back losses without a word: so many bytes are out now, by their own count. */
static inline void ccm_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    ccm_take_back(s, ccm_less(s->acked + s->lost + s->lost_early + s->doubted + bytes, s->sent));
}

/* Of a sender in an envelope: the rate that is wanted, in bytes per second. What is wanted when this is first called in a
 * step counts for all of it, as the models' rates are of steps; until it is called the most is. */
static inline void ccm_want(struct ccm_sender *s, uint64_t now_ns, uint64_t wanted)
{
    ccm_advance(s, now_ns + 1);
    if (s->wanted_in == s->start)
        return;
    s->wanted_in = s->start;
    s->wanted = ccm_at_most(CCM_MOST_WANTED, wanted);
}

/* The rate of the step under way, bytes per step: at least a packet. */
static inline uint64_t ccm_rate_per_step(const struct ccm_sender *s)
{
    return ccm_allowed(s, ccm_scaled(s->wanted, s->step, 1000000000, false));
}

/* The rate to send at from now on, in bytes per second. */
static inline uint64_t ccm_rate(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_advance(s, now_ns + 1);
    const uint64_t rate = ccm_rate_per_step(s);

    if (rate >> 34)
        return ccm_scaled(rate, 1000000000, s->step, false);
    return ccm_down(rate * UINT64_C(1000000000), s->step);
}

/* What there was at the end of the step last over, for logs; `rate` is that of the step after. In ns, bytes, bytes per
 * second; bytes so far, those given up counted as lost. */
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
