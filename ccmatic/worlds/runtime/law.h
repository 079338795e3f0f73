/* Numbers for laws that are not linear, in integer arithmetic: a sign, 32 bits and a power of two, in one word. The
 * 32 bits are 2^31 or more. The power is the lowest 16 bits, minus 2^15. The word 0 is the number 0. An operation
 * rounds off less than a 2^31st of its result; a sum also less than a 2^61st of its larger term. Powers end at 2^15. */
static inline uint64_t ccm_size(uint64_t a)
{
    return a >> 16 & UINT64_C(0xffffffff);
}

static inline int64_t ccm_power(uint64_t a)
{
    return (int64_t)(a & 0xffff) - (1 << 15);
}

static inline uint64_t ccm_negated(uint64_t a)
{
    return a ? a ^ UINT64_C(1) << 63 : 0;
}

/* size · 2^power, with the sign in the highest bit of another word. */
CCM_GLOBAL uint64_t ccm_number(uint64_t sign, uint64_t size, int64_t power)
{
    if (!size)
        return 0;
    for (int shift = 32; shift; shift >>= 1)
        if (!(size >> (64 - shift))) {
            size <<= shift;
            power -= shift;
        }
    power += 32;
    if (power < -(1 << 15))
        return 0;
    if (power >= 1 << 15)
        return (sign & UINT64_C(1) << 63) | UINT64_C(0xffffffffffff);
    return (sign & UINT64_C(1) << 63) | size >> 32 << 16 | (uint64_t)(power + (1 << 15));
}

CCM_GLOBAL uint64_t ccm_times(uint64_t a, uint64_t b)
{
    return ccm_number(a ^ b, ccm_size(a) * ccm_size(b), ccm_power(a) + ccm_power(b));
}

/* The quotient. Division by 0 gives the largest number, with the sign of a; 0 by 0 is 0. */
CCM_GLOBAL uint64_t ccm_over(uint64_t a, uint64_t b)
{
    if (!b)
        return ccm_number(a, a ? 1 : 0, 1 << 16);
    return ccm_number(a ^ b, (ccm_size(a) << 32) / ccm_size(b), ccm_power(a) - ccm_power(b) - 32);
}

CCM_GLOBAL uint64_t ccm_plus(uint64_t a, uint64_t b)
{
    const bool first = a && (!b || ccm_power(a) >= ccm_power(b));
    const uint64_t larger = first ? a : b, smaller = first ? b : a;
    const int64_t apart = smaller ? ccm_power(larger) - ccm_power(smaller) : 0;
    const uint64_t most = ccm_size(larger) << 30, least = apart < 63 ? ccm_size(smaller) << 30 >> apart : 0;

    if (!((a ^ b) >> 63) || !a || !b)
        return ccm_number(larger, most + least, ccm_power(larger) - 30);
    if (most >= least)
        return ccm_number(larger, most - least, ccm_power(larger) - 30);
    return ccm_number(smaller, least - most, ccm_power(larger) - 30);
}

/* amount / over; over > 0. */
CCM_GLOBAL uint64_t ccm_of(int64_t amount, uint64_t over)
{
    const uint64_t sign = amount < 0 ? UINT64_C(1) << 63 : 0, size = amount < 0 ? -(uint64_t)amount : (uint64_t)amount;
    const uint64_t whole = ccm_number(sign, size, 0);

    return over == 1 ? whole : ccm_over(whole, ccm_number(0, over, 0));
}

/* The root with one more bit if its cube is then at most this; else the root. */
CCM_GLOBAL uint64_t ccm_with_bit(uint64_t root, uint64_t bit, uint64_t cube)
{
    const uint64_t next = root | bit;

    return next * next * next <= cube ? next : root;
}

/* The cube root: first that of 62 bits, rounded down, with an error below a 2^19th; then a step of Newton's method,
 * which squares the error. BPF cannot divide signed numbers. */
CCM_GLOBAL uint64_t ccm_cube_root(uint64_t a)
{
    const int64_t third = (int64_t)((uint64_t)(ccm_power(a) + 2 + (3 << 16)) / 3) - (1 << 16) - 10;
    const uint64_t cube = ccm_size(a) << (ccm_power(a) - 3 * third);
    uint64_t root = 0;

    if (!a)
        return 0;
    for (uint64_t bit = 1 << 20; bit; bit >>= 1)
        root = ccm_with_bit(root, bit, cube);
    const uint64_t near = ccm_number(a, root, third), square = ccm_times(near, near);

    return ccm_over(ccm_plus(ccm_plus(near, near), ccm_over(a, square)), ccm_number(0, 3, 0));
}

CCM_GLOBAL uint64_t ccm_larger(uint64_t a, uint64_t b)
{
    return ccm_plus(a, ccm_negated(b)) >> 63 ? b : a;
}

CCM_GLOBAL uint64_t ccm_smaller(uint64_t a, uint64_t b)
{
    return ccm_plus(a, ccm_negated(b)) >> 63 ? a : b;
}

/* The number rounded down, at most CCM_LARGEST of either sign. */
CCM_GLOBAL int64_t ccm_whole(uint64_t a)
{
    const int64_t power = ccm_power(a);
    uint64_t size = ccm_size(a);
    bool rest = false;

    if (!a)
        return 0;
    if (power > 18)
        size = (uint64_t)CCM_LARGEST;
    else if (power >= 0)
        size <<= power;
    else if (power > -32) {
        rest = size << (64 + power);
        size >>= -power;
    } else {
        rest = true;
        size = 0;
    }
    return a >> 63 ? -(int64_t)(size + rest) : (int64_t)size;
}
