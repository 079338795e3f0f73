"""Beliefs of senders about their path.

Each module defines one family of beliefs: its program, and the conditions under which each belief is true.
"""

#: The lower and the upper bound of the link rate, and the lower bound of the time that a byte waited in a queue.
LINK_RATE, WAIT = ("C_L", "C_U"), "qdel_L"
