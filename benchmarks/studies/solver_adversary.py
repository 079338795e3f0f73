"""How far from the worst are learned adversaries? The solver as the adversary, beside random, genetic and learned ones.

    python -m benchmarks.studies.solver_adversary FOLDER [CONTROLLER …] [--delayed] [--harmed] [--seeds 0 1 2]
                                          [--timeout SECONDS]

The link is CCLab's, as `smooth_windows` has it: 1 to 96 Mbit/s, R_m of 20 ms, a buffer of 121,250 bytes, and |change|
of 2 Mbit/s at most in the mean of the last ten R_m. Adversaries are those of `cclab.py`, trained in FOLDER where they
are not there; the worst trace of each is played on the sender, step by step, in exact arithmetic. At the step BEGIN
it is asked how little of the link the next eight R_m can use: by 30 random traces from there, by differential
evolution, as the learned trace goes on, and by the solver, which says below which share no execution of the model from
there is, and has one that is. --delayed: of those with a mean queueing delay of at least that of the random traces.
--harmed: at the step from LEAST on from which the learned trace uses least of eight R_m. All that the sender's text
leaves to the network is what it does as it runs, so that the network chooses rates alone; but where bounds stand for a
law that is not linear, what is played is the middle, and the solver has all between them.

FOLDER/solver_adversary.json has what is found so far, from which the same command goes on. FOLDER has each trace of the
solver's, all of it from the first step on, which `ccmatic replay` checks. Prints a line for each state, and the table.
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
from ccmatic.analysis.worst_case import NoExecution
from ccmatic.base import definitions, read_text
from ccmatic.traces import Trace

#: Of each controller, in whose text it is attacked in the simulator.
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

#: At which step of a trace the adversaries are compared, or from which on at the one that harms most; for how many
#: steps; by how many the solver is told before.
BEGIN, LEAST, STEPS, BEFORE = 250, 100, 8, 4
RANDOM, RESOLUTION = 30, "1/50"

#: What is lost in a step is found all at once, as in a Stepwise: the model leaves open when each byte of it is.
FOUND_WHOLE = (
    "ALLT(1, T, lambda t: ALLT(0, t-1, lambda u: "
    "Or(A[u+1] - L[u+1] + 3*alpha <= S[t-1], found[t] <= L[u], found[t] == found[t-1])))"
)

#: Of differential evolution: candidates per step of a trace, and generations.
POPULATION, GENERATIONS = 8, 15


def smooth(sender, wanted):
    """The rate nearest to the one wanted that the budget leaves a Stepwise; as `capacity.smoothed`."""
    x = sender.columns
    room = WINDOW * BUDGET - (x["V"][-1] - x["V"][max(0, len(sender) - WINDOW)])
    rate = x["G"][-1] - x["G"][-2] if len(sender) > 1 else wanted
    return min(max(wanted, rate - room, MBIT), rate + room, Fraction(1))


def play(sender, wanted):
    """A copy of a Stepwise that goes on over these rates, as near to them as the budget leaves."""
    sender = sender.copy()
    for rate in wanted:
        sender.step(smooth(sender, rate))
    return sender


def query(steps, what="S[-1] < 0"):
    return cm.Query(cm.Network(MODEL, BUFFER, steps, delay="executions"), "avoids", what=what)


class _Runs(ast.NodeTransformer):
    """What the text of a controller does as it runs: the first of what it leaves to the network, the middle of a
    range; nothing is of before the trace, and that was long ago."""

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
    """The text of a controller in which its `update` leaves nothing to the network."""
    module = ast.parse(read_text(definitions.find_file(definitions.CONTROLLERS, name, ".py")))
    module.body = [_Runs().visit(each) if isinstance(each, ast.FunctionDef) else each for each in module.body]
    return ast.unparse(ast.fix_missing_locations(module))


def begun(name):
    """A Stepwise of a controller at its beginning."""
    asked = query(12)
    controller = asked.controller(as_it_runs(name))
    decides = controller.first_decision(asked.execution(state=controller.state).flows[0])
    return Stepwise(controller, decides, PACKET, BUFFER)


@cache
def learned(name, seed, folder):
    """The rates, in C, of the worst trace of the adversary that was trained from a seed."""
    (trained,) = trained_against(TARGETS[name], folder, (seed,))
    rates, _ = trained.trace()
    return [Fraction(round(float(rate) * 20), 20 * 96) for rate in rates]


def harmed(name, seed, folder):
    """The step from which the learned trace, of those from LEAST on, uses least of the link."""
    rates = learned(name, seed, folder)
    served, offered = (play(begun(name), rates).columns[column] for column in ("S", "G"))
    steps = range(LEAST, len(rates) - STEPS)
    return min(steps, key=lambda t: (served[t + STEPS] - served[t]) / (offered[t + STEPS] - offered[t]))


def at_random(sender, rng, steps):
    return play(sender, [Fraction(rng.randint(20, 1920), 1920) for _ in range(steps)])


def evolved(sender, cost, seed, steps, population, **options):
    """A copy of a Stepwise that goes on over the rates of the least cost, a function of such a copy, that differential
    evolution finds, of so many candidates per step; and how many were tried. options: of scipy's."""

    def played(genes):
        return play(sender, [Fraction(round(gene * 1900) + 20, 1920) for gene in genes])

    found = differential_evolution(
        lambda genes: cost(played(genes)),
        [(0, 1)] * steps, popsize=population, maxiter=GENERATIONS, polish=False, seed=seed, tol=0, **options,
    )  # fmt: skip
    return played(found.x), found.nfev


