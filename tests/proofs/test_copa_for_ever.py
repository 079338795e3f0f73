"""Copa at any step of its life: its windows include those of Copa, and its proof is checked."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from ccmatic.models.ccac2021 import DelayMeasurement

import ccmatic as cm
from ccmatic.answers.verification import Judge
from ccmatic.logic import isolated
from ccmatic.proving import load_result
from ccmatic.proving.findings import ACCEPTED
from ccmatic.proving.prover import Prover
from ccmatic.questions.query import Network, Query
from support import ROOT

PROOF = ROOT / "results" / "proofs" / "copa_any_start_T14.json"
HORIZON = 7
ANYWHERE = Query(Network("ccac2021_anywhere_non_composing", "infinite", HORIZON - 2), "avoids", what="S[0] < S[0]")


@cache
@isolated
def executions():
    """Executions of published Copa from its first step: little service, a small window, a standing queue, a delay."""
    found = []
    for what in ("S[T-1] < T / 2", "c_f[0][4] > c_f[0][1] + alpha"):
        query = Query(Network("ccac2021_non_composing", "infinite", HORIZON), "avoids", what=what)
        found.append(Judge(query).judge(query.controller("copa")).trace)
    return found


def delay_in(horizon, delay, before):
    """Return what a trace of `horizon` steps has for a delay in a longer one, of `before` steps.

    Its number of steps, T, says that the delay is not known. A known delay of T steps or more is one more.
    """
    return horizon if delay == before else delay + (delay >= horizon)


def is_window(trace, begin, model=ANYWHERE.model):
    """Whether steps of a trace from one on are an execution of Copa anywhere."""
    columns = {name: column[begin:][: ANYWHERE.horizon] for name, column in trace.columns.items()}
    columns["Q"] = [delay_in(ANYWHERE.horizon, delay, trace.horizon) for delay in columns["Q"]]
    constants = {**trace.constants, "tokens_at_first": Fraction(begin)}
    sender = ANYWHERE.controller("copa_any_start")
    window = replace(trace, horizon=ANYWHERE.horizon, columns=columns, constants=constants)
    x = ANYWHERE.observed(window, (), sender.state)
    laws = [law.formula for law in model.laws(x)]
    return all([*laws, *(formula for _, _, formula in sender.laws(x.flows[0]))])


@pytest.mark.parametrize("begin", range(3))
def test_every_window_of_copa_is_one_of_copa_begun_anywhere(begin):
    assert len(executions()) == 2 and all(is_window(trace, begin) for trace in executions())


def test_a_window_that_copa_would_not_do_is_none():
    trace, *_ = executions()
    window = [value + (t > 3) for t, value in enumerate(trace.columns["window"])]
    columns = {**trace.columns, "window": window, "cwnd": window, "r": window}
    assert not is_window(replace(trace, columns=columns), 0)


def test_published_delays_are_not_those_of_any_window():
    """What waits at first has none there; in an execution that goes on it may have one."""
    published = replace(ANYWHERE.model, delay=DelayMeasurement.PUBLISHED)
    assert not all(is_window(trace, begin, published) for trace in executions() for begin in range(1, 3))


@isolated
def faults(proof, controller="copa_any_start"):
    prover = Prover(str(proof), controller, 6)
    return prover.faults({constant.name: constant.high for constant in prover.proof.constants})


def changed(folder, **parts):
    file = folder / "proof.py"
    begin = "from dataclasses import replace\nfrom ccmatic.proofs.copa_any_start import ANY, PROOF, State\n"
    file.write_text(f"{begin}PROOF = replace(PROOF, {', '.join(f'{name}={text}' for name, text in parts.items())})\n")
    return file


def test_its_windows_join_where_they_have_two_steps_in_common(tmp_path):
    assert faults("copa_any_start") == []
    (told,) = faults(changed(tmp_path, common=1, states="(ANY,)"))
    assert told == "copa_any_start decides from step 2 of a window on, and windows have only one step in common"


def test_a_delay_that_is_not_known_has_to_allow_what_any_does():
    """Else windows would leave out what is done of one that waited for longer than they know."""
    text = (ROOT / "examples" / "controllers" / "copa_any_start.py").read_text()
    less = text.replace("not window * least > MSS * (R_m + least)", "window * least <= MSS * (R_m + least)")
    (told,) = faults("copa_any_start", less)
    assert "at a delay that it does not know" in told


def test_a_condition_on_more_steps_than_are_in_common_is_told(tmp_path):
    late = 'State("late", "", lambda x, t, c: x.cwnd[t + 1] > x.cwnd[0])'
    (fault,) = faults(changed(tmp_path, states=f"({late}, ANY)"))
    assert fault.startswith("'late' is not the same at a window's end and at the next one's start")


def test_the_bounds_that_copa_keeps_for_ever():
    values = load_result(PROOF).values
    assert [values[name] for name in ("least", "most", "inflight", "utilisation")] == [1, 1, 1, Fraction(19, 40)]


@pytest.mark.slow
def test_what_copa_keeps_for_ever_is_checked_anew():
    assert cm.check(PROOF).verdict == ACCEPTED
