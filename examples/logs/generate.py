"""Write the example logs of this folder. They are generated, not recorded.

    python examples/logs/generate.py FOLDER

The sender is Reno, in rounds of R_m: it spreads a window over each round. After a round with losses or marks it halves
the window, else it adds a packet. ccmatic's emulator decides on each packet, by the code and in the whole numbers of
`ccmatic emulate`, so no machine is late. Random losses happen before the link.
"""

import random
import sys
from pathlib import Path

from ccmatic.base import definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import link as links
from ccmatic.deployment.emulation import replay

SECOND, PACKET = 10**9, 1500
HERE = Path(__file__).parent


def model(role, parameters=""):
    """Return the Model of a role, such as POLICES."""
    return load_definition("models", "MODEL", definitions.chosen("models", role) + parameters)


def send(link, seed, packets, window=10, share=0, silent=()):
    """Return (sent, delivered, marked) of the packets that Reno sends. Both instants are in ns.

    If a packet is lost, `delivered` and `marked` are None.

    Args:
        link: The Link.
        seed: The seed of the sending times and the random losses.
        packets: How many packets to send, at least.
        window: The first window in packets.
        share: The share of packets that are lost at random.
        silent: Numbers of rounds in which the application has nothing to send.
    """
    choice, sent, unlucky, step, outcome, begin = random.Random(seed), [], [], 0, [], 0
    while len(sent) < packets:
        if step not in silent:
            begin, gap = len(sent), link.rtt // window
            for k in range(window):
                sent.append(step * link.rtt + k * gap + choice.randrange(gap // 2))
                unlucky.append(choice.random() < share)
            reached = [at for at, lost in zip(sent, unlucky, strict=True) if not lost]
            decided = iter(replay.outcomes(link, reached, [PACKET] * len(reached)))
            outcome = [LOST if lost else _fate(*next(decided)) for lost in unlucky]
            congested = any(marked is not False for _, marked in outcome[begin:])
            window = max(4, window // 2) if congested else window + 1
        step += 1
    return [(at, *fate) for at, fate in zip(sent, outcome, strict=True)]


LOST = None, None


def _fate(lost, admitted, planned, marked):
    return LOST if lost else (planned, marked)


def logs():
    """Yield the name and the packets of each log."""
    cable = links.of_texts("48mbit", "20ms", "1bdp")
    batches = {"jitter": "8ms", "pattern": "aggregation", "seed": 2}
    outage, handover = ("600ms=1bit", "900ms=24mbit"), ("800ms=8mbit",)
    yield "cable", send(cable, 1, 2000, 70)
    yield "wifi", send(links.of_texts("24mbit", "40ms", "2bdp", **batches), 2, 2000, 60)
    yield "paused", send(cable, 3, 2000, 60, silent=(*range(10, 16), *range(20, 32)))
    yield "policed", send(links.of_texts("12mbit", "40ms", "1bdp", model=model("POLICES")), 4, 2000, 90)
    policed = model("POLICED", ":tokens=1/2,bucket=1")
    yield "policed_cable", send(links.of_texts("24mbit", "40ms", "1bdp", model=policed), 9, 2000, 150)
    yield "outage", send(links.of_texts("24mbit", "40ms", "4bdp", changes=outage), 5, 2000, 40)
    yield "handover", send(links.of_texts("24mbit", "40ms", "4bdp", changes=handover), 6, 2000, 60)
    marking = links.of_texts("24mbit", "40ms", "2bdp", model=model("MARKS"), threshold="1/2bdp")
    yield "marked", send(marking, 10, 2000, 90)
    yield "lossy", send(links.of_texts("24mbit", "40ms", "2bdp"), 7, 2000, 90, share=0.004)
    yield "lte", send(links.of_opportunities(HERE.parent / "links/cellular.mahimahi", "40ms"), 8, 2000)


def text(packets):
    """Return packets as CSV (docs/reference/formats.md). The column of marks is there if a packet has a mark."""
    has_marks = any(marked for *_, marked in packets)
    rows = (
        f"{_seconds(at)},{'' if end is None else _seconds(end)},{PACKET}{_mark(marked) if has_marks else ''}\n"
        for at, end, marked in packets
    )
    return f"sent,delivered,size{',marked' if has_marks else ''}\n" + "".join(rows)


def _mark(marked):
    return "," if marked is None else f",{int(marked)}"


def _seconds(ns):
    return f"{ns // SECOND}.{ns % SECOND:09d}"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, packets in logs():
        (folder / f"{name}.csv").write_text(text(packets))