def genetic(sender, delay, seed, steps, population):
    """As `evolved`, of least use, of those that delay so much at least, where there are any."""

    def cost(played):
        used, waited = played.used(len(sender) - 1)
        return float(used) + max(0, 1 - float(waited / delay) if delay else 0) * 2

    return evolved(sender, cost, seed, steps, population)


def known(sender):
    """What is given of a window of the solver, which begins BEFORE steps earlier: all that was, and what the budget
    leaves."""
    x, end = sender.columns, len(sender) - 1
    names = {name: name for name in ("A", "S", "L", "G", "V", "found")}
    names |= {"Ld": "Ld_f[0]", "cwnd": "c_f[0]", "r": "r_f[0]"}
    names |= {memory.name: f"{memory.name}_f[0]" for memory in sender.controller.state}
    given = [f"alpha == {PACKET}"]
    for column, name in names.items():
        given += [f"{name}[{t}] == {x[column][end - BEFORE + t]}" for t in range(BEFORE + 1)]
    for t in range(BEFORE + 1, min(WINDOW, BEFORE + STEPS + 1)):
        given.append(f"V[{t}] <= {x['V'][end - BEFORE + t - WINDOW] + WINDOW * BUDGET}")
    return [*given, *unfound(sender)]


def unfound(sender):
    """When it is found what was lost before a window of the solver and is not found yet: once three packets are served
    beyond it."""
    x, end = sender.columns, len(sender) - 1
    for lost, steps in groupby(range(end - BEFORE), key=lambda u: x["L"][u]):
        if lost >= x["found"][end]:
            first, *_, last = [x["A"][u] - lost + 3 * PACKET for u in steps] * 2
            at_most, at_least = f"S[t-1] >= {last}, found[t] <= {lost}", f"S[t-1] < {first}, found[t] >= {lost}"
            yield f"ALLT({BEFORE + 1}, T, lambda t: And(Or({at_most}), Or({at_least})))"


def grown(column):
    """By how much a column grows in a window of the solver, as a term."""
    return f"({column}[-1] - {column}[{BEFORE}])"


def waits():
    """What waits at the ends of its steps, in all, as a term."""
    return "(" + " + ".join(f"A[{t}] - L[{t}] - S[{t}]" for t in range(BEFORE + 1, BEFORE + STEPS + 1)) + ")"


def asked_of(sender, what, given=(), **options):
    """The Worst of a condition on x, of the steps that follow. options: of `worst`."""
    state = [memory.name for memory in sender.controller.state]
    return cm.worst(
        sender.controller.begun_anywhere(state),
        cm.Network(MODEL, BUFFER, BEFORE + STEPS + 1, delay="executions"),
        what,
        given="; ".join([*known(sender), *given, FOUND_WHOLE]),
        **options,
    )


def solved(sender, delay, timeout, resolution=RESOLUTION):
    """The Worst of the solver, of the link's use."""
    given = [f"{waits()} >= {delay} * {grown('S')}"]
    return asked_of(
        sender,
        f"{grown('S')} < x * {grown('offered')}",
        given,
        resolution=resolution,
        solver=cm.SolverOptions(timeout=timeout),
    )


def follow(sender, worst):
    """A copy of a Stepwise that goes on over the rates that the solver found."""
    return play(sender, [after - before for before, after in pairwise(worst.trace.columns["G"][BEFORE:])])


