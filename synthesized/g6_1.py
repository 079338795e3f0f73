"""g6_1: found by ccmatic 0.1.0 for the query g6.

Query: model cbr_delay; horizon 7; buffer any; jitter 1; delay published; property name
synthesis_invariant, utilisation 3/10, inflight_rates 4, inflight_packets 3, loss_steps 1/2,
loss_rates 1, large_loss 1, constrain_loss always, large_buffer 5.
"""


def rate(C_Llambda, MSS, R_m, q_U):
    if q_U > MSS:
        return 0
    return 3 * C_Llambda + MSS / R_m
