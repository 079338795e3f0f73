/* The BPF verifier checks a global function by itself, once, and not at each call. */
#ifdef CCM_KERNEL
#define CCM_GLOBAL __attribute__((noinline))
#define CCM_BARRIER() __asm__ volatile("" ::: "memory") /* or clang copies a whole array over the small stack */
#else
#define CCM_GLOBAL static inline
#define CCM_BARRIER() (void)0
#endif

static inline uint64_t ccm_down(uint64_t amount, uint64_t over)
{
    return amount / over;
}

static inline uint64_t ccm_up(uint64_t amount, uint64_t over)
{
    return (amount + over - 1) / over;
}

/* amount · times / over, rounded down or up; UINT64_MAX if the result is 2^64 or more. The product may have more
 * than 64 bits, so the division takes parts of 17 bits. Required: amount < 2^51, times < 2^46, 0 < over <= 2^46. */
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

/* a - b, at least 0: the counts of others may disagree for a while. */
static inline uint64_t ccm_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}
