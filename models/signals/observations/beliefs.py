"""The beliefs of ccmatic's models (docs/encoding.md, section 6), without a scale.

Sending rate over C_L, and C_U over C_L, as logarithms from -10 to 10; qdel_L in intervals; q_U in intervals at C_L, at
most 10.
"""


def observe(sent, seconds, C_L, C_U, qdel_L, q_U, byte):
    return [
        min(max(log(max(sent, byte) / (C_L * seconds)), -10), 10),
        min(max(log(C_U / C_L), -10), 10),
        qdel_L / seconds,
        min(q_U / (C_L * seconds), 10),
    ]
