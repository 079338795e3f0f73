"""What a verdict leaves open: the executions that its question leaves out, and advice on the next question."""

import ast
from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

from ccmatic import controllers
from ccmatic.base import counted, syntax_tree
from ccmatic.contracts import Exclusion, FlowView, Model, StateBelief
from ccmatic.logic import every, isolated, real
from ccmatic.logic.solving import UNSAT, Checker, SolverOptions
from ccmatic.questions.query.query import Decides, Query

#: The largest packet sizes to try, in C·R_m: just below the usual bound of 1/5, and almost unbounded.
_LARGE, _HUGE = Fraction(199, 1000), Fraction(10**6)


@isolated
def left_out(
    query: Query, controller: Decides | None = None, later: bool = False, options: SolverOptions = SolverOptions()
) -> tuple[Exclusion, ...]:
    """List the exclusions that apply to a question, without duplicates, by default for any candidate of its template.

    `later` says that the answer also covers traces that begin in any state that the controller can reach. Raise
    OutOfTime if the time limit of the options is over; by default, there is none.
    """
    controller = controller or query.read_controller(query.read_by_candidates()[1])
    exclusions = [*query.model.exclusions(), *query.property.exclusions(query.model, controller.parameters)]
    if query.network.delay == "published" and query.model.measures and not query.model.windows:
        exclusions.append(_PUBLISHED_DELAYS)
    state: Any = controller.state
    flows = query.execution(state=state).flows
    for flow, each in zip(flows, controllers.of_flows(controller, flows), strict=True):
        if isinstance(each, controllers.Stateful):
            largest = _LARGE if any(e.name == "packets" for e in exclusions) else _HUGE
            exclusions += _of_sender(query, each, flow, largest, later, options)
        else:
            exclusions += _of_beliefs(query, each, flow)
    return tuple(dict.fromkeys(exclusions))


_PUBLISHED_DELAYS = Exclusion(
    "published laws", "a step passes without service and the measured delay then grows by more than a step"
)


def _of_beliefs(query: Query, controller: controllers.Controller, flow: FlowView) -> Iterator[Exclusion]:
    """Yield the exclusions that concern beliefs: large values that a window does not distinguish, and false beliefs."""
    for bound in query.model.bounds() if not query.property.deployed else ():
        where = bound.turns_false(flow, query.buffer) if bound.name in controller.parameters else None
        if where:
            reason = f"{bound.name} of {controller.name} has turned false before the trace, as it can where {where}"
            yield Exclusion("first state", reason)
    for name, most in beyond_window(query.model, controller, flow):
        yield Exclusion("before the trace", f"{controller.name} tells values of {name} above {most} apart")


def beyond_window(model: Model, controller: controllers.Controller, flow: FlowView) -> Iterator[tuple[str, Any]]:
    """Yield each belief whose large values the controller, but not the window, distinguishes, and the largest there."""
    values = {name: real(name) for name in controller.parameters} | {"R_m": Fraction(1), "D": Fraction(flow.D)}
    for belief in model.beliefs:
        if isinstance(belief, StateBelief) and belief.most and belief.name in controller.parameters:
            most = belief.most(flow)
            if not controller.is_alike_from(values, belief.name, Fraction(most)):
                yield belief.name, most


def left_out_of_trace(controller: Decides) -> tuple[Exclusion, ...]:
    """List the exclusions that apply even to a counterexample, because its sender receives wrong constants."""
    each = controllers.each_of(controller)
    return tuple(dict.fromkeys(exclusion for one in each for exclusion in _of_second(one)))


def _of_second(controller: Any) -> Iterator[Exclusion]:
    if "second" in controller.parameters:
        yield Exclusion("seconds", f"the second that {controller.name} reads is taken as R_m")


def _of_sender(
    query: Query,
    controller: controllers.Stateful,
    flow: FlowView,
    largest: Fraction,
    later: bool,
    options: SolverOptions,
) -> Iterator[Exclusion]:
    yield from _of_second(controller)
    assumed = _assumptions(controller)
    if assumed:
        yield Exclusion("assumptions", f"{controller.name} assumes {'; '.join(assumed)}")
    if not query.property.deployed and not later:
        yield from _of_first_state(controller)
    if query.model.flows > 1 and (upper := [each.name for each in controller.state if each.is_upper]):
        reason = f"{', '.join(upper)} of {controller.name} is false at first, as it may be beside others"
        yield Exclusion("first state", reason)
    yield from _of_packets(controller, flow, largest, options)
    if not query.property.period and knows_more(controller, flow, options):
        longest = _longest(controller, flow)
        longer = f", if that is more than {counted(longest, 'step')}" if longest else ""
        reason = f"{controller.name} acts on the delay of bytes that it sent before the trace{longer}"
        yield Exclusion("before the trace", reason)
    if sampled := [each.name for each in controller.state if each.belief and _reads_time(each.belief)]:
        reason = f"{', '.join(sampled)} of {controller.name} moves by what was acknowledged before the trace"
        yield Exclusion("before the trace", reason)


