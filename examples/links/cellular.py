"""Write cellular.mahimahi, an artificial link trace that resembles a cellular link.

The rate changes every 40 ms and wanders between 0.5 and 20 Mbit/s. From time to time, the link is silent for a third of
a second. It delivers packets in bursts that are a few ms apart.

    python examples/links/cellular.py > examples/links/cellular.mahimahi
"""

import random

SECONDS = 6


def opportunities():
    """Yield the time of each delivery opportunity for 1500 bytes, in ms and in order."""
    choice = random.Random(1)
    mbit, silent, owed = 6.0, 0, 0.0
    for ms in range(1, 1000 * SECONDS + 1):
        if ms % 40 == 1:
            mbit = min(20.0, max(0.5, mbit * choice.uniform(0.7, 1.4)))
            if choice.random() < 0.02:
                silent = ms + 330
        if ms > silent:
            owed += mbit * 1000 / 8 / 1500
        if owed >= 1 and choice.random() < 0.4:
            yield from [ms] * int(owed)
            owed -= int(owed)


if __name__ == "__main__":
    print(*opportunities(), sep="\n")
