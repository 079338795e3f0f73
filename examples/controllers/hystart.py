"""HyStart++: slow start that slows down when the smallest RTT of a round rises by an eighth, then Reno's increase.

RFC 9406, simplified. One sample gives the smallest RTT of a round (the RFC has N_RTT_SAMPLE = 8). A rise by an eighth
counts however short it is (the RFC has 4 to 16 ms). A round ends when all bytes sent before its start are acknowledged
or lost. An RTT is R_m and `delay`, so steps of R_m show only rises by whole R_m. Steps of R_m/8 show a rise by an
eighth (`--model ccac_windows:R=8`).
"""

GROWTH = 4  # CSS_GROWTH_DIVISOR
ROUNDS = 5  # CSS_ROUNDS

window: bytes = above(0)
counted: bytes = 0  # acknowledgements up to here have already increased the window
avoiding: condition = anything()  # in congestion avoidance, after slow start
careful: condition = anything()  # in conservative slow start, CSS
rounds: number = between(0, ROUNDS)  # rounds of CSS so far
round_end: bytes = 0  # the bytes sent before the round began
least: time = between(0, 8 * R_m)  # smallest delay in this round
before: time = between(0, 8 * R_m)  # smallest delay in the previous round
baseline: time = between(0, 8 * R_m)  # smallest delay when CSS began


def update(
    window,
    counted,
    avoiding,
    careful,
    rounds,
    round_end,
    least,
    before,
    baseline,
    acked,
    lost,
    sent,
    timeout,
    app_limited,
    delay,
    measured,
    MSS,
    R_m,
    step,
):
    slow = not avoiding
    loss = lost > lost[step]
    grown = 0 if app_limited else acked - counted
    counted = acked
    increase = (grown / GROWTH if careful else grown) if slow else 0 if app_limited else MSS * step / R_m
    window = MSS if timeout else max(2 * MSS, window / 2) if loss else window + increase
    round_is_over = measured and acked + lost >= round_end
    if round_is_over:
        round_end = sent
        before = least
        least = delay
    elif measured:
        least = min(least, delay)
    slows = slow and not careful and least >= before + (R_m + before) / 8
    resumes = careful and least < baseline
    over = careful and rounds >= ROUNDS
    rounds = 0 if slows else rounds + 1 if round_is_over else rounds
    avoiding = avoiding or timeout or loss or (over and not resumes)
    if slows:
        baseline = least
    careful = slows or careful and not resumes


def send(window):
    return window