def knows_more(controller: controllers.Stateful, flow: FlowView, options: SolverOptions = SolverOptions()) -> bool:
    """Return whether a sender may act as in no execution, because it knows delays from the time before the trace."""
    if controller.first_decision(flow) is None:
        return False
    longest = _longest(controller, flow)
    if longest and controller.treats_long_delays_alike(flow, longest):
        return False
    checker = Checker(options)
    checker.add(controller.does_less_uninformed(flow))
    return bool(checker.check() != UNSAT)


def _longest(controller: controllers.Stateful, flow: FlowView) -> int:
    """Return the longest delay, in steps, that a trace shows of bytes sent before it; 0 if it shows no such delay."""
    return max((each.unbounded(flow) or 0 for each in controller.observations.values()), default=0)


def _reads_time(belief: Any) -> bool:
    """Return whether a belief has no value until all its inputs lie within the trace."""
    return any(node.arg == "time" for node in ast.walk(syntax_tree(belief.source)) if isinstance(node, ast.arg))


def _assumptions(controller: controllers.Stateful) -> list[str]:
    """Return the assumptions of a controller, with their line numbers."""
    calls = [node for node in ast.walk(syntax_tree(controller.source)) if isinstance(node, ast.Call)]
    named = [(call.lineno, call) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "assume"]
    return [f"{ast.unparse(call.args[0])} (line {line})" for line, call in sorted(named, key=lambda each: each[0])]


def _of_first_state(controller: controllers.Stateful) -> Iterator[Exclusion]:
    declared = [memory for memory in controller.state if memory.is_restricted]
    if declared:
        begins = ", ".join(f"{memory.name} {memory.says}" for memory in declared)
        yield Exclusion("first state", f"{controller.name} begins with {begins}")


def _of_packets(
    controller: controllers.Stateful, flow: FlowView, largest: Fraction, options: SolverOptions
) -> Iterator[Exclusion]:
    """Yield the state variables that have no valid initial value for some packet size that the question allows."""
    for memory in controller.state:
        if memory.kind != "between":
            continue
        checker = Checker(options)
        checker.add(every(flow.alpha >= largest, memory.first(flow, 0)))
        if checker.check() == UNSAT:
            true = " and is true" if memory.belief else ""
            reason = f"MSS is so large that no value of {memory.name} {memory.says}{true}"
            yield Exclusion("packets", reason)


#: The number of steps per R_m for a controller that compares delays with arbitrary fractions of R_m.
_STEPS = 4


def advice(query: Query, controller: Decides, undecided: bool, late: bool = False) -> tuple[str, ...]:
    """Return sentences that suggest what to ask next. `late`: the question timed out before a solver had it."""
    sentences = []
    if undecided and late:
        period = query.property.period
        shorter = f"a shorter period than {period}" if period else f"a shorter horizon than {query.horizon}"
        sentences.append(f"{shorter}, or a longer timeout: the encoding timed out, before a solver got the question")
    for each in controllers.each_of(controller):
        if isinstance(each, controllers.Stateful):
            sentences += _finer(query, each)
            sentences += _simpler(query, each) if undecided and not late else ()
    return tuple(dict.fromkeys(sentences))


def _finer(query: Query, controller: controllers.Stateful) -> Iterator[str]:
    """Suggest a model with finer steps: each delay in the controller's comparisons is a whole number of them."""
    parts = controller.delay_parts() or _STEPS
    R = min(query.model.round_trip(number) for number in range(1, query.model.flows + 1))
    if R % parts and (R < _STEPS or controller.delay_parts()) and "R" in query.model.parameters:
        base, _, text = str(query.network.model_name).partition(":")
        others = [each for each in text.split(",") if each and not each.startswith("R=")]
        parts = lcm(parts, R)
        model = f"{base}:{','.join([*others, f'R={parts}'])}"
        step = "R_m" if R == 1 else f"R_m/{R}"
        compares = f"{controller.name} compares delays with parts of R_m, and a step is {step}"
        yield f"--model {model} with a horizon {parts // R} times as long: {compares} (docs/stateful.md)"


def _simpler(query: Query, controller: controllers.Stateful) -> Iterator[str]:
    """Suggest questions that a solver decides faster."""
    if query.horizon > 3:
        yield f"a shorter horizon than {query.horizon}: the time grows by a factor with each step"
    yield "one size of packets, such as alpha == 1/20 * C * R, as a given condition"
    yield "one number instead of an edge: `worst --at`"
    if controller.has_laws():
        yield f"narrower bounds of the law of {controller.name} for one R_m, as those of the controller cubic_20ms"
