"""The Python face of ccmatic, which the command line calls as well.

    import ccmatic as cm

    network = cm.Network("ccac", buffer="any", horizon=11)
    verdict = cm.verify(rate, cm.Query(network, utilisation="1/2"))

Each call has formulas and solvers of its own, so that two threads may call at once. Whatever a person gives that will
not do raises InputError. `solvers` are some of `z3`, `cvc5` and `yices`, which must agree, else Disagreement is raised;
`timeout` is in seconds, for each question; `seed` is the solvers'.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from ccmatic import estimation, explanation, language, proving, synthesis, verification, widening, worst_case
from ccmatic.base import InputError, exact
from ccmatic.codegen import files as exporting
from ccmatic.codegen import header
from ccmatic.estimation import Estimate
from ccmatic.explanation import Explanation
from ccmatic.language import Controller, Several, Stateful
from ccmatic.logic import isolated, isolated_steps
from ccmatic.proving import Attempt, Check, Listener, Proved
from ccmatic.query import Decides, Network, Query
from ccmatic.query import load as load_query
from ccmatic.synthesis import CoverReport, Progress, Store
from ccmatic.traces import Trace
from ccmatic.verification import Judge, Judgement, Report
from ccmatic.widening import Widening, WideningReport
from ccmatic.worst_case import Worst

#: What people give as a controller: see `language.given`.
Given = Controller | Stateful | Several | Callable[..., Fraction] | Path | str

__all__ = [
    "Attempt",
    "Check",
    "Controller",
    "CoverReport",
    "Estimate",
    "Explanation",
    "InputError",
    "Judgement",
    "Network",
    "Progress",
    "Proved",
    "Query",
    "Report",
    "Synthesis",
    "Trace",
    "Widening",
    "WideningReport",
    "Worst",
    "check",
    "check_cover",
    "check_widening",
    "estimate",
    "explain",
    "export",
    "load_controller",
    "load_query",
    "prove",
    "prove_by_shapes",
    "replay",
    "synthesise",
    "verify",
    "widen",
    "worst",
]


def load_controller(controller: Given, query: Query | None = None) -> Decides:
    """The controller that is meant by a Python function, a file, a name, or source text.

    query: whose beliefs it may read; None: those of any model that ccmatic ships. Its `rate` runs it, its `pretty`
    shows it. Raises InputError, with file and line where they are known, for what is no controller.

        cm.load_controller("cc_qdel")
    """
    return query.controller(controller) if query else language.given(controller)


def verify(
    controller: Given,
    query: Query,
    *,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Judgement:
    """Whether a controller ensures a query's property on every trace of its network.

    The Judgement's `verdict` is `holds`, `violated` or `unknown` (out of time); its `trace` shows a violation, its
    `unmodelled` an execution that the published model leaves out and that breaks what holds on that model. Raises
    InputError for what is no controller of this network, or if the network has no execution; Disagreement.

        cm.verify("cc_qdel", cm.load_query("g1_t5")).trace.plot()
    """
    return Judge(query, solvers=solvers, timeout=timeout, seed=seed).judge(load_controller(controller, query))


class Synthesis:
    """One synthesis. Iterate over it for a Progress at first and whenever a candidate is decided, whose `controller` is
    the solution just found, or None; `solutions` decides all that are left."""

    def __init__(self, query: Query, steps: Iterator[Progress]) -> None:
        self.query = query
        self._left, self._made = steps, list[Progress]()

    def __iter__(self) -> Iterator[Progress]:
        yield from self._made
        for now in self._left:
            self._made.append(now)
            yield now

    @property
    def solutions(self) -> list[Controller | Stateful]:
        """Every solution, one of each class."""
        return [now.controller for now in self if now.controller]

    @property
    def now(self) -> Progress | None:
        """Where the search stands; None before it has begun."""
        return self._made[-1] if self._made else None

    def __repr__(self) -> str:
        now = self.now
        told = f"{now.solutions} solutions, {now.counterexamples} counterexamples" if now else "not begun"
        return f"<synthesis of {self.query.name}: {told}>"


def synthesise(
    query: Query,
    template: str | None = None,
    *,
    run: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Synthesis:
    """Find every controller of a template that ensures the query's property, one of each class: controllers that differ
    in the coefficients of constants only are one class (docs/encoding.md, section 9, "Counting").

    template: a name in templates/ or a file's path, in place of the query's own. run: a file that keeps what is
    learned; the same call then goes on. jobs: verify on so many processes; cluster: on the Dask cluster at this address
    instead. timeout: seconds for each candidate. Raises InputError for a template that does not fit the model or a run
    of another query; while it is iterated over, InputError if there is no template, and Disagreement.

        for now in cm.synthesise(query, template="two_branches"):
            print(now.left, now.controller)
    """
    query = query.searching(template) if template else query
    store = Store(run, query) if run else None
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed}
    return Synthesis(query, isolated_steps(synthesis.synthesise(query, jobs, cluster, store, **asking)))


@isolated
def widen(
    controller: Given,
    query: Query,
    *,
    step: Fraction | int | str = "1/8",
    most: Fraction | int | str = 2,
    told: Callable[[widening.Point, int], None] = lambda point, left: None,
    keep: Callable[[Widening], None] = lambda found: None,
    known: widening.Known | None = None,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Widening:
    """All maximal envelopes around a controller that ensure a query's property: each of its rates is the least and the
    most of one to begin with; a least rate may be multiplied by 1, 1 - step, … 0, a most rate by 1, 1 + step, … most.

    told: is given each envelope that is asked about, and of how many it is not known yet. keep: is given what is found
    so far, after each answer. known: of an earlier search for the same. timeout: seconds for each. Where the controller
    itself does not hold, none does. Raises InputError for what has no such envelopes, or too many; Disagreement.

        cm.widen("cc_qdel", cm.load_query("g1_t5"), step="1/4").maximal
    """
    grid = widening.Grid(load_controller(controller, query), query.units(), exact(step), exact(most))
    language.require_order(grid.controller, query.jitter)
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed}
    return widening.widen(grid, query, told, keep, known or widening.Known(), **asking)


@isolated
def check_widening(
    folder: str | Path,
    *,
    verify_envelopes: bool = False,
    allow_code: bool = False,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> WideningReport:
    """Check that a folder of `ccmatic widen` has all maximal envelopes: each trace breaks all that it strikes out, by
    replay, and none is left over.

    verify_envelopes: ask again whether those that hold do; else that is believed. timeout: seconds for each.
    allow_code: run the files that the query names. Raises InputError if the folder is no such one; Disagreement.
    """
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed} if verify_envelopes else None
    return widening.check_widening(folder, allow_code, asking)


@isolated
def prove(
    controller: Given,
    proof: str,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Proved:
    """What a controller guarantees for all time: the constants of a proof, each to its edge, and each lemma's verdict.

    proof: a name in proofs/, or the path of a file that defines a PROOF. out: a folder for all that is found, where the
    same call goes on; None: nothing is written. horizon: steps of a window, T; None: the proof's own. certify: write a
    certificate for each lemma as well, in that folder. listener: is told how it goes. timeout: seconds for each lemma.
    Raises InputError where no value of a constant will do, OutOfTime where that could not be told; Disagreement.

        cm.prove("cc_qdel", "cc_qdel", "proofs").claim
    """
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed}
    return proving.prove(proof, controller, out, horizon, certify, listener, **asking)


def prove_by_shapes(
    controller: Given,
    out: str | Path | None = None,
    *,
    horizon: int | None = None,
    certify: bool = False,
    listener: Listener | None = None,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Iterator[Attempt]:
    """What a controller guarantees for all time, by proofs that nobody wrote: each shape in proofs/ that follows the
    beliefs which it reads is tried; of one that sends by a window, begun anywhere, the shape that searches its bounds.

    Yields an Attempt for each, whose `proved` is as `prove` returns it, or whose `why` says which lemma breaks. Raises
    InputError if no shape is of what it reads. The rest is as of `prove`.
    """
    about = {"horizon": horizon, "certify": certify, "solvers": solvers, "timeout": timeout, "seed": seed}
    return isolated_steps(proving.attempts(controller, out, listener or Listener(), **about))


@isolated
def worst(
    controller: Given | Sequence[Given],
    network: Network,
    of: str = "utilisation",
    *,
    start: str = "any",
    given: str = "",
    period: int | None = None,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Worst:
    """How bad the network can make it for a controller: an edge, both sides of which have been asked.

    controller: or one for each flow of the network. of: `utilisation`, `loss` (in an R_m), `queue`, `delay`, `window`;
    of several flows `share`, the least that a flow gets of what is served, and `jain`, the same of two flows, with
    Jain's index told; or a condition on x (docs/worst.md). start:
    `any`, or `empty`: nothing waits and nothing was lost. given: a condition on executions; others are left out.
    period: so many steps, of executions that repeat themselves after them and so may go on for ever; the network's
    horizon is then at least 2·period + 1. at: an x that alone is asked about; else it is looked for from low to high,
    up to the resolution. told: is given each x that is asked. timeout: seconds for each x. Raises InputError, also if
    there is no such execution at all; Disagreement.

        cm.worst("copa", cm.Network("ccac2021", buffer="infinite", horizon=13), period=6).some
    """
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed}
    about = {"start": start, "given": given, "period": period, "told": told}
    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    return worst_case.search(controller, network, of, **about, **among, **asking)


def estimate(trace: Trace | str | Path, network: Network | None = None) -> list[Estimate]:
    """What a sender can know of its path at the end of each step of a trace, or of the one in a file, but its first: an
    Estimate's `possible` is exact, of all executions of the network that look alike to the sender; its `declared` are
    the model's beliefs.

    network: None: the trace's. Its horizon says on how many steps the sender looks back, but for what it knows of C.
    Raises InputError where no execution of the network is as the trace, with the laws that say so.

        cm.estimate("docs/gallery/late_drain.json")[-1].possible.C
    """
    loaded = trace if isinstance(trace, Trace) else Trace.load(str(trace))
    return list(estimation.estimates(loaded, network or estimation.network_of(loaded)))


def check(
    file: str | Path,
    *,
    allow_code: bool = False,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> Check:
    """Check a proof that was saved, all of it anew. Iterate over the Check for its findings, or ask for its `verdict`:
    `accepted`, `rejected` or `unknown`.

    file: that `prove` wrote. allow_code: run the file that it names as its proof; else it may name shipped ones only.
    Raises InputError if the file cannot be read or is no proof; while it is checked, Disagreement.

        cm.check("proofs/cc_qdel_T10.json").verdict
    """
    result = proving.load_result(file, allow_code)
    return proving.check(result, isolated_steps, solvers=solvers, timeout=timeout, seed=seed)


def replay(trace: Trace | str | Path, *, allow_code: bool = False) -> Report:
    """Check a trace, or the one in a file, by exact arithmetic, law by law, with no solver. The Report's `faults` are
    the laws that it breaks, and its `outcome` says whether it breaks its property.

    allow_code: run the files that it names as model or property; else it may name shipped ones only. Raises InputError
    if it is no trace, or lacks what its query needs.
    """
    file = None if isinstance(trace, Trace) else str(trace)
    return verification.replay(Trace.load(file) if file else trace, file, allow_code)


@isolated
def explain(trace: Trace | str | Path, *, allow_code: bool = False) -> Explanation:
    """What a trace, or the one in a file, shows, in sentences with numbers: what of its property is not met and why
    nothing excuses it, what the network did, whose rates these are. allow_code, and what it raises: as `replay`."""
    loaded = trace if isinstance(trace, Trace) else Trace.load(str(trace))
    return explanation.explain(loaded, verification.replay(loaded, None if loaded is trace else str(trace), allow_code))


@isolated
def check_cover(
    run: str | Path,
    *,
    verify_solutions: bool = False,
    allow_code: bool = False,
    solvers: tuple[str, ...] = ("z3",),
    timeout: float | None = None,
    seed: int = 0,
) -> CoverReport:
    """Check that the counterexamples and solutions in a run's file decide every candidate, without generator and
    solver. The CoverReport's `covered` says whether they do, its `faults` which events are not what they say.

    verify_solutions: verify each solution again, by the solvers; else they are believed. allow_code: as in `replay`.
    Raises InputError if the file is no run, or the template has changed since.
    """
    asking = {"solvers": solvers, "timeout": timeout, "seed": seed} if verify_solutions else None
    return synthesis.check_cover(run, allow_code, asking)


def export(
    controller: str | Path,
    target: str,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    horizon: int = 10,
    jitter: int | str | Fraction = 1,
    around: str | None = None,
) -> list[Path]:
    """Compile a controller, by its name or file, or a trained policy's file, to C; the paths of what is written.

    target: `c`, `bpf` or `udp`; of a policy `c`, `udp` or `onnx`. out: a folder; None: one of the controller's name.
    model: whose beliefs are computed; None: the one of fewest that are enough. horizon: T; beliefs time out every T-1
    steps. jitter: by how much delay may vary, in R_m, but for queueing. around: of an envelope in the kernel (`bpf`),
    which of its congestion controls runs within: `cubic`, `bbr` or `reno`. Raises InputError if the controller cannot
    be compiled or a file not be written.
    """
    if Path(controller).suffix == ".json":
        from ccmatic import policies

        return policies.export(controller, target, out)
    asked = (model, horizon, str(jitter))
    if around and target != "bpf":
        raise InputError(f"--around {around} for the target {target}; expected --target bpf: the kernel runs it")
    made = (header.make_guard(str(controller), around, *asked) if around
            else header.make(str(controller), *asked, guarding=True))  # fmt: skip
    return exporting.write(made, target, out or made.name)
