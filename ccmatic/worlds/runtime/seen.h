/* The observations by the end of a step: cumulative bytes, `marked` those acknowledged with a mark; the whole steps since sending began, and those that the
 * last acknowledged byte waited, -1 before any acknowledgement; whether a retransmission timer fired, and whether
 * bytes were acknowledged, in the step; whether the application had nothing to send for a part of it. For laws: how
 * long that byte waited beyond R_m, in 4096ths of a step. */
struct ccm_seen {
    int64_t acked, lost, sent, admitted, time, delay, timeout, measured, app_limited, waited, marked;
};

/* The quotient rounded down, of either sign; over > 0. BPF cannot divide signed numbers. */
static inline int64_t ccm_floored(int64_t amount, uint64_t over)
{
    return amount < 0 ? -(int64_t)ccm_up(-(uint64_t)amount, over) : (int64_t)ccm_down((uint64_t)amount, over);
}

/* The number in the stored range: at most CCM_LARGEST of either sign. */
static inline int64_t ccm_kept(int64_t amount)
{
    return ccm_max(-CCM_LARGEST, ccm_min(CCM_LARGEST, amount));
}

/* A rate, in bytes per step, converted to steps of another length; rounded towards 0. */
static inline int64_t ccm_rescaled(int64_t rate, uint64_t to, uint64_t from)
{
    const uint64_t most = (uint64_t)ccm_min(CCM_LINE_RATE, ccm_max(rate, -rate));
    const int64_t scaled = (int64_t)ccm_scaled(most, to, from, false);

    return rate < 0 ? -scaled : scaled;
}
