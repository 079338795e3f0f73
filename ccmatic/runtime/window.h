/* Lower bounds are rounded down and upper bounds up, so that rounding never makes a true belief false. Beliefs are in
 * bytes, bytes per step and steps; upper bounds on a rate stay at CCM_MOST, beyond which no link is claimed. */

/* What a sender has seen of a window: at the end of each of its steps, bytes are cumulative. */
struct ccm_window {
    uint64_t sent[CCM_STEPS], acked[CCM_STEPS], lost[CCM_STEPS];
    uint64_t timely[CCM_STEPS]; /* of those lost, what tells that the link was busy: see ccm_lost */
    uint64_t excess[CCM_STEPS]; /* and what tells by how much more was sent in a step than fits */
    bool limited[CCM_STEPS]; /* in the step that ends here the sender sent less than its rate: see ccm_limited */
    bool doubtful[CCM_STEPS]; /* bytes had been given up that were neither acknowledged nor counted as lost */
    /* The delay, in whole steps, of the last and of the first byte acknowledged in the last step that had any. */
    uint64_t last_delay[CCM_STEPS], first_delay[CCM_STEPS];
    struct ccm_beliefs beliefs[CCM_STEPS];
    uint64_t packet; /* MSS */
};

/* A number that is at least 0: what others count may disagree for a while. */
static inline uint64_t ccm_amount(int64_t amount)
{
    return amount > 0 ? (uint64_t)amount : 0;
}

/* An index into a window that is computed from others. The BPF verifier knows only that it is in bounds where it is
 * compared with them, so the compiler must not know that it always is. */
static inline unsigned ccm_index(unsigned i)
{
#ifdef CCM_KERNEL
    __asm__ volatile("" : "+r"(i));
#endif
    return i < CCM_STEPS ? i : 0;
}
