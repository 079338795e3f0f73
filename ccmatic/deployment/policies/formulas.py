"""A policy's formulas as C functions that read a `struct ccm_known`.

The C functions compute the policy's observations, its registers, and the meaning of its action.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from ccmatic.base import InputError
from ccmatic.controllers import signal
from ccmatic.language import Local, Number, Tree, Vector, names, replaced
from ccmatic.worlds.c import float_function

#: The registers of a sender, in groups, as in a Signal.
Groups: TypeAlias = Sequence[Sequence[signal.Register]]

#: The C expression for each name except registers. (In the first values of registers, R_m is the RTT.)
_INPUTS = {
    **{name: f"k->now.{name}" for name in signal.INTERVAL},
    **{f"{name}{signal.BEFORE}": f"k->before.{name}" for name in signal.INTERVAL},
    "R_m": "k->now.rtt",
    "MSS": "k->packet",
    "action": "k->action",
    "rate": "rate",
}

_CONSTANTS = {name: Number(Fraction(value)) for name, value in signal.IN_SECONDS.items()}


def unknown_to_senders(formula: signal.Signal) -> frozenset[str]:
    """Return the names that a formula reads and that no exported sender measures."""
    return formula.inputs - _INPUTS.keys() - _CONSTANTS.keys() - {"reward"}


def exportable(observe: str, reward: str, act: str | None = None) -> list[signal.Signal]:
    """Return the Signals that a policy's sender computes. `act` is None if the policy acts in an envelope.

    The result has the reward only if the observations read it.
    """
    needed = [signal.load("observe", observe)]
    rewarded = signal.load("reward", reward)
    if "reward" in needed[0].inputs:
        needed.append(rewarded)
    if act is not None:
        needed.append(signal.load("act", act))
    for needed_signal in needed:
        for name in sorted(unknown_to_senders(needed_signal)):
            problem = f"no policy is exported whose {needed_signal.kind} is '{needed_signal.name}': it reads `{name}`"
            raise InputError(f"{problem}, which no exported sender measures")
    return needed


def places_of(memory: Groups) -> dict[str, str]:
    """Return the C expression of each register, and of R_m where a register has it."""
    names_in_order = [register.name for group in memory for register in group]
    places = {name: f"k->registers[{place}]" for place, name in enumerate(names_in_order)}
    if signal.LEAST_RTT in places:
        places["R_m"] = places[signal.LEAST_RTT]
    return places


def parts(memory: Groups, formulas: Sequence[signal.Signal]) -> Iterator[str]:
    """Yield the texts of the C functions of formulas. A reward is computed only for observations that read it."""
    places = places_of(memory)
    terms = {formula.kind: formula.term for formula in formulas}
    reward = {"reward": Local("reward", terms["reward"])} if "reward" in terms else {}
    firsts = Vector(tuple(register.first for group in memory for register in group))
    yield from function("ccm_remember_first", firsts, {}, "struct ccm_known *k", "k->registers")
    place = 0
    for number, group in enumerate(memory, 1):
        term = Vector(tuple(register.next for register in group))
        yield from function(f"ccm_remember_{number}", term, places, "struct ccm_known *k", f"k->registers + {place}")
        place += len(group)
    calls = [f"    ccm_remember_{number}(k);" for number in range(1, len(memory) + 1)]
    yield "\n".join(["/* End an interval. */", "static inline void ccm_remember(struct ccm_known *k)", "{",
                     *(calls or ["    (void)k;"]), "}\n"])  # fmt: skip
    observe = replaced(terms["observe"], reward)
    yield from function("ccm_features", observe, places, "const struct ccm_known *k, float *x", "x")
    if "act" in terms:
        given = "const struct ccm_known *k, float rate, float *next"
        yield from function("ccm_act", terms["act"], places, given, "next")


def function(name: str, term: Tree, places: Mapping[str, str], parameters: str, out: str) -> Iterator[str]:
    """Yield two C functions: one computes a term, and one calls the first with the inputs of the term.

    The `parameters` of the second one include `k`, a `struct ccm_known`. Both write to the expression `out`.
    """
    term = replaced(term, _CONSTANTS)
    read = sorted(names(term))
    yield float_function(f"{name}_of", term, read)
    values = ", ".join({**_INPUTS, **places}[name_read] for name_read in read) or "0"
    lines = [f"    const float in[] = {{{values}}};\n", f"    {name}_of(in, {out});"]
    used = [] if any("k->" in text for text in (values, out)) else ["    (void)k;"]
    used += ["    (void)rate;"] if "rate" in parameters and "rate" not in read else []
    yield "\n".join([f"static inline void {name}({parameters})", "{", *lines, *used, "}\n"])
