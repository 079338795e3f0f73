"""Latency gradient: the increase of the RTT in seconds per second, limited to the range from -10 to 10."""


def gradient(rtt_end, rtt_end_before, seconds):
    return min(max((rtt_end - rtt_end_before) / seconds, -10), 10)
