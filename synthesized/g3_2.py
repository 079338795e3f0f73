"""g3_2: found by ccmatic 0.1.0 for the query g3.

The same class as the paper's cc_probe_drain.

Query: model ccac; horizon 11; buffer any; jitter 1; delay published; property name
synthesis_invariant, utilisation 1/2, inflight_rates 4, inflight_packets 3, loss_steps 1/2,
loss_rates 1, large_loss 1, constrain_loss never, large_buffer 5.
"""


def rate(C_L, C_U, MSS, R_m):
    if C_U + 2 * MSS / R_m > 2 * C_L:
        return 2 * C_L
    return C_L - MSS / R_m
