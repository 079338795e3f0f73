"""A policy's network as C code: the constants, the weights, and the surrounding code."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ccmatic.controllers import signal
from ccmatic.deployment.policies import formulas
from ccmatic.deployment.policies.policy import Layers, Policy
from ccmatic.deployment.policies.program import OBSERVATION, Cell, program, recurrent, widened
from ccmatic.language import Tree
from ccmatic.worlds.c import float_function, float_literal
from ccmatic.worlds.runtime import shipped

#: The measurements of marks.
MARKS = ("marked", f"marked{signal.BEFORE}")


def constants(policy: Policy) -> dict[str, str | int]:
    file = policy.file
    read = frozenset().union(*(formula.inputs for formula in policy.formulas))
    ecn = {} if read.isdisjoint(MARKS) else {"CCM_ECN": "1 /* the formulas read marks: the packets say so to links */"}
    memory = {} if policy.cell is None else {"CCM_MEMORY": f"{policy.cell.units} /* numbers in the network's memory */"}
    return {
        "CCM_HISTORY": f"{file.history} /* intervals in an observation */",
        "CCM_DELAY": f"{file.delay} /* latest intervals that it leaves out */",
        "CCM_FEATURES": f"{policy.formulas[0].size} /* its numbers for each interval */",
        "CCM_REGISTERS": f"{sum(map(len, policy.memory)) or 1} /* numbers that the formulas store */",
        "CCM_LEAST_ACTION": float_literal(policy.bounds[0]),
        "CCM_MOST_ACTION": float_literal(policy.bounds[1]),
        **ecn,
        **memory,
    }


def parts(policy: Policy) -> Iterator[str]:
    """Yield the C texts that define `ccm_network` and its observations: `struct ccm_watch` and its functions."""
    yield shipped("floats.h")
    yield shipped("measured.h")
    yield from formulas.parts(policy.memory, policy.formulas)
    if policy.cell is not None:
        yield float_function("ccm_memory_of", _exact_cell(policy.cell), OBSERVATION)
        yield _RECALLING
    yield float_function("ccm_network_of", _exact(policy.layers, policy.activations), OBSERVATION)
    yield _choosing(policy.choices) if policy.choices else _NETWORK
    yield shipped("watch.h")


_NETWORK = """/* The action for an observation. It is 0 if sums leave the range of floats and give no number. */
static inline float ccm_network(const float *x)
{
    float action[1];

    ccm_network_of(x, action);
    return isnan(action[0]) ? 0 : action[0];
}
"""


_RECALLING = """/* Update the memory with an observation. The network reads the memory in place of the observation. */
static inline void ccm_recall(const float *x, float *memory)
{
    float in[CCM_HISTORY * CCM_FEATURES + CCM_MEMORY];

    memcpy(in, x, CCM_HISTORY * CCM_FEATURES * sizeof *in);
    memcpy(in + CCM_HISTORY * CCM_FEATURES, memory, CCM_MEMORY * sizeof *in);
    ccm_memory_of(in, memory);
}
"""


def _choosing(choices: Sequence[float]) -> str:
    """Return the C function that takes the first of the actions with the highest score."""
    numbers = ", ".join(map(float_literal, choices))
    return f"""/* The action with the highest score for an observation. A score that is no number is the highest. */
static inline float ccm_network(const float *x)
{{
    static const float choices[] = {{{numbers}}};
    float scores[{len(choices)}];
    unsigned best = 0;

    ccm_network_of(x, scores);
    for (unsigned i = 1; i < {len(choices)}; i++)
        if (scores[i] > scores[best] || (isnan(scores[i]) && !isnan(scores[best])))
            best = i;
    return choices[best];
}}
"""


def _exact(layers: Layers, activations: Sequence[str]) -> Tree:
    """Return the program of a network with these weights, (inputs, outputs), biases and activations."""
    return program([(tuple(map(_row, weights.T)), _row(bias)) for weights, bias in layers], activations)


def _exact_cell(cell: Cell) -> Tree:
    """Return the program of a unit with these weights and biases."""
    parts = widened(cell, np.concatenate, np.zeros)
    exact = {name: (tuple(map(_row, weights.T)), _row(bias)) for name, (weights, bias) in parts.items()}
    return recurrent(len(cell.candidate[0]), cell.units, exact.__getitem__)


def _row(numbers: NDArray[np.float32]) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(number)) for number in numbers)
