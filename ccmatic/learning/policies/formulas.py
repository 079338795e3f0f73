"""A policy's formulas as C: what it observes, its registers, and what its action means, around `struct ccm_known`."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from ccmatic.base import InputError
from ccmatic.compilers.c import float_function
from ccmatic.controllers import signal
from ccmatic.language import Local, Number, Tree, Vector, names, replaced

if TYPE_CHECKING:
    from ccmatic.learning.policies.policy import Policy

#: What C has in place of a name, but for registers. (Of the first values of registers R_m is the RTT.)
_INPUTS = {
    **{name: f"k->now.{name}" for name in signal.INTERVAL},
    **{f"{name}{signal.BEFORE}": f"k->before.{name}" for name in signal.INTERVAL},
    "R_m": "k->now.rtt",
    "MSS": "k->packet",
    "action": "k->action",
    "rate": "rate",
}

_CONSTANTS = {name: Number(Fraction(value)) for name, value in signal.IN_SECONDS.items()}


def exportable(observe: str, reward: str, act: str | None = None) -> list[signal.Signal]:
    """The Signals that a policy's sender works out, by the names of formulas: what it observes, the reward if it
    observes that, and what its action means; act: None in an envelope.

    Raises InputError where there is no such formula, or where one reads what no exported sender knows.
    """
    needed = [signal.load("observe", observe)]
    rewarded = signal.load("reward", reward)
    if "reward" in needed[0].inputs:
        needed.append(rewarded)
    if act is not None:
        needed.append(signal.load("act", act))
    for needed_signal in needed:
        for name in sorted(needed_signal.inputs - _INPUTS.keys() - _CONSTANTS.keys() - {"reward"}):
            problem = f"no policy is exported whose {needed_signal.kind} is '{needed_signal.name}': it reads `{name}`"
            raise InputError(f"{problem}, which no exported sender measures")
    return needed


def parts(policy: "Policy") -> Iterator[str]:
    """Yield the texts of the functions that work the formulas of a Policy out."""
    memory = policy.memory
    places = {name: f"k->registers[{place}]" for place, name in enumerate(e.name for group in memory for e in group)}
    if signal.LEAST_RTT in places:
        places["R_m"] = places[signal.LEAST_RTT]
    terms = {each.kind: each.term for each in policy.formulas}
    reward = {"reward": Local("reward", terms["reward"])} if "reward" in terms else {}
    firsts = Vector(tuple(each.first for group in memory for each in group))
    yield from _function("ccm_remember_first", firsts, {}, "struct ccm_known *k", "k->registers")
    place = 0
    for number, group in enumerate(memory, 1):
        term = Vector(tuple(each.next for each in group))
        yield from _function(f"ccm_remember_{number}", term, places, "struct ccm_known *k", f"k->registers + {place}")
        place += len(group)
    calls = [f"    ccm_remember_{number}(k);" for number in range(1, len(memory) + 1)]
    yield "\n".join(["/* An interval is over. */", "static inline void ccm_remember(struct ccm_known *k)", "{",
                     *(calls or ["    (void)k;"]), "}\n"])  # fmt: skip
    observe = replaced(terms["observe"], reward)
    yield from _function("ccm_features", observe, places, "const struct ccm_known *k, float *x", "x")
    if "act" in terms:
        given = "const struct ccm_known *k, float rate, float *next"
        yield from _function("ccm_act", terms["act"], places, given, "next")


def _function(name: str, term: Tree, places: Mapping[str, str], parameters: str, out: str) -> Iterator[str]:
    """A term as a function, and one that gives it what it reads."""
    term = replaced(term, _CONSTANTS)
    read = sorted(names(term))
    yield float_function(f"{name}_of", term, read)
    values = ", ".join({**_INPUTS, **places}[each] for each in read) or "0"
    lines = [f"    const float in[] = {{{values}}};\n", f"    {name}_of(in, {out});"]
    used = [] if any("k->" in each for each in (values, out)) else ["    (void)k;"]
    used += ["    (void)rate;"] if "rate" in parameters and "rate" not in read else []
    yield "\n".join([f"static inline void {name}({parameters})", "{", *lines, *used, "}\n"])
