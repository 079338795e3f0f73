/* What came in one step: the integer counterpart of one_step.py. */
static inline void one_step_start(const struct ccm_window *w, struct ccm_beliefs *b)
{
    b->C_S = w->packet;
}

static inline void one_step_move(struct ccm_window *w, unsigned t)
{
    const uint64_t served = ccm_down(w->acked[t] - w->acked[t - 1], 1 + CCM_D);

    w->beliefs[t].C_S = ccm_at_most(CCM_MOST, ccm_at_least(w->beliefs[t - 1].C_S, served));
}

static inline void one_step_time_out(const struct ccm_window *w, struct ccm_beliefs *after)
{
    (void)w, (void)after;
}

/* Steps are now `to` ns long, where they were `from`. */
static inline void one_step_rescale(const struct ccm_window *w, struct ccm_beliefs *b, uint64_t to, uint64_t from)
{
    b->C_S = ccm_at_least(w->packet, ccm_scaled(b->C_S, to, from, false));
}
