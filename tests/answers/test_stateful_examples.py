"""Verdicts on the shipped controllers with state, beyond those of CCAC's tool."""

import pytest

import ccmatic as cm
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome
from ccmatic.base import InputError
from ccmatic.questions import query as queries
from support.sampling import each_nth

UNUSED = "S[T-1] - S[0] < {least} * C * (T-1)"
HALVED = "ANYT(2, T, lambda t: And(c_f[0][t-1] > 2 * alpha, c_f[0][t] < 1/2 * c_f[0][t-1]))"
EMPTY, NO_TIMEOUT = "L[0] == 0; alpha < 1/4", "; ALLT(0, T, lambda t: Not(timeout_f[0][t]))"

#: A controller, a buffer, a horizon; what never is, given what, with which period; and whether it never is.
ASKED = [
    ("vegas", "infinite", 6, UNUSED.format(least="1/10"), EMPTY, "1", VIOLATED),  # jitter passes for a queue
    ("vegas", "infinite", 6, "c_f[0][T-1] > c_f[0][2] + (T-3) * alpha", EMPTY, "0", HOLDS),
    ("lp", "1", 6, UNUSED.format(least="1/2"), EMPTY + NO_TIMEOUT, "1", VIOLATED),
    ("lp", "1", 6, UNUSED.format(least="1/10"), EMPTY + NO_TIMEOUT, "1", HOLDS),
    ("illinois", "1", 6, UNUSED.format(least="1/2"), EMPTY + NO_TIMEOUT, "1", VIOLATED),
    ("illinois", "1", 6, UNUSED.format(least="1/4"), EMPTY + NO_TIMEOUT, "1", HOLDS),
    ("illinois", "1", 6, "c_f[0][T-1] > c_f[0][1] + 10 * (T-2) * alpha", EMPTY, "0", HOLDS),
    ("cubic", "1", 4, UNUSED.format(least="1/10"), EMPTY + NO_TIMEOUT, "1", VIOLATED),
    (
        "cubic",
        "1",
        5,
        "ANYT(2, T, lambda t: And(Ld_f[0][t] > Ld_f[0][t-1], c_f[0][t] < 7/10 * c_f[0][t-1]))",
        EMPTY + NO_TIMEOUT,
        "0",
        HOLDS,
    ),
    ("bbr_v1", "infinite", 9, UNUSED.format(least="1/2"), EMPTY, "2", VIOLATED),
    ("bbr_v1", "infinite", 7, "And(c_f[0][T-2] > 5 * alpha, c_f[0][T-1] == 4 * alpha)", EMPTY, "0", VIOLATED),
    ("bbr_v1", "infinite", 7, "ANYT(5, T, lambda t: c_f[0][t] < 4 * alpha)", EMPTY, "0", HOLDS),
    # 108anup/ccac asks this, `rocc_high_util`: where it uses less than a tenth, its window grows.
    (
        "rocc",
        "infinite",
        10,
        "And(S[T-1] - S[4] < 1/10 * C * (T-1-4+1-D), c_f[0][T-1] <= c_f[0][4])",
        "L[0] == 0; alpha == 1/100",
        "0",
        HOLDS,
    ),
    ("hystart", "1", 5, "c_f[0][T-1] > c_f[0][1] + S[T-2] - S[0] + T * alpha", EMPTY, "0", HOLDS),
    ("hystart", "1", 5, "c_f[0][T-1] > c_f[0][1] + S[T-2] - S[0]", EMPTY, "0", VIOLATED),
    ("swift", "1", 5, HALVED, EMPTY, "0", HOLDS),
    ("swift", "1", 5, HALVED.replace("1/2", "13/20"), EMPTY, "0", VIOLATED),
    ("rocc", "infinite", 10, UNUSED.format(least="1/10"), "L[0] == 0; alpha == 1/100", "0", VIOLATED),
]


@pytest.mark.parametrize("name, buffer, horizon, what, given, periodic, verdict", each_nth(2, ASKED))
def test_what_is_verified_of_a_controller(name, buffer, horizon, what, given, periodic, verdict):
    thresholds = {"what": what, "given": given, "periodic": periodic}
    asked = queries.make("ccac2021", buffer, horizon, property="avoids", thresholds=thresholds)
    judgement = Judge(asked).judge(asked.controller(name))
    assert judgement.verdict == verdict
    assert verdict == HOLDS or judgement.report.outcome is Outcome.BREAKS


@pytest.mark.parametrize("least, verdict", each_nth(2, [("20%", HOLDS), ("30%", VIOLATED)]))
def test_swift_with_steps_that_tell_its_target(least, verdict):
    network, expected = "ccac_windows:R=4, buffer 1 bdp", f"utilisation >= {least}"
    question = cm.ask("swift", network, expected, start="converged", horizon=11)
    answer = cm.answer(question)
    assert (answer.verdict, answer.advice) == (verdict, ())


FAULTS = [
    ("cubic", "7 * away - 6 * MSS", "7 * away - 7 * MSS", "low <= law"),
    ("cubic", "12 * away - 16 * MSS", "12 * away - 15 * MSS", "low <= law"),
    ("cubic", "(cube + 30 * MSS) / 19", "(cube + 31 * MSS) / 18", "low <= law"),
    ("cubic", "d <= 8 * MSS", "d <= 9 * MSS", "law <= high"),
    ("cubic_20ms", "1953 * d + 33048 * MSS", "1953 * d + 33000 * MSS", "law <= high"),
    ("cubic_20ms", "(cube + 3456 * MSS) / 432", "(cube + 3400 * MSS) / 432", "law <= high"),
    ("contract_competing", "12 * since - 16 * MSS", "12 * since - 15 * MSS", "low <= law"),
    ("contract_competing", "since <= 8 * MSS", "since <= 9 * MSS", "law <= high"),
    ("illinois", "low = 9 / 8 if delay <= 0 * R_m", "low = 10 if delay <= 0 * R_m", "low <= law"),
    ("illinois", "4 / 7 if delay <= R_m", "9 / 8 if delay <= R_m", "low <= law"),
    ("illinois", "else 2 / 5", "else 7 / 20", "law <= high"),
]


@pytest.mark.parametrize("name, right, wrong, expected", FAULTS)
def test_a_bound_that_is_wrong_somewhere_is_refused(name, right, wrong, expected):
    asked = queries.make("ccac2021", "1", 5, property="avoids", thresholds={"what": "S[1] < 0"})
    source = asked.controller(name).source
    assert source.count(right) == 1
    with pytest.raises(InputError, match=f"expected {expected}, which fails at ") as caught:
        Judge(asked).judge(asked.read_controller(source.replace(right, wrong)))
    name, _, value = source.splitlines()[caught.value.line - 1].strip().partition(" = ")
    assert name in ("window", "K", "until_max") and value.startswith("bounded")
