/* Draw numbers from a seed: SplitMix64 (Steele, Lea, Flood, 2014). */
#ifndef CCM_DRAW_H
#define CCM_DRAW_H

#include <stdint.h>

/* Return a number from 0 to `bound` - 1, and move the seed on. */
static inline uint64_t draw_below(uint64_t *seed, uint64_t bound)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned __int128)(z ^ (z >> 31)) * bound >> 64;
}

#endif
