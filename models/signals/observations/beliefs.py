"""The beliefs of ccmatic's models (docs/reference/encoding.md, section 6), normalised to be independent of scale.

The numbers are: the logarithm of sending rate / C_L and that of C_U / C_L, each limited to the range from -10 to 10;
qdel_L in units of an interval; and q_U / C_L in units of an interval, at most 10.
"""


def observe(sent, seconds, C_L, C_U, qdel_L, q_U, byte):
    return [
        min(max(log(max(sent, byte) / (C_L * seconds)), -10), 10),
        min(max(log(C_U / C_L), -10), 10),
        qdel_L / seconds,
        min(q_U / (C_L * seconds), 10),
    ]
