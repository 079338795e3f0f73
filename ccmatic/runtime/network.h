/* y = W x + b, of `inputs` rows of `outputs` weights; and the hyperbolic tangent of that. All outputs grow at once, which
 * compilers do with vectors. */
static inline void ccm_layer(const float *x, float *y, const float *weights, const float *bias, unsigned inputs,
                             unsigned outputs, bool tanh)
{
    for (unsigned i = 0; i < outputs; i++)
        y[i] = bias[i];
    for (unsigned j = 0; j < inputs; j++)
        for (unsigned i = 0; i < outputs; i++)
            y[i] += weights[j * outputs + i] * x[j];
    for (unsigned i = 0; tanh && i < outputs; i++)
        y[i] = tanhf(y[i]);
}
