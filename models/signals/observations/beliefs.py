"""The beliefs of ccmatic's models (docs/reference/encoding.md, section 6), normalised to be independent of scale.

The numbers are: log(sending rate / C_L) and log(C_U / C_L), each limited to the range from -10 to 10; qdel_L in units
of an interval; and q_U / C_L in units of an interval, at most 10. C_L and C_U bound the link's rate, qdel_L the
queueing delay, and q_U the queue.
"""


def observe(sent, seconds, C_L, C_U, qdel_L, q_U, byte):
    return [
        min(max(log(max(sent, byte) / (C_L * seconds)), -10), 10),
        min(max(log(C_U / C_L), -10), 10),
        qdel_L / seconds,
        min(q_U / (C_L * seconds), 10),
    ]
