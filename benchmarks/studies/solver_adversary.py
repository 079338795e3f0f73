"""Measure how far learned adversaries are from the worst case.

    python -m benchmarks.studies.solver_adversary FOLDER [CONTROLLER …] [--delayed] [--harmed] [--seeds 0 1 2]
                                          [--timeout SECONDS]

The link is CCLab's link, as the model `smooth_windows`. The link has 1 to 96 Mbit/s, an R_m of 20 ms, a buffer of
121,250 bytes, and a mean |change| of at most 2 Mbit/s over the last ten R_m. The learned adversaries are the
adversaries of `cclab.py`. The command trains missing adversaries in FOLDER. The sender runs on the worst trace of each
adversary, step by step, in exact arithmetic. From step BEGIN on, four adversaries make the sender use as little of the
link as they can in the next eight R_m:

- 30 random traces;
- differential evolution;
- the learned trace;
- the solver, which proves that no execution of the model is below some share, and finds an execution below another
  share.

With --delayed, a trace counts only if its queueing delay is at least the mean delay of the random traces. With
--harmed, the adversaries begin at another step: among the steps from LEAST on, the step after which the learned trace
uses least of the link in eight R_m. If the sender's text leaves a choice to the network, the study uses the choice of
the real sender, so the network chooses only rates. There is one exception: bounds may replace a nonlinear law. The
sender then takes the middle between the bounds, and the solver may take any value between them.

FOLDER/solver_adversary.json has the results so far, and the same command resumes from them. FOLDER also has each trace
of the solver, complete from the first step. The command `ccmatic replay` checks these traces. The study prints a line
for each state, and the table.
"""

import argparse
import ast
from fractions import Fraction
from functools import cache
from itertools import groupby, pairwise, product
from math import floor
from pathlib import Path
from random import Random
from statistics import mean
from time import monotonic

from scipy.optimize import differential_evolution

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.lib.stepwise import Stepwise
from benchmarks.studies.cclab import trained_against
from ccmatic.answers.worst_case import NoExecution
from ccmatic.base import definitions, read_text
from ccmatic.networks.traces import Trace

#: The controllers, each with the name under which the simulator attacks it.
TARGETS = {
    "cubic_20ms": "cubic",
    "vegas": "vegas",
    "bbr": "bbr",
    "lp": "lp",
    "cc_qdel_sender": "cc_qdel",
    "cc_probe_slow_sender": "cc_probe_slow",
}
MODEL, MBIT, PACKET, BUFFER = "smooth_windows", Fraction(1, 96), Fraction(1, 160), Fraction(97, 192)
BUDGET, WINDOW = 2 * MBIT, 10

#: BEGIN is the step of a trace at which the adversaries are compared. LEAST is the first candidate for the most harmful
#: step. STEPS is the number of compared steps. BEFORE is the number of earlier steps that the solver knows.
BEGIN, LEAST, STEPS, BEFORE = 250, 100, 8, 4
RANDOM, RESOLUTION = 30, "1/50"

#: The sender detects all losses of a step at once, as in a Stepwise. The model leaves the time of each detection open.
FOUND_WHOLE = (
    "ALLT(1, T, lambda t: ALLT(0, t-1, lambda u: "
    "Or(A[u+1] - L[u+1] + 3*alpha <= S[t-1], found[t] <= L[u], found[t] == found[t-1])))"
)

#: The number of candidates of differential evolution per step of a trace, and the number of generations.
POPULATION, GENERATIONS = 8, 15


def smooth(sender, wanted):
    """Return the rate nearest to the requested rate that a Stepwise's budget allows, like `capacity.smoothed`."""
    x = sender.columns
    room = WINDOW * BUDGET - (x["V"][-1] - x["V"][max(0, len(sender) - WINDOW)])
    rate = x["G"][-1] - x["G"][-2] if len(sender) > 1 else wanted
    return min(max(wanted, rate - room, MBIT), rate + room, Fraction(1))


