/* y = W x + b, of `outputs` rows of `inputs` weights; and the hyperbolic tangent of that. */
static inline void ccm_layer(const float *x, float *y, const float *weights, const float *bias, unsigned inputs,
                             unsigned outputs, bool tanh)
{
    for (unsigned i = 0; i < outputs; i++) {
        float sum = bias[i];
        for (unsigned j = 0; j < inputs; j++)
            sum += weights[i * inputs + j] * x[j];
        y[i] = tanh ? tanhf(sum) : sum;
    }
}
