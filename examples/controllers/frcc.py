"""FRCC: a sender probes how many flows share the link, and each flow keeps a queue of θ = 2·R_m.

A. Agarwal et al., "Towards Fair and Robust Congestion Control", NSDI 2026, and its kernel module, 108anup/frcc_kernel.
Time passes in slots, and 6 to 20 slots make a round. A round's smallest delay is θ·N_T, so it tells a target of N_T
flows. In a slot drawn at random, the sender adds the excess E = γ·N_T·rate·ΔR to its window. If E adds the delay e, the
link serves E/e, which is N_C times the sender's rate. Then the window grows by (R_m + θ·N_C)/(R_m + θ·N_T), but by a
factor from 10/13 to 13/10. Losses have no effect. ΔR = R_m suits a jitter of up to R_m.

Differences: the sender acts once per R_m, on one sample of the delay. It leaves out the probe of R_m, for which all
senders need a common clock. So a flow that starts on a full queue takes R_m for too long. The excess leaves the window
with three of five acknowledged bytes. Measured delays feed the generator that draws slots. Solvers know laws only by
their bounds: to them, a probe changes the window by any factor from 10/13 to 13/10.
"""

THETA = 2  # in R_m, and ΔR is 1
GAMMA = 4
SMALLEST = 4  # packets
FEWEST = 6  # slots of a round
MOST = 20

window: bytes = above(0)
excess: bytes = above(0)  # E
extra: bytes = 0  # the part of the excess that the window contains now
started: condition = anything()  # slow start is over
halved: condition = anything()  # slow start ends when all bytes up to `end` are acknowledged
probing: condition = anything()
measuring: condition = anything()  # the delays of bytes from `begin` on belong to the probe
draining: condition = anything()  # the delays of bytes up to `end` belong to the probe
begin: bytes = 0
end: bytes = 0
slot: time = between(0, 36 * R_m)  # the time since the slot began
slots: number = between(0, MOST)  # the slots of the round that are over
probed: condition = anything()  # the round has had its probe
drawn: number = between(0, MOST)  # the probe begins once more slots than this are over
luck: number = between(0, 4)  # the generator; the fraction is the draw
longest: time = between(0, 8 * R_m)  # the longest delay in the slot
lowest: time = between(0, 8 * R_m)  # the smallest delay in the slot
least: time = between(0, 8 * R_m)  # the smallest delay in the round
before: time = between(0, 8 * R_m)  # the smallest delay in the slot before the probe
added: time = between(0, 8 * R_m)  # e, the smallest delay that the probe adds


def update(
    window,
    excess,
    extra,
    started,
    halved,
    probing,
    measuring,
    draining,
    begin,
    end,
    slot,
    slots,
    probed,
    drawn,
    luck,
    longest,
    lowest,
    least,
    before,
    added,
    acked,
    lost,
    sent,
    delay,
    measured,
    MSS,
    R_m,
    step,
):
    slot = slot + step
    if measured and delay >= 0 * R_m:
        draw = luck - 3 if luck >= 3 else luck - 2 if luck >= 2 else luck - 1 if luck >= 1 else luck
        turn = R_m + longest
        over = slots + 1
        enough = over >= FEWEST and (over >= MOST or over * THETA / 2 * R_m >= least)
        if not started and not halved and longest <= (THETA + 1) * R_m:
            window = window + acked - acked[step]
            longest = max(longest, delay)
        elif not started and not halved:
            window = max(SMALLEST * MSS, window / 2)
            halved = True
            end = sent
        elif not started and acked + lost >= end:
            started = True
            probing = False
            probed = False
            drawn = bounded(min(MOST, max(0, (FEWEST - 1) * draw)), 0, MOST)
            slots = 0
            slot = 0
            longest = delay
            lowest = bounded(delay, delay - step, delay + step)
            least = bounded(delay, delay - step, delay + step)
        elif started and probing and not measuring:
            extra = excess
            added = 255 * R_m
            longest = max(longest, delay)
            if slot >= 2 * turn:
                measuring = True
                begin = sent
        elif started and probing and draining and acked + lost >= end:
            rtt = max(R_m, R_m + least)
            window = bounded(
                max(
                    SMALLEST * MSS,
                    10 / 13 * window,
                    min(
                        13 / 10 * window,
                        max(
                            (1 + THETA) * R_m * window / rtt,
                            R_m * window / rtt + THETA * R_m * excess / max(step / 64, added),
                        ),
                    ),
                ),
                max(SMALLEST * MSS, 10 / 13 * window),
                max(SMALLEST * MSS, 10 / 13 * window, 13 / 10 * window),
            )
            extra = 0
            probing = False
            slots = over
            slot = 0
            longest = delay
            lowest = bounded(delay, delay - step, delay + step)
            least = bounded(min(least, delay), min(least, delay - step), min(least, delay + step))
        elif started and probing:
            longest = max(longest, delay)
            if acked + lost >= begin:
                added = bounded(
                    min(added, delay - before), min(added, delay - step - before), min(added, delay + step - before)
                )
            if draining:
                extra = max(0, extra - 3 / 5 * (acked - acked[step]))
            elif slot >= 3 * turn:
                draining = True
                end = sent
        elif started and slot >= 4 * turn:
            if enough:
                drawn = bounded(
                    min(MOST, max(0, draw * min(MOST - 1, max(FEWEST - 1, 2 / THETA * least / R_m - 1)))), 0, MOST
                )
                probed = False
                slots = 0
                least = bounded(delay, delay - step, delay + step)
            elif over > drawn and not probed:
                probed = True
                probing = True
                measuring = False
                draining = False
                before = lowest
                excess = bounded(
                    max(MSS, min(GAMMA * window, GAMMA / THETA * window * least / max(R_m, R_m + least))),
                    MSS,
                    max(MSS, GAMMA * window),
                )
                slots = over
                least = bounded(min(least, delay), min(least, delay - step), min(least, delay + step))
            else:
                slots = over
                least = bounded(min(least, delay), min(least, delay - step), min(least, delay + step))
            slot = 0
            longest = delay
            lowest = bounded(delay, delay - step, delay + step)
        else:
            longest = max(longest, delay)
            lowest = bounded(min(lowest, delay), min(lowest, delay - step), min(lowest, delay + step))
            least = bounded(min(least, delay), min(least, delay - step), min(least, delay + step))
        luck = bounded(3 * draw + delay / (R_m + delay), 3 * draw, 3 * draw + 1)


def send(window, extra, R_m):
    return window + extra, 2 * (window + extra) / R_m
