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

/* Lower bounds are rounded down and upper bounds up, so that rounding never makes a true belief false. Beliefs are in
 * bytes, bytes per step and steps; upper bounds on a rate stay at CCM_MOST, beyond which no link is claimed. */
static inline uint64_t ccm_down(uint64_t amount, uint64_t over)
{
    return amount / over;
}

static inline uint64_t ccm_up(uint64_t amount, uint64_t over)
{
    return (amount + over - 1) / over;
}

/* amount · times / over, rounded down or up; UINT64_MAX if that is 2^64 or more. The product may have more than 64
 * bits: it is divided by parts of 17 bits. amount < 2^51, times < 2^46, 0 < over <= 2^46. */
static inline uint64_t ccm_scaled(uint64_t amount, uint64_t times, uint64_t over, bool up)
{
    uint64_t whole = 0, rest = 0;

    for (int shift = 34; shift >= 0; shift -= 17) {
        if (whole >> 47)
            return UINT64_MAX;
        rest = (rest << 17) + (amount >> shift & 0x1ffff) * times;
        whole = (whole << 17) + rest / over;
        rest %= over;
    }
    return whole + (up && rest);
}

static inline uint64_t ccm_at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t ccm_at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* a - b, and 0 at least: what others count may disagree for a while. */
static inline uint64_t ccm_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
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
