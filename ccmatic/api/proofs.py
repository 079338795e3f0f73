"""Proofs: what controllers guarantee for all time, and what that says of a path."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from ccmatic import guarantees, proving
from ccmatic.api.given import Asked, Given, asked
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.guarantees import Guarantee
from ccmatic.logic import isolated, isolated_steps
from ccmatic.proving import Attempt, Check, Listener, Proved
from ccmatic.questions import Question
from ccmatic.solving import SolverOptions


@isolated
def prove(
    controller: Given,
    proof: str,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Proved:
    """What a controller guarantees for all time: the constants of a proof, each to its edge, and each lemma's verdict.

    proof: a name in proofs/, or the path of a file that defines a PROOF. out: a folder for all that is found, where the
    same call goes on; None: nothing is written. horizon: steps of a window, T; None: the proof's own. certify: write a
    certificate for each lemma as well, in that folder. listener: is told how it goes. The timeout of `solver` is for
    each lemma. Raises InputError where no value of a constant will do, OutOfTime where that could not be told;
    Disagreement.

        cm.prove("cc_qdel", "cc_qdel", "proofs").claim
    """
    return proving.prove(proof, controller, out, horizon, certify, listener, options=solver)


def prove_by_shapes(
    controller: Given,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Attempt]:
    """What a controller guarantees for all time, by proofs that nobody wrote: each shape in proofs/ that follows the
    beliefs which it reads is tried; of one that sends by a window, begun anywhere, the shape that searches its bounds.

    Yields an Attempt for each, whose `proved` is as `prove` returns it, or whose `why` says which lemma breaks. Raises
    InputError if no shape is of what it reads. The rest is as of `prove`.
    """
    about = {"horizon": horizon, "certify": certify, "options": solver}
    return isolated_steps(proving.attempts(controller, out, listener or Listener(), **about))


def prove_expected(
    question: Question,
    out: str | Path | None = None,
    *,
    certify: bool = False,
    listener: Listener | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[tuple[Attempt, bool]]:
    """Prove by shapes that a controller meets an expectation for all time, once it has converged.

    Args:
        question: The Question of `ask`; it begins from any start.
        out: The folder for what is found, as of `prove`.
        certify: Write a certificate for each lemma.
        listener: Is told how it goes.
        solver: SolverOptions; the timeout is for each lemma.

    Returns:
        An iterator over an Attempt for each shape, and whether its constants imply the expectation. It ends with the
        first that does. If none does, nothing is known.

    Raises:
        InputError: No shape decides the expectation, or no shape is of the network or the controller.
    """
    subject, start = question.expectation.comparison.subject, question.query.record()["property"]["start"]
    if subject not in proving.DECIDED:
        raise InputError(f"no shape decides '{question.expectation}'; expected one about {', '.join(proving.DECIDED)}")
    if start != "any":
        raise InputError(f"the start is '{start}'; a proof is about all time, expected any")
    return isolated_steps(_by_networks(question, out, certify, listener or Listener(), solver))


def _by_networks(
    question: Question, out: str | Path | None, certify: bool, listener: Listener, solver: SolverOptions
) -> Generator[tuple[Attempt, bool]]:
    refused = []
    for network in proving.networks(question.query):
        try:
            tried = proving.attempts(question.controller, out, listener, network, certify=certify, options=solver)
            for attempt in tried:
                result = attempt.result
                proof = load_definition("proofs", "PROOF", result.proof)
                expects = proving.implies(question.expectation, proof, result.horizon, result.values)
                implied = attempt.verdict == "holds" and expects
                yield attempt, implied
                if implied:
                    return
        except InputError as error:
            refused.append(error)
    if len(refused) == len(proving.networks(question.query)):
        raise refused[0]


def check(
    file: str | Path,
    *,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> Check:
    """Check a proof that was saved, all of it anew. Iterate over the Check for its findings, or ask for its `verdict`:
    `accepted`, `rejected` or `unknown`.

    file: that `prove` wrote. allow_code: run the file that it names as its proof; else it may name shipped ones only.
    Raises InputError if the file cannot be read or is no proof; while it is checked, Disagreement.

        cm.check("results/proofs/cc_qdel_T10.json").verdict
    """
    result = proving.load_result(file, allow_code)
    return proving.check(result, isolated_steps, options=solver)


def guarantee(
    result: str | Path,
    *,
    rtt: str | None = None,
    jitter: str | None = None,
    rate: str | None = None,
    buffer: str | None = None,
    mss: int | None = None,
    allow_code: bool = False,
) -> Guarantee:
    """Translate a proof into what it says of a path: the share of the link, bytes, packets and milliseconds.

    `fit`, `emulate`, exported headers and policy files report the same. A deployed step is R_m + D.

    Args:
        result: A result file of `prove`, or the name of a shipped one. Its numbers are believed; `check` proves them.
        rtt: R_m, such as "40ms": the least round trip. Without it, times are in R_m.
        jitter: D, such as "40ms". Without it, D is R_m.
        rate: C, such as "24mbit". Without it, bytes are in BDP, which is C·R_m.
        buffer: The size of the buffer, such as "2bdp", "30000" (bytes) or "infinite".
        mss: Bytes in a packet.
        allow_code: Run the file that the result names as its proof. Otherwise only shipped proofs are accepted.

    Returns:
        The Guarantee: `sentence()` says it in words, and `missing` lists what the path does not meet.

    Raises:
        InputError: The file is no result, a quantity cannot be read, or the proof is about a network without jitter.

    Example:
        cm.guarantee("cc_qdel_T10", rate="24mbit", rtt="40ms", jitter="40ms").sentence()
    """
    path = guarantees.path(rtt=rtt, jitter=jitter, rate=rate, buffer=buffer, mss=mss)
    return guarantees.translate(guarantees.read_result(result, allow_code), path)


def find_front(
    query: Asked,
    out: str | Path | None = None,
    *,
    step: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    begun: Callable[[str], None] = lambda what: None,
    decided: Callable[[Any, int, int], None] = lambda point, number, of: None,
    solver: SolverOptions = SolverOptions(),
) -> Any:
    """Prove every controller of a query's classes by shapes, and find those that no other dominates.

    Args:
        query: The query, with a template.
        out: The folder for the run, proofs and figure; the same call resumes there. None: QUERY-front.
        step: Also prove the maximal envelopes around those on the front; the step is that of `widen`.
        jobs: Processes.
        cluster: The address of a Dask cluster that is used in place of processes.
        begun: Receives each stage of the work, in words, when it begins.
        decided: Receives each controller that is decided, its number, and of how many.
        solver: SolverOptions.

    Returns:
        The Front: a point for each controller, and by whom it is dominated.

    Raises:
        InputError: No shape is about the query's network.
        Disagreement: Two solvers disagree.
    """
    from ccmatic.analysis import fronts

    return fronts.find_front(asked(query), out, step, jobs, cluster, begun, decided, options=solver)


def reproduce_tradeoff(
    allowances: tuple[str, ...] = (),
    *,
    buffer_time: str = "1",
    start: str = "10",
    end: str = "1000",
    out: str | Path = "tradeoff",
) -> Iterator[Any]:
    """Reproduce the paper's trade-off between loss and convergence time, and check the steps of its proof.

    Args:
        allowances: The losses that are allowed, in packets: expressions in C. Empty: 1, log(C), sqrt(C), C/10 and C.
        buffer_time: The buffer in R_m.
        start: The rate at first, in packets per R_m.
        end: The rate of the link, in packets per R_m.
        out: The folder for figures, tables, a trace and the proof's report.

    Yields:
        Each finding: its `row` is a record, its `text` is for people, `good` says whether it is as the theorem says.

    Raises:
        InputError: An expression or a number cannot be read, or the theorem does not allow it.
    """
    from ccmatic import tradeoffs

    yield from tradeoffs.reproduce_tradeoff(allowances, buffer_time, start, end, out)