def find(cell, folder, timeout):
    """What each adversary reaches from a state: shares of the link that are used, with the delay given, and seconds."""
    name, seed, step, delayed = cell.values()
    rates = learned(name, seed, folder)
    sender, clock = play(begun(name), rates[:step]), Clock()
    rng = Random(step)
    random = [at_random(sender, rng, STEPS).used(step) for _ in range(RANDOM)]
    delay = Fraction(floor(mean(waited for _, waited in random) * 1000), 1000) if delayed else Fraction(0)
    told = {"delay": float(delay), "random": float(mean(used for used, _ in random)), "random_s": clock.lap()}
    played, evaluations = genetic(sender, delay, seed, STEPS, POPULATION)
    told |= reached("genetic", played, step, delay) | {"evaluations": evaluations, "genetic_s": clock.lap()}
    told |= reached("learned", play(sender, rates[step : step + STEPS]), step, delay)
    try:
        worst = solved(sender, delay, timeout)
    except NoExecution:
        return told | {"why": "no execution has such a delay"}
    told |= {**cells.edge(worst), "solver_s": clock.lap()}
    if worst.some is None:
        return told | ({"none": "1"} if worst.verdict == "found" else {})
    trace = whole(sender, worst.trace)
    trace.save(folder / f"{name}_{seed}_{step}{'_delayed' if delayed else ''}.json")
    return told | {"replays": cm.replay(trace).outcome.value, **reached("alone", follow(sender, worst), step, delay)}


def reached(how, sender, step, delay):
    """The share that is used from a step on; None where the delay is less than what is given."""
    used, waited = sender.used(step)
    return {how: float(used) if waited >= delay else None}


class Clock:
    """Seconds of wall clock, lap by lap."""

    def __init__(self):
        self._last = monotonic()

    def lap(self):
        before, self._last = self._last, monotonic()
        return round(self._last - before, 1)


def whole(sender, window):
    """The Trace of a Stepwise and then of a window that the solver found from its last steps on."""
    return recorded(sender.goes_on({name: column[BEFORE + 1 :] for name, column in window.columns.items()}))


def recorded(sender):
    """The Trace of a Stepwise."""
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(0), "MSS": PACKET, "beta": BUFFER}
    horizon = len(sender)
    return Trace(horizon, constants, sender.columns, query(horizon).record(), sender.controller.source)


def told(cell):
    """A cell in a line."""
    if "none" not in cell:
        return cell["why"]
    shown = [f"{how} {cell[how]:.3f}" if cell.get(how) is not None else f"{how} -" for how in ("random", *REACHED)]
    return f"{', '.join(shown)}; solver {cells.text(cell, '<')}; {cell.get('replays', '')}"


#: What each of these adversaries reached, with its delay; `alone` is what the rates of the solver's trace do.
REACHED = ("genetic", "learned", "alone")


def table(found):
    """Means over the states of each controller, in percent; of the solver both sides; and seconds."""
    heads = ("controller", "states", "random", "genetic", "learned", "solver: none below", "one below")
    heads += ("genetic above none", "learned above none", "seconds: genetic", "solver")
    yield "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|"
    for name in dict.fromkeys(cell["controller"] for cell in found):
        mine = [cell for cell in found if cell["controller"] == name and cell.get("none") is not None]
        sides = [[float(Fraction(cell[side] or 1)) for cell in mine] for side in ("none", "some")]
        reached = [[cell[how] for cell in mine] for how in ("random", "genetic", "learned")]
        shares = [f"{100 * mean(known):.1f}" if (known := _known(each)) else "-" for each in (*reached, *sides)]
        above = [
            [used - low for used, low in zip(each, sides[0], strict=True) if used is not None] for each in reached[1:]
        ]
        gaps = [f"{100 * mean(each):.1f}" if each else "-" for each in above]
        seconds = [f"{mean(cell[how] for cell in mine):.0f}" for how in ("genetic_s", "solver_s")]
        yield f"| {name} | {len(mine)} | " + " | ".join((*shares, *gaps, *seconds)) + " |"


def _known(values):
    return [value for value in values if value is not None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*TARGETS])
    parser.add_argument("--delayed", action="store_true", help="of traces that delay as random ones do, at least")
    parser.add_argument("--harmed", action="store_true", help="where the learned trace harms most")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each question to the solver")
    asked = parser.parse_args()
    every = []
    for name, seed in product(asked.controllers, asked.seeds):
        step = harmed(name, seed, asked.folder) if asked.harmed else BEGIN
        every.append({"controller": name, "seed": seed, "step": step, "delayed": asked.delayed})
    asked.folder.mkdir(parents=True, exist_ok=True)
    file = asked.folder / "solver_adversary.json"
    found = cells.results(every, file, lambda cell: find(cell, asked.folder, asked.timeout), told)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
