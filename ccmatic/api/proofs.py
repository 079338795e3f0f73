"""Proofs: the guarantees of controllers for all time, and the meaning of a proof for a path."""

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from ccmatic import proving
from ccmatic.base import InputError, parse_json, read_text
from ccmatic.contracts import RoundProof, load_definition
from ccmatic.controllers import Given
from ccmatic.logic import isolated, isolated_steps
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving import Attempt, Check, Finding, Listener, ProofOutcome, enclosures, guarantees, invariants
from ccmatic.proving.enclosures import SavedProof
from ccmatic.proving.guarantees import Guarantee
from ccmatic.proving.invariants import Bound, Decided, Eventually, FirstSteps, Invariant, Phases
from ccmatic.questions import Question
from ccmatic.questions.query import Asked, left_out, read_query


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
) -> ProofOutcome:
    """Prove the guarantees of a controller for all time.

    The call searches for the tightest value of each constant in a proof, and decides each lemma.

    Args:
        controller: The controller.
        proof: A name in proofs/, or the path of a file that defines a PROOF.
        out: The folder for the results, from which the same call resumes. By default, no file is written.
        horizon: T, the steps of a window. By default, the proof sets T.
        certify: Whether to write a certificate for each lemma to the folder `out`.
        listener: A function that is called with the progress.
        solver: SolverOptions; the timeout is for each lemma.

    Returns:
        The ProofOutcome, with the constants and the verdict on each lemma.

    Raises:
        InputError: If no value of a constant works.
        OutOfTime: The solver timed out before a constant had a value.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.prove("cc_qdel", "cc_qdel", "proofs").claim
    """
    definition = load_definition("proofs", "PROOF", proof, allow_code=True)
    if isinstance(definition, RoundProof):
        if horizon or certify:
            raise InputError(f"the proof {proof} is about rounds; expected neither a horizon nor certificates")
        return proving.prove_rounds(proof, controller, out, listener or Listener(), solver)
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
    """Prove the guarantees of a controller for all time without a proof that was written for this controller.

    A shape is a general proof that fits many controllers. The call tries each shape in proofs/ whose lemmas cover the
    beliefs that the controller reads. For a window sender with state, the call tries the shape that searches for bounds
    on the state. This shape allows any initial state.

    Args:
        controller: The controller.
        out: As in `prove`.
        horizon: As in `prove`.
        certify: As in `prove`.
        listener: As in `prove`.
        solver: As in `prove`.

    Returns:
        An iterator over an Attempt for each shape. The field `proved` of an Attempt is the result that `prove` would
        return. If the shape gives no proof, the field `why` names a broken lemma.

    Raises:
        InputError: If no shape fits the beliefs that the controller reads.
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
    """Prove by shapes that a controller, once it has converged, meets an expectation for all time.

    Args:
        question: A Question that `ask` returned, with the start `any`.
        out: The folder for the results, as in `prove`.
        certify: Whether to write a certificate for each lemma.
        listener: A function that is called with the progress.
        solver: SolverOptions; the timeout is for each lemma.

    Returns:
        An iterator over pairs: an Attempt for each shape, and whether its constants imply the expectation. The iterator
        ends with the first pair whose constants imply the expectation. Without such a pair, the expectation is
        undecided. For an expectation that no constants could imply, such as `… while …`, the iterator is empty.

    Raises:
        InputError: If no shape decides the expectation, or no shape fits the network or the controller.
    """
    subject, start = question.expectation.comparison.subject, question.query.record()["property"]["start"]
    if subject not in proving.DECIDED:
        raise InputError(f"no shape decides '{question.expectation}'; expected one about {', '.join(proving.DECIDED)}")
    if start != "any":
        raise InputError(f"the start is '{start}'; a proof is about all time, expected any")
    return isolated_steps(_by_networks(question, out, certify, listener or Listener(), solver))


def prove_by_invariant(
    controller: Given,
    on: str,
    expect: str,
    *,
    start: str | None = None,
    seconds: float = 60,
    jobs: int = 2,
) -> Decided:
    """Prove that a controller meets an expectation for all time, by an inductive invariant, or refute it.

    The search needs no window, state or constant. An invariant is a set of states that holds all initial states, that
    no step leaves, and in which the expectation is met.

    Args:
        controller: The controller.
        on: The network, as in `ask`.
        expect: A bound of all steps, such as `queue <= 7 bdp`, or a least utilisation. `utilisation >= 3/4 within 8
            bdp` states that each interval of t R_m serves at least 3/4·t - 8 C·R_m; 8 is the default. Or conditions
            that hold for the first time after at most N R_m, such as `converged within 8 rtt`.
        start: The start of the executions, as in `ask`. By default `informed`: from an empty network, with a lower
            bound on the link rate of at least C/2.
        seconds: The budget of the search, in CPU seconds of each process. The search for an execution that refutes the
            expectation may take as long, by the clock.
        jobs: The number of processes.

    Returns:
        A Decided: `verdict` is `proved`, `refuted` or `unknown`. A proof is in `proved.invariant`, with certificates;
        a proof about the first steps is in `first`.
        An execution in `trace` refutes a bound. A rate is refuted by an execution that repeats for ever, from any
        start.

    Raises:
        InputError: If no invariant proves such an expectation, or the network has no transition system.

    Examples:
        >>> cm.prove_by_invariant("cc_qdel", "ccac, buffer infinite", "queue <= 7 bdp").verdict
        'proved'
    """
    return invariants.decide(invariants.asked(controller, on, expect, start), seconds, jobs, enclosures.attempt)


def find_bounds(
    controller: Given,
    on: str,
    *,
    start: str | None = None,
    out: str | Path | None = None,
    seconds: float = 60,
    jobs: int = 2,
    tells: Callable[[str], None] = lambda what: None,
) -> Iterator[Bound]:
    """Find the tightest bounds that inductive invariants prove, on a grid of amounts.

    The bounds are about the queue, the window of a window sender, the loss per R_m of a finite buffer, and the
    utilisation within K for K = 1, 2, 4, 8 and 16 C·R_m. Bytes are tried in steps of 1/2 C·R_m up to 32, and
    utilisations in steps of 1/20.

    Args:
        controller: The controller.
        on: The network, as in `ask`.
        start: The start of the executions, as in `prove_by_invariant`.
        out: The folder of an earlier search. The search begins at the bounds that are proved there. `Bound.save` writes
            to a folder.
        seconds: The budget of each bound, in CPU seconds of each process. The search for an execution that refutes the
            next bound may take as long, by the clock.
        jobs: The number of processes.
        tells: A function that is called with each expectation that the search tries.

    Returns:
        An iterator over the Bounds: the amount, the Decided of the proved bound, and that of the next tighter bound.

    Raises:
        InputError: If the network has no transition system.

    Examples:
        >>> next(iter(cm.find_bounds("cc_qdel", "ccac, buffer infinite, jitter 1 rtt"))).amount
        Fraction(7, 1)
    """
    folder = None if out is None else Path(out)
    return isolated_steps(invariants.tightest(controller, on, start, seconds, jobs, folder, tells))


def draw_bounds(name: str, bounds: Sequence[Bound], file: str | Path) -> None:
    """Draw bounds to a file: the share of the link by K, and the share beside the bytes in the queue.

    Args:
        name: The name of the controller, for the title.
        bounds: The Bounds that `find_bounds` returned.
        file: The path of a PNG, SVG or PDF file.

    Raises:
        InputError: If matplotlib is missing, or the file's suffix is not supported.

    Examples:
        >>> cm.draw_bounds("cc_qdel", bounds, "bounds.svg")
    """
    invariants.draw(name, bounds, Path(file))


def _by_networks(
    question: Question, out: str | Path | None, certify: bool, listener: Listener, solver: SolverOptions
) -> Generator[tuple[Attempt, bool]]:
    if proving.undecided(question.expectation):
        return
    refused, networks = [], proving.networks(question.query)
    for network in networks:
        try:
            attempts = proving.attempts(question.controller, out, listener, network, certify=certify, options=solver)
            for attempt in attempts:
                result = attempt.result
                proof = load_definition("proofs", "PROOF", result.proof)
                expects = proving.implies(question.expectation, proof, result.horizon, result.values)
                implied = attempt.verdict == "holds" and expects
                yield attempt, implied
                if implied:
                    return
        except InputError as error:
            refused.append(error)
    if len(refused) == len(networks):
        raise refused[0]


def check(
    file: str | Path,
    *following: str | Path,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> Check:
    """Check every part of a saved proof again.

    Args:
        file: A result file of `prove`, or an invariant or a proof about first steps that `prove` wrote, which
            certificates alone decide. Or an ONNX file whose metadata name its proofs.
        following: Proofs about first steps, if `file` is one as well. Each begins where the proof before it ends. The
            last of them may be an invariant: then its claim holds for ever from some step on. The last Finding is about
            the joined claim.
        allow_code: Whether to run the file that the result names as its proof. Otherwise only shipped proofs are
            accepted.
        solver: SolverOptions.

    Returns:
        The Check. Iterate over the Check for its findings, or read `verdict`: `accepted`, `rejected` or `unknown`.

    Raises:
        InputError: If the file cannot be read or is no proof.
        Disagreement: If two solvers disagree while the proof is checked.

    Examples:
        >>> cm.check("results/proofs/cc_qdel_T10.json").verdict
        >>> cm.check("halves.json", "grows.json").findings[-1].about
    """
    if following:
        steps = [*(invariants.load_first_steps(each, allow_code) for each in (file, *following[:-1]))]
        last = _load_last(following[-1], allow_code)
        claims = _claims(steps, last)
        return Check([*steps, last], _joined([*steps, last], claims, solver), " ".join(map(str, (file, *following))))
    if Path(file).suffix == ".onnx":
        proofs = enclosures.proofs_of(file, allow_code)
        return Check(proofs, _findings(*proofs), str(file))
    data = parse_json(read_text(Path(file)), str(file))
    if enclosures.is_saved(data):
        proof = enclosures.load_proof(file, allow_code)
        return Check(proof, _findings(proof), str(file))
    if invariants.is_first_steps(data):
        first = invariants.load_first_steps(file, allow_code)
        return Check(first, _findings(first), str(file))
    if invariants.is_invariant(data):
        invariant = invariants.load_invariant(file, allow_code)
        return Check(invariant, _findings(invariant), str(file))
    if proving.is_of_rounds(data):
        return proving.check_rounds(proving.load_rounds(file, allow_code), isolated_steps, solver)
    result = proving.load_result(file, allow_code)
    return proving.check(result, isolated_steps, options=solver)


def _load_last(file: str | Path, allow_code: bool) -> FirstSteps | Invariant:
    """Return the last of several proofs to join."""
    if invariants.is_invariant(parse_json(read_text(Path(file)), str(file))):
        return invariants.load_invariant(file, allow_code)
    return invariants.load_first_steps(file, allow_code)


def _claims(proofs: Sequence[FirstSteps], last: FirstSteps | Invariant) -> list[Phases | Eventually]:
    """Return the claims that join the first two proofs, the first three, and so on."""
    phases: list[FirstSteps | Phases] = [proofs[0]]
    for each in (*proofs[1:], *([last] if isinstance(last, FirstSteps) else [])):
        phases.append(Phases.of(phases[-1], each))
    joined = [each for each in phases if isinstance(each, Phases)]
    return [*joined, *([Eventually.of(phases[-1], last)] if isinstance(last, Invariant) else [])]


def _joined(
    proofs: Sequence[FirstSteps | Invariant], claims: Sequence[Phases | Eventually], solver: SolverOptions
) -> Iterator[Finding]:
    """Yield the result of checking proofs that follow each other, and the claims that join them."""
    yield from _findings(*proofs)
    for claim in claims:
        about = f"{claim.controller.name} on {claim.executions}: {claim.claim}, in C·step"
        yield Finding(about, claim.fault(solver), f"joined: {claim.how}")


def _findings(*proofs: Invariant | FirstSteps | SavedProof) -> Iterator[Finding]:
    """Yield the result of checking each of several proofs by certificates."""
    for proof in proofs:
        invariant = proof.invariant if isinstance(proof, SavedProof) else proof
        how = "certificates" if invariant is proof else "certificates, and the envelope computed again"
        about = f"{proof.controller.name} on {invariant.executions}: {invariant.claim}, in C·step"
        yield proving.named(proof.controller, invariant.query)
        yield Finding(about, proof.fault(), f"{len(invariant.certificates)} {how}")
        for each in left_out(invariant.query, invariant.controller):
            yield Finding("left out", None, str(each), checked=False)


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
    """Translate a proof into a guarantee for a path: the share of the link, bytes, packets and milliseconds.

    `fit`, `emulate`, exported headers and policy files report the same guarantee. A deployed controller takes a step
    every R_m + D.

    Args:
        result: A result file of `prove`, or the name of a shipped result. Its numbers are trusted; `check` verifies
            them.
        rtt: R_m, the smallest round-trip time, such as "40ms". Without R_m, times are in R_m.
        jitter: D, such as "40ms". By default D is R_m.
        rate: C, such as "24mbit". Without C, bytes are in BDP, which is C·R_m.
        buffer: The size of the buffer, such as "2bdp", "30000" (bytes) or "infinite".
        mss: The size of a packet in bytes.
        allow_code: Whether to run the file that the result names as its proof. Otherwise only shipped proofs are
            accepted.

    Returns:
        The Guarantee. `sentence()` states the guarantee in words. `missing` lists the conditions that the path does not
        meet.

    Raises:
        InputError: If the file is no result, a quantity cannot be read, or the proof is for a network without jitter.

    Examples:
        >>> cm.guarantee("cc_qdel_T10", rate="24mbit", rtt="40ms", jitter="40ms").sentence()
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
    """Find the controllers that no other one dominates, among the classes of a query's template that have a solution.

    The call proves guarantees by shapes for each controller of these classes that no counterexample breaks.

    Args:
        query: The query, with a template.
        out: The folder for the run, proofs and figure, from which the same call resumes. By default, QUERY-front.
        step: If given, also prove the maximal envelopes around the controllers on the front, with this step as in
            `widen`.
        jobs: The number of processes that do the work.
        cluster: The address of a Dask cluster that does the work instead of processes.
        begun: A function that is called with the name of each stage of the work when the stage begins.
        decided: A function that is called with each decided controller, its number, and the number of all controllers.
        solver: SolverOptions.

    Returns:
        The Front, with a point for each controller, and the names of the controllers that dominate it.

    Raises:
        InputError: If no shape fits the query's network.
        Disagreement: Two solvers disagree.
    """
    from ccmatic.proving import fronts

    return fronts.find_front(read_query(query), out, step, jobs, cluster, begun, decided, options=solver)


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
        allowances: The allowed losses in packets, as expressions in C. By default, the allowances are 1, log(C),
            sqrt(C), C/10 and C.
        buffer_time: The size of the buffer as a drain time, in R_m.
        start: The initial rate, in packets per R_m.
        end: The rate of the link, in packets per R_m.
        out: The folder for the figures, the tables, a trace and the proof's report.

    Yields:
        Each finding. Each finding has a record `row`, a `text` for people, and a flag `good`, which states whether the
        finding agrees with the theorem.

    Raises:
        InputError: If an expression or a number cannot be read, or the theorem excludes it.
    """
    from ccmatic import tradeoffs

    yield from tradeoffs.reproduce_tradeoff(allowances, buffer_time, start, end, out)
