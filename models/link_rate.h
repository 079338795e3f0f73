/* Beliefs about the link rate and the queueing delay: the integer counterpart of models/link_rate.py. */

/* Step k, from k to k+1, kept the link busy: more than D of delay, or a loss; and always something to send. */
static inline bool link_rate_utilised(const struct ccm_window *w, unsigned k)
{
    const unsigned from = ccm_index(k), to = ccm_index(k + 1);

    return !w->limited[to] && (w->last_delay[to] > CCM_D || w->timely[to] > w->timely[from]);
}

/* Eq. 5.2: at most C·(T + D) bytes arrive in T steps. */
static inline uint64_t link_rate_most_served(const struct ccm_window *w, unsigned t, bool up)
{
    uint64_t most = 0;

    for (unsigned steps = 1; steps < CCM_STEPS && steps <= t; steps++) {
        const uint64_t served = w->acked[t] - w->acked[ccm_index(t - steps)], over = steps + CCM_D;

        most = ccm_at_least(most, up ? ccm_up(served, over) : ccm_down(served, over));
    }
    return ccm_at_most(CCM_MOST, most);
}

/* Eq. 5.2: at least C·(T - D) bytes arrive in T steps of a busy link. */
static inline uint64_t link_rate_least_served(const struct ccm_window *w, unsigned t)
{
    uint64_t least = CCM_MOST;

    for (unsigned steps = 1; steps < CCM_STEPS && steps <= t && link_rate_utilised(w, t - steps); steps++)
        if (steps > CCM_D)
            least = ccm_at_most(least, ccm_up(w->acked[t] - w->acked[ccm_index(t - steps)], steps - CCM_D));
    return least;
}

/* Eq. 5.1. */
static inline void link_rate_delay(const struct ccm_window *w, unsigned t, struct ccm_beliefs *b)
{
    const uint64_t delay = ccm_at_most(w->last_delay[t], CCM_STEPS);

    b->qdel_L = delay > CCM_D ? delay - CCM_D : 0;
    b->qdel_U = ccm_at_most(CCM_LARGEST, w->last_delay[t] + 1);
}

static inline void link_rate_start(const struct ccm_window *w, struct ccm_beliefs *b)
{
    b->C_L = w->packet;
    b->C_U = CCM_MOST;
    link_rate_delay(w, 0, b);
}

static inline void link_rate_move(struct ccm_window *w, unsigned t)
{
    const struct ccm_beliefs *before = &w->beliefs[t - 1];
    struct ccm_beliefs *b = &w->beliefs[t];

    b->C_L = ccm_at_least(before->C_L, link_rate_most_served(w, t, false));
    b->C_U = ccm_at_most(before->C_U, link_rate_least_served(w, t));
    link_rate_delay(w, t, b);
}

/* The periodic timeout at a window's end (docs/encoding.md, section 6): `after` is what the next one begins with. */
static inline void link_rate_time_out(const struct ccm_window *w, struct ccm_beliefs *after)
{
    const struct ccm_beliefs *first = &w->beliefs[0], *last = &w->beliefs[CCM_STEPS - 1];
    const uint64_t low = last->C_L, high = last->C_U;
    const bool far = high > 2 * low, crossed = high < low;
    const bool raised = low > first->C_L, lowered = high < first->C_U;
    const bool much_raised = 10 * low > 11 * first->C_L, much_lowered = 11 * high < 10 * first->C_U;
    uint64_t least_high = low;

    if (!raised && !far && ((lowered && crossed) || !much_lowered)) {
        after->C_L = ccm_at_least(w->packet, link_rate_most_served(w, CCM_STEPS - 1, false));
        least_high = ccm_at_least(w->packet, link_rate_most_served(w, CCM_STEPS - 1, true));
    }
    if (!lowered && !far && ((raised && crossed) || !much_raised)) {
        const uint64_t grown = ccm_up(3 * w->beliefs[CCM_STEPS - 2].C_U, 2);

        after->C_U = ccm_at_most(CCM_MOST, ccm_at_least(least_high, grown));
    }
}

/* Steps are now `to` ns long, where they were `from`. */
static inline void link_rate_rescale(const struct ccm_window *w, struct ccm_beliefs *b, uint64_t to, uint64_t from)
{
    b->C_L = ccm_at_least(w->packet, ccm_scaled(b->C_L, to, from, false));
    if (b->C_U < CCM_MOST)
        b->C_U = ccm_at_most(CCM_MOST, ccm_scaled(b->C_U, to, from, true));
    link_rate_delay(w, 0, b);
}
