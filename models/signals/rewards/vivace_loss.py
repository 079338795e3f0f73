"""PCC-Vivace's reward, Custard's R_V-loss (section 4.2): throughput^0.9 - 11.35 · throughput · loss rate, in Mbit/s."""


def reward(throughput, loss_rate, mbit):
    mbits = throughput / mbit
    return mbits**0.9 - 11.35 * mbits * loss_rate