def play(sender, wanted):
    """Return a copy of a Stepwise that continues with given rates.

    If the budget forbids a rate, the copy uses the nearest allowed rate.
    """
    sender = sender.copy()
    for rate in wanted:
        sender.step(smooth(sender, rate))
    return sender


def query(steps, what="S[-1] < 0"):
    """Return the Query of a condition on the solver's model."""
    return cm.Query(cm.Network(MODEL, BUFFER, steps, delay="executions"), "avoids", what=what)


class _Runs(ast.NodeTransformer):
    """Replaces each choice in a controller's text by the option that the real sender takes.

    The sender takes the first of several options, and the middle of a range. The trace begins long before, so it
    includes all observations that the sender reads.
    """

    def visit_If(self, node):
        self.generic_visit(node)
        match node.test:
            case ast.Name("before_trace"):
                return node.orelse
            case ast.Compare(left=ast.Name("time")):
                return node.body
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name("any_of"), args=[first, *_]):
                return first
            case ast.Call(func=ast.Name("between"), args=[*_, low, high]):
                return ast.BinOp(ast.BinOp(low, ast.Add(), high), ast.Div(), ast.Constant(2))
        return node


def as_it_runs(name):
    """Return the controller's text, changed so that its function `update` leaves no choice to the network."""
    module = ast.parse(read_text(definitions.find_file(definitions.CONTROLLERS, name, ".py")))
    module.body = [_Runs().visit(part) if isinstance(part, ast.FunctionDef) else part for part in module.body]
    return ast.unparse(ast.fix_missing_locations(module))


def begun(name):
    """Return a Stepwise of a controller at the beginning of its execution."""
    question = query(12)
    controller = question.controller(as_it_runs(name))
    decides = controller.first_decision(question.execution(state=controller.state).flows[0])
    return Stepwise(controller, decides, PACKET, BUFFER)


@cache
def learned(name, seed, folder):
    """Return the rates, in C, of the worst trace of the adversary with the given seed."""
    (trained,) = trained_against(TARGETS[name], folder, (seed,))
    rates, _ = trained.trace()
    return [Fraction(round(float(rate) * 20), 20 * 96) for rate in rates]


def harmed(name, seed, folder):
    """Return the step, from LEAST on, after which the learned trace uses the least of the link."""
    rates = learned(name, seed, folder)
    served, offered = (play(begun(name), rates).columns[column] for column in ("S", "G"))
    steps = range(LEAST, len(rates) - STEPS)
    return min(steps, key=lambda t: (served[t + STEPS] - served[t]) / (offered[t + STEPS] - offered[t]))


def at_random(sender, rng, steps):
    """Continue a Stepwise with random rates."""
    return play(sender, [Fraction(rng.randint(20, 1920), 1920) for _ in range(steps)])


def evolved(sender, cost, seed, steps, population, **options):
    """Continue a Stepwise. Differential evolution searches for the rates with the lowest cost.

    Args:
        sender: The Stepwise.
        cost: A function that maps the continued copy to its cost.
        seed: The seed of the search.
        steps: The number of rates to find.
        population: The number of candidates per step.
        options: Options of SciPy's function.

    Returns:
        The continued copy, and the number of evaluations.
    """

    def played(genes):
        return play(sender, [Fraction(round(gene * 1900) + 20, 1920) for gene in genes])

    optimum = differential_evolution(
        lambda genes: cost(played(genes)),
        [(0, 1)] * steps, popsize=population, maxiter=GENERATIONS, polish=False, seed=seed, tol=0, **options,
    )  # fmt: skip
    return played(optimum.x), optimum.nfev


def genetic(sender, delay, seed, steps, population):
    """Continue a Stepwise with the least use of the link, as `evolved` does. Prefer copies with at least this delay."""

    def cost(played):
        used, waited = played.used(len(sender) - 1)
        return float(used) + max(0, 1 - float(waited / delay) if delay else 0) * 2

    return evolved(sender, cost, seed, steps, population)


