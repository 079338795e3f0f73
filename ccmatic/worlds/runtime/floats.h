#ifndef CCM_FLOATS
#define CCM_FLOATS
#include <math.h>

/* The maximum and the minimum of IEEE 754-2019, as in NumPy, JAX and ONNX: NaN if a or b is NaN. */
static inline float ccm_maximum(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

static inline float ccm_minimum(float a, float b)
{
    return a < b || isnan(a) ? a : b;
}

/* The number rounded down, at most 2^62 of either sign; 0 for NaN. */
static inline int64_t ccm_floored_float(float number)
{
    const float most = 4611686018427387904.0f;

    if (isnan(number))
        return 0;
    return (int64_t)floorf(fmaxf(-most, fminf(most, number)));
}
#endif
