/* The rate at which a sender saw no congestion, and what may queue: the integer counterpart of models/cbr_delay.py. */

/* T* + D + 1: over so many steps' worth of the link a step of that rate spreads. */
#define CBR_DELAY_OVER (1 + CCM_D + 1)

/* In step k the sender saw neither a loss nor a delay that jitter cannot explain. */
static inline bool cbr_delay_quiet(const struct ccm_window *w, unsigned k)
{
    const unsigned from = ccm_index(k), to = ccm_index(k + 1);

    return !(w->first_delay[to] >= CCM_D + 2 && w->acked[to] > w->acked[from]) && w->lost[to] == w->lost[from];
}

static inline uint64_t cbr_delay_unacknowledged(const struct ccm_window *w, unsigned t)
{
    return ccm_at_most(CCM_LARGEST, ccm_less(w->sent[t], w->lost[t] + w->acked[t]));
}

/* Eq. 6.2 over intervals of T* = R_m. */
static inline uint64_t cbr_delay_sent_without_congestion(const struct ccm_window *w, unsigned t)
{
    uint64_t most = 0;

    for (unsigned back = 0; back < CCM_STEPS && back < t && cbr_delay_quiet(w, t - back - 1); back++) {
        const unsigned from = ccm_index(t - back - 1), to = ccm_index(t - back);

        if (w->sent[to] <= w->lost[t] + w->acked[t] && !w->doubtful[t])
            most = ccm_at_least(most, ccm_down(w->sent[to] - w->sent[from], CBR_DELAY_OVER));
    }
    return ccm_at_most(CCM_MOST, most);
}

static inline void cbr_delay_start(const struct ccm_window *w, struct ccm_beliefs *b)
{
    b->C_Llambda = w->packet;
    b->q_U = cbr_delay_unacknowledged(w, 0);
}

/* Section 6.2.1: bytes already queued, and those sent, less those that the slowest link serves; but of what is sent in
 * a step in which the sender is limited, all may come at its end. */
static inline void cbr_delay_move(struct ccm_window *w, unsigned t)
{
    const struct ccm_beliefs *before = &w->beliefs[t - 1];
    struct ccm_beliefs *b = &w->beliefs[t];
    const uint64_t sent = w->sent[t] - w->sent[t - 1], least = w->limited[t] ? sent : 0;
    const uint64_t grown = before->q_U + sent;
    uint64_t queued;

    b->C_Llambda = ccm_at_least(before->C_Llambda, cbr_delay_sent_without_congestion(w, t));
    queued = ccm_at_least(least, ccm_less(grown, b->C_Llambda));
    b->q_U = ccm_at_most(cbr_delay_unacknowledged(w, t), queued);
}

/* A delay measured at t that no link explains on which C_Llambda and q_U are true. */
static inline bool cbr_delay_too_long(const struct ccm_window *w, unsigned t)
{
    if (w->acked[t] == w->acked[t - 1])
        return false;
    for (unsigned d = CCM_D + 2; d < CCM_STEPS && d <= t; d++)
        if (w->first_delay[t] >= d && w->beliefs[ccm_index(t - d)].q_U <= (d - 1 - CCM_D) * w->beliefs[t].C_Llambda)
            return true;
    return false;
}

/* As many losses at t as no such link has. */
static inline bool cbr_delay_too_many_lost(const struct ccm_window *w, unsigned t)
{
    const uint64_t lost = w->excess[t] - w->excess[t - 1];

    return t >= 2 && lost > 0 && !w->limited[t - 1] &&
           lost + CBR_DELAY_OVER * w->beliefs[t].C_Llambda >
               w->beliefs[t - 2].q_U + w->sent[t - 1] - w->sent[t - 2];
}

static inline void cbr_delay_time_out(const struct ccm_window *w, struct ccm_beliefs *after)
{
    bool refuted = false;

    for (unsigned t = 1; t < CCM_STEPS; t++)
        refuted = refuted || cbr_delay_too_long(w, t) || cbr_delay_too_many_lost(w, t);
    if (refuted) {
        after->C_Llambda = ccm_at_least(w->packet, ccm_down(w->beliefs[CCM_STEPS - 1].C_Llambda, 2));
        after->q_U = cbr_delay_unacknowledged(w, CCM_STEPS - 1);
    }
}

/* Steps are now `to` ns long, where they were `from`, and longer; q_U is in bytes. */
static inline void cbr_delay_rescale(const struct ccm_window *w, struct ccm_beliefs *b, uint64_t to, uint64_t from)
{
    b->C_Llambda = ccm_at_least(w->packet, ccm_scaled(b->C_Llambda, to, from, false));
}
