"""g1_t11_4: found by ccmatic 0.1.0 for the query g1_t11.

The same class as the paper's cc_qdel.

Query: model ccac; horizon 11; buffer infinite; jitter 1; delay published; property name
synthesis_invariant, utilisation 1/2, inflight_rates 4, inflight_packets 3, loss_steps 1/2,
loss_rates 1, large_loss 1, constrain_loss never, large_buffer 5.
"""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return 1/2 * C_L
    return 2 * C_L
