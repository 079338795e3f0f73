"""g5_any_3: found by ccmatic 0.1.0 for the query g5_any.

Query: model ideal; horizon 3; buffer any; jitter 0; delay published; property name
synthesis_invariant, utilisation 1/2, inflight_rates 4, inflight_packets 3, loss_steps 1/2,
loss_rates 1, large_loss 1, constrain_loss always, large_buffer 5.
"""


def rate(C_L, C_U, MSS, R_m):
    if C_U > C_L:
        return C_L + MSS / R_m
    return 1/2 * C_L
