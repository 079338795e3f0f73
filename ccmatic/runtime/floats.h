#include <math.h>

/* The number rounded down, at most 2^62 of either sign; 0 for NaN. */
static inline int64_t ccm_floored_float(float number)
{
    const float most = 4611686018427387904.0f;

    if (isnan(number))
        return 0;
    return (int64_t)floorf(fmaxf(-most, fminf(most, number)));
}
