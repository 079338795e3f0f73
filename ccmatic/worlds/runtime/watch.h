/* A network's observations: vectors of the measurements of intervals. Time is in nanoseconds. An interval is a part
 * or a multiple of R_m, the smallest RTT. */
#define CCM_FIRST_PACKETS 10 /* packets sent in the first R_m (RFC 6928) */
#define CCM_FASTEST 1e10f /* bytes per second */

struct ccm_watch {
    float history[(CCM_HISTORY + CCM_DELAY) * CCM_FEATURES]; /* the vectors, the latest one last */
    struct ccm_known known;
    uint64_t sent, acked, lost, marked; /* cumulative bytes at the start of the current interval */
    uint64_t marks; /* bytes acknowledged with a mark so far */
    double waited; /* the total time waited by the bytes acknowledged since then, in byte seconds */
    uint64_t last_rtt; /* the RTT of the last of them */
#ifdef CCM_MEMORY
    float memory[CCM_MEMORY]; /* of the network */
#endif
};

static inline float ccm_seconds(uint64_t ns)
{
    return (float)ns / 1e9f;
}

/* The rate before any decision, in bytes per second. */
static inline float ccm_first_rate(float packet, uint64_t rtt)
{
    return CCM_FIRST_PACKETS * packet / ccm_seconds(rtt);
}

/* Begin with no measurement except R_m. */
static inline void ccm_watch_from(struct ccm_watch *w, uint64_t rtt, uint64_t step, uint64_t packet)
{
    const float seconds = ccm_seconds(rtt);
    const struct ccm_interval nothing = {.seconds = ccm_seconds(step), .rtt = seconds, .rtt_end = seconds};

    w->known = (struct ccm_known){.now = nothing, .before = nothing, .packet = (float)packet};
    ccm_remember_first(&w->known);
}

static inline void ccm_watch_acked(struct ccm_watch *w, uint64_t rtt, uint64_t bytes)
{
    w->last_rtt = rtt;
    w->waited += (double)bytes * (double)rtt / 1e9;
}

/* Of the acknowledged bytes, so many have a mark by now, in all. */
static inline void ccm_watch_marked(struct ccm_watch *w, uint64_t bytes)
{
    w->marks = ccm_at_least(w->marks, bytes);
}

/* End an interval: return its measurements, given cumulative bytes, and begin the next one. */
static inline struct ccm_interval ccm_watched(struct ccm_watch *w, uint64_t step, uint64_t sent, uint64_t acked,
                                              uint64_t lost)
{
    const struct ccm_interval *before = &w->known.now;
    const uint64_t news = acked - w->acked;
    const struct ccm_interval measured = {
        .seconds = ccm_seconds(step),
        .sent = (float)(sent - w->sent),
        .acked = (float)news,
        .lost = (float)ccm_less(lost, w->lost),
        .rtt = news ? (float)(w->waited / (double)news) : before->rtt,
        .rtt_end = news ? ccm_seconds(w->last_rtt) : before->rtt_end,
        .out = (float)ccm_less(sent, acked + lost),
        .marked = (float)(w->marks - w->marked),
    };

    w->sent = sent;
    w->acked = acked;
    w->lost = lost;
    w->marked = w->marks;
    w->waited = 0;
    return measured;
}

/* Make these measurements the latest vector. */
static inline void ccm_observe(struct ccm_watch *w, const struct ccm_interval *measured)
{
    struct ccm_known *known = &w->known;
    float *latest = w->history + (CCM_HISTORY + CCM_DELAY - 1) * CCM_FEATURES;

    known->before = known->now;
    known->now = *measured;
    ccm_remember(known);
    memmove(w->history, w->history + CCM_FEATURES, sizeof w->history - CCM_FEATURES * sizeof *w->history);
    ccm_features(known, latest);
}

/* Return what the network reads: the observation, or the memory after it. */
static inline const float *ccm_read_by_network(struct ccm_watch *w)
{
#ifdef CCM_MEMORY
    ccm_recall(w->history, w->memory);
    return w->memory;
#else
    return w->history;
#endif
}

/* Return the network's action. */
static inline float ccm_action(struct ccm_watch *w)
{
    w->known.action = ccm_within(ccm_network(ccm_read_by_network(w)), CCM_LEAST_ACTION, CCM_MOST_ACTION);
    return w->known.action;
}

/* Begin at a given rate. In training, the first action follows an empty observation, which the memory contains. */
static inline void ccm_omit_action(struct ccm_watch *w)
{
#ifdef CCM_MEMORY
    memset(w->memory, 0, sizeof w->memory);
#endif
    (void)ccm_read_by_network(w);
}
