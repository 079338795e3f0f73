"""The contract of `contract`, which competes by a window while losses show that the buffer is full.

After a loss, the window grows as CUBIC's does beyond its last maximum, and by half a packet per R_m. It shrinks to
7/10 with each loss. The sender returns to the contract 2048 R_m after it began to compete, or after the last loss at
a delay that a contract can keep. So losses in a short buffer keep it competing, and a long queue without a neighbour
ends. Beside CUBIC, with buffers of 2 to 60 BDP, it keeps at least 0.20 of the bytes in simulated runs of 300 s, and
leaves at least 0.17. Beside Reno it keeps as little as 0.02, and leaves as little as 0.00. In an infinite buffer the sender never competes, so proofs/contract.py holds for it as well. Chords and tangents
bound the cube. This is proved up to 8·R_m; an exported sender follows the law everywhere. A time is stored as packets,
one per R_m.
"""

C = 2 / 5

level: bytes = between(MSS, 16 * MSS)  # sent per R_m while the sender does not compete
competing: condition = False
window: bytes = above(0)
base: bytes = above(0)  # the window after the last loss
since: bytes = 0  # the time since the last loss, a packet for each R_m
elapsed: time = 0  # the time since the sender began to compete, or since the last loss at a short delay
recover: bytes = 0  # no other decrease until all bytes sent before the last one are acknowledged or lost


def update(level, competing, window, base, since, elapsed, recover, acked, sent, lost, MSS, R_m, step, second):
    if acked + lost >= sent[R_m + step]:
        level = 16 * MSS
    elif acked + lost >= sent[R_m + 3 * step]:
        level = 8 * MSS
    elif acked + lost >= sent[R_m + 5 * step]:
        level = 4 * MSS
    elif acked + lost >= sent[R_m + 7 * step]:
        level = 2 * MSS
    else:
        level = MSS
    if lost > lost[step] and acked + lost[step] >= recover:
        base = max(2 * MSS, 7 / 10 * (window if competing else sent - acked - lost))
        window = base
        since = 0
        elapsed = elapsed + step if competing and acked + lost < sent[R_m + 9 * step] else 0
        recover = sent
        competing = True
    elif competing and elapsed < 2048 * R_m:
        elapsed = elapsed + step
        since = since + MSS * step / R_m
        assume(0 <= since <= 8 * MSS)
        line = base + since / 2
        chords = max(since, 7 * since - 6 * MSS, 28 * since - 48 * MSS, 112 * since - 384 * MSS)
        tangents = max(0, 3 * since - 2 * MSS, 12 * since - 16 * MSS, 48 * since - 128 * MSS)
        window = bounded(line + C * MSS * (since / MSS * R_m / second) ** 3, line + C * tangents, line + C * chords)
    else:
        competing = False
        window = sent - acked - lost + 32 * MSS  # no limit


def send(level, competing, window, R_m):
    return window, (window if competing else level) / R_m
