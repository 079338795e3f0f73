"""g7_nested_5: found by ccmatic 0.1.0 for the query g7_nested.

Query: model ccac; horizon 9; buffer any; jitter 1; delay published; property name
synthesis_invariant, utilisation 1/2, inflight_rates 4, inflight_packets 3, loss_steps 1/2,
loss_rates 1, large_loss 1, constrain_loss large-buffer, large_buffer 5.
"""


def rate(C_L, C_U, MSS, R_m, qdel_L):
    if 3/2 * C_L > C_U:
        if R_m > qdel_L:
            return C_L
        return -MSS / R_m
    elif C_U > 2 * C_L:
        return 2 * C_L
    return C_L
