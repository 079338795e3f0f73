"""Windows of long runs against what shipped proofs guarantee: no lemma that holds is false of one."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from ccmatic.answers.verification.replayer import sender_laws
from ccmatic.contracts import RecordingDict, load_definition
from ccmatic.logic import every
from ccmatic.networks.traces import Trace
from ccmatic.proving.prover import windows_of
from ccmatic.proving.result import load_result

from .runs import NETWORKS, Network, Run
from .writing import Written

PROOFS = Path(__file__).parents[2] / "results" / "proofs"

#: By the name of a proof's file: the network of its executions, the buffers of which one is drawn, and MSS at most.
SHIPPED = {
    "cc_qdel_T10": (NETWORKS["ccac"], ("6", "7", "9"), "1/10"),
    "cc_probe_slow_T10": (NETWORKS["cbr_delay"], ("1", "2", "6", "1/2"), "1/10"),
    "ideal_link-g5_any_3_T8": (NETWORKS["ideal"], ("1", "1/2", "3"), "1/10"),
    "aimd_any_start_T10": (Network("ccac2021_anywhere", "ccac"), ("1",), "1/20"),
    "window_kept-aimd_any_start_T8": (Network("ccac2021_anywhere", "ccac"), ("1",), "1/20"),
}


@lru_cache
def proved(name):
    """The Result of a shipped proof, its query and the lemmas that hold, as (name, Lemma)."""
    result = load_result(PROOFS / f"{name}.json")
    proof = load_definition("proofs", "PROOF", result.proof)
    query = windows_of(result.proof, proof, result.horizon)
    lemmas = proof.about(result.controller.state).all_lemmas(query.model)
    holds = [(each.name, each) for each in lemmas if result.answers[each.name].verdict == "holds"]
    return result, query, holds


def against(name, runs, seed=0):
    """Check the windows of many runs against a proof.

    Returns a Counter: "premises" counts true premises whose lemma holds, "left out" counts excluded windows, and each
    fault is a pair (window, broken lemma).
    """
    result, query, lemmas = proved(name)
    network, buffers, packet = SHIPPED[name]
    found, faults = Counter(), []
    written = [Written(result.controller.source)]
    for number in range(runs):
        given = {"buffer": Fraction(buffers[number % len(buffers)]), "packet": Fraction(packet), "D": query.jitter}
        steps = 8 * result.horizon
        run = Run(network, seed + number, steps, result.horizon, written, deployed=not network.windows, **given)
        begins = run.begins_at() if not network.windows else list(run.begins_at())[:: result.horizon // 3]
        for begin in begins:
            window = run.window(begin)
            found["windows"] += 1
            broken, false, premises = _judged(window, query, result, lemmas)
            found["premises"] += premises
            if broken and query.model.windows and _published_timer_fires(window.columns):
                found["left out"] += 1
            elif broken or false:
                faults.append((window, [*broken, *false]))
    return found, faults


def _published_timer_fires(columns):
    """Return whether the published timer fires when it should not: whenever nothing waits after any earlier loss.

    No timer of a real execution does this (docs/reference/stateful.md, what is odd in the published tool).
    """
    A, S, L = (columns[name] for name in "ASL")
    return any(S[t] == A[t] - L[t] and S[t] < A[t] for t in range(len(A)))


def _judged(window, query, result, lemmas):
    wanted = {*query.units(), *(f"{name}_untimed" for name in query.units())} if not query.model.windows else set()
    measured = () if query.model.windows and "Q" not in query.model.measures else ("Q",)
    drop = {"found", *(() if measured else ("Q",))} if query.model.windows else set()
    columns = {name: tuple(map(Fraction, column)) for name, column in window.columns.items() if name not in drop}
    constants = {
        k: v for k, v in window.constants.items() if k in ("C", "R_m", "D", "MSS", "beta", *query.model.constants)
    }
    trace = Trace(window.horizon, constants, columns, query.record(), result.controller.source)
    beliefs = wanted & columns.keys() & set(query.units())
    x = query.observed(trace, beliefs, result.controller.state)
    laws = [*query.laws(x), *query.model.belief_laws(x, beliefs), *sender_laws(x, result.controller)]
    broken = [str(law) for law in laws if law.formula is not True]
    false, premises = [], 0
    if not broken:
        constants = RecordingDict(result.values)
        for name, lemma in lemmas:
            if every(lemma.given(x, constants)) is True:
                premises += 1
                if lemma.then(x, constants) is not True:
                    false.append(f"lemma '{name}'")
    return broken, false, premises