def history_conditions(sender):
    """Return the conditions on a window of the solver: the sender's history, and the remaining budget.

    The window begins BEFORE steps before the end of the history.
    """
    x, end = sender.columns, len(sender) - 1
    names = {name: name for name in ("A", "S", "L", "G", "V", "found")}
    names |= {"Ld": "Ld_f[0]", "cwnd": "c_f[0]", "r": "r_f[0]"}
    names |= {memory.name: f"{memory.name}_f[0]" for memory in sender.controller.state}
    given = [f"alpha == {PACKET}"]
    for column, name in names.items():
        given += [f"{name}[{t}] == {x[column][end - BEFORE + t]}" for t in range(BEFORE + 1)]
    for t in range(BEFORE + 1, min(WINDOW, BEFORE + STEPS + 1)):
        given.append(f"V[{t}] <= {x['V'][end - BEFORE + t - WINDOW] + WINDOW * BUDGET}")
    return [*given, *undetected_losses(sender)]


def undetected_losses(sender):
    """Yield conditions that say when the sender detects losses older than a window of the solver.

    The sender detects such a loss once the link has served three packets beyond the loss.
    """
    x, end = sender.columns, len(sender) - 1
    for lost, steps in groupby(range(end - BEFORE), key=lambda u: x["L"][u]):
        if lost >= x["found"][end]:
            first, *_, last = [x["A"][u] - lost + 3 * PACKET for u in steps] * 2
            at_most, at_least = f"S[t-1] >= {last}, found[t] <= {lost}", f"S[t-1] < {first}, found[t] >= {lost}"
            yield f"ALLT({BEFORE + 1}, T, lambda t: And(Or({at_most}), Or({at_least})))"


def grown(column):
    """Return the growth of a column in a window of the solver, as a term."""
    return f"({column}[-1] - {column}[{BEFORE}])"


def waits():
    """Return the sum, over the window's steps, of the bytes that wait at the end of a step, as a term."""
    return "(" + " + ".join(f"A[{t}] - L[{t}] - S[{t}]" for t in range(BEFORE + 1, BEFORE + STEPS + 1)) + ")"


def worst_of(sender, what, given=(), **options):
    """Return the WorstCase of a condition on x over the next steps. `options` are passed to `worst`."""
    state = [memory.name for memory in sender.controller.state]
    return cm.worst(
        sender.controller.begun_anywhere(state),
        cm.Network(MODEL, BUFFER, BEFORE + STEPS + 1, delay="executions"),
        what,
        given="; ".join([*history_conditions(sender), *given, FOUND_WHOLE]),
        **options,
    )


def solved(sender, delay, timeout, resolution=RESOLUTION):
    """Return the solver's WorstCase for the use of the link."""
    given = [f"{waits()} >= {delay} * {grown('S')}"]
    return worst_of(
        sender,
        f"{grown('S')} < x * {grown('offered')}",
        given,
        resolution=resolution,
        solver=cm.SolverOptions(timeout=timeout),
    )


def follow(sender, worst):
    """Return a copy of a Stepwise that continues with the rates that the solver found."""
    return play(sender, [after - before for before, after in pairwise(worst.trace.columns["G"][BEFORE:])])


