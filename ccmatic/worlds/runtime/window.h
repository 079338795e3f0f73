/* Lower bounds are rounded down and upper bounds up, so that rounding never makes a true belief false. Beliefs are
 * in bytes, bytes per step and steps. Upper bounds on a rate are at most CCM_MOST, because no claim covers faster
 * links. */

/* A sender's observations at the end of each step of a window. Bytes are cumulative. */
struct ccm_window {
    uint64_t sent[CCM_STEPS], acked[CCM_STEPS], lost[CCM_STEPS];
    uint64_t timely[CCM_STEPS]; /* lost bytes that show that the link was busy: see ccm_lost */
    uint64_t excess[CCM_STEPS]; /* lost bytes that show by how much the arrivals of a step exceeded the room */
    bool limited[CCM_STEPS]; /* the sender sent less than its rate in the step that ends here: see ccm_limited */
    bool doubtful[CCM_STEPS]; /* whether bytes had been given up that were neither acknowledged nor counted as lost */
    /* The delay, in whole steps, of the last and of the first byte acknowledged in the last step with any. */
    uint64_t last_delay[CCM_STEPS], first_delay[CCM_STEPS];
    struct ccm_beliefs beliefs[CCM_STEPS];
    uint64_t packet; /* MSS */
};

/* The amount, at least 0: the counts of others may disagree for a while. */
static inline uint64_t ccm_amount(int64_t amount)
{
    return amount > 0 ? (uint64_t)amount : 0;
}

/* An index into a window that is computed from others. The BPF verifier accepts an index only after a comparison
 * with the bounds, so the compiler must not know that the index is always within them. */
static inline unsigned ccm_index(unsigned i)
{
#ifdef CCM_KERNEL
    __asm__ volatile("" : "+r"(i));
#endif
    return i < CCM_STEPS ? i : 0;
}

/* The same for an index that is always within the window. Only the verifier requires the comparison. */
#ifdef CCM_KERNEL
#define ccm_place(i) ccm_index(i)
#else
#define ccm_place(i) (i)
#endif
