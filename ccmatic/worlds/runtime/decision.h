static inline int64_t ccm_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t ccm_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The rate between low and high that is nearest to the wanted one. */
static inline uint64_t ccm_nearest(uint64_t wanted, uint64_t low, uint64_t high)
{
    const uint64_t least = wanted > low ? wanted : low;

    return least < high ? least : high;
}

/* The quotient rounded down, at least 0. */
static inline uint64_t ccm_divided(int64_t amount, uint64_t over)
{
    return amount > 0 ? (uint64_t)amount / over : 0;
}
