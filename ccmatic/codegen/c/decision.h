static inline int64_t ccm_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t ccm_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rounded down, and 0 at least. */
static inline uint64_t ccm_divided(int64_t amount, uint64_t over)
{
    return amount > 0 ? (uint64_t)amount / over : 0;
}