def find(cell, folder, timeout):
    """Compute the result of each adversary from a state.

    The results are the used share of the link under each adversary with the required delay, and the seconds.
    """
    name, seed, step, delayed = cell.values()
    rates = learned(name, seed, folder)
    sender, clock = play(begun(name), rates[:step]), Clock()
    rng = Random(step)
    random = [at_random(sender, rng, STEPS).used(step) for _ in range(RANDOM)]
    delay = Fraction(floor(mean(waited for _, waited in random) * 1000), 1000) if delayed else Fraction(0)
    result = {"delay": float(delay), "random": float(mean(used for used, _ in random)), "random_s": clock.lap()}
    played, evaluations = genetic(sender, delay, seed, STEPS, POPULATION)
    result |= reached("genetic", played, step, delay) | {"evaluations": evaluations, "genetic_s": clock.lap()}
    result |= reached("learned", play(sender, rates[step : step + STEPS]), step, delay)
    try:
        worst = solved(sender, delay, timeout)
    except NoExecution:
        return result | {"why": "no execution has such a delay"}
    result |= {**cells.edge(worst), "solver_s": clock.lap()}
    if worst.some is None:
        return result | ({"none": "1"} if worst.verdict == "found" else {})
    trace = whole(sender, worst.trace)
    trace.save(folder / f"{name}_{seed}_{step}{'_delayed' if delayed else ''}.json")
    return result | {"replays": cm.replay(trace).outcome.value, **reached("alone", follow(sender, worst), step, delay)}


def reached(how, sender, step, delay):
    """Return the used share from a step on; None if the delay is below the required delay."""
    used, waited = sender.used(step)
    return {how: float(used) if waited >= delay else None}


class Clock:
    """A stopwatch that measures wall-clock time in seconds."""

    def __init__(self):
        self._last = monotonic()

    def lap(self):
        """Return the seconds since the previous call."""
        before, self._last = self._last, monotonic()
        return round(self._last - before, 1)


def whole(sender, window):
    """Return the Trace of a Stepwise, extended by the window with which the solver continued it."""
    return recorded(sender.goes_on({name: column[BEFORE + 1 :] for name, column in window.columns.items()}))


def recorded(sender):
    """Return the Trace of a Stepwise."""
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(0), "MSS": PACKET, "beta": BUFFER}
    horizon = len(sender)
    return Trace(horizon, constants, sender.columns, query(horizon).record(), sender.controller.source)


def cell_line(cell):
    """Return a cell as a line of text."""
    if "none" not in cell:
        return cell["why"]
    shown = [f"{how} {cell[how]:.3f}" if cell.get(how) is not None else f"{how} -" for how in ("random", *REACHED)]
    return f"{', '.join(shown)}; solver {cells.text(cell, '<')}; {cell.get('replays', '')}"


#: The adversaries that reach a share. The name `alone` stands for the rates of the solver's trace.
REACHED = ("genetic", "learned", "alone")


def table(results):
    """Yield the table: each controller's means over its states in percent, both sides of the edge, and seconds."""
    heads = ("controller", "random", "genetic", "learned", "solver: proved", "trace", "genetic, s", "solver, s")
    yield "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|"
    for name in dict.fromkeys(cell["controller"] for cell in results):
        mine = [cell for cell in results if cell["controller"] == name and cell.get("none") is not None]
        sides = [[float(Fraction(cell[side] or 1)) for cell in mine] for side in ("none", "some")]
        reached = [[cell[how] for cell in mine] for how in ("random", "genetic", "learned")]
        shares = [
            f"{100 * mean(reached_values):.1f}" if (reached_values := _known(each)) else "-"
            for each in (*reached, *sides)
        ]
        seconds = [f"{mean(cell[how] for cell in mine):.0f}" for how in ("genetic_s", "solver_s")]
        yield f"| {name} | " + " | ".join((*shares, *seconds)) + " |"


def _known(values):
    return [value for value in values if value is not None]


def main():
    """Compute the missing cells, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*TARGETS])
    parser.add_argument(
        "--delayed", action="store_true", help="only count traces with at least the delay of random ones"
    )
    parser.add_argument("--harmed", action="store_true", help="compare at the step where the learned trace harms most")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each question to the solver")
    options = parser.parse_args()
    every = []
    for name, seed in product(options.controllers, options.seeds):
        step = harmed(name, seed, options.folder) if options.harmed else BEGIN
        every.append({"controller": name, "seed": seed, "step": step, "delayed": options.delayed})
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "solver_adversary.json"
    results = cells.results(every, file, lambda cell: find(cell, options.folder, options.timeout), cell_line)
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
