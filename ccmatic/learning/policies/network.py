"""A policy's network as C: its constants, its weights, and what is around it."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ccmatic.compilers.c import float_function, float_literal
from ccmatic.language import Tree
from ccmatic.learning.policies import formulas
from ccmatic.learning.policies.policy import Layers, Policy
from ccmatic.learning.policies.program import OBSERVATION, program
from ccmatic.runtime import shipped


def constants(policy: Policy) -> dict[str, str | int]:
    """C's constants by name, each with its value and maybe a comment."""
    file = policy.file
    return {
        "CCM_HISTORY": f"{file.history} /* intervals of an observation */",
        "CCM_DELAY": f"{file.delay} /* latest intervals that are not in it */",
        "CCM_FEATURES": f"{policy.formulas[0].size} /* numbers of an interval in it */",
        "CCM_REGISTERS": f"{sum(map(len, policy.memory)) or 1} /* numbers that its formulas remember */",
        "CCM_LEAST_ACTION": float_literal(policy.bounds[0]),
        "CCM_MOST_ACTION": float_literal(policy.bounds[1]),
    }


def parts(policy: Policy) -> Iterator[str]:
    """Yields the texts that define `ccm_network`, and what it observes by: `struct ccm_watch` and its functions."""
    yield shipped("measured.h")
    yield from formulas.parts(policy)
    yield float_function("ccm_network_of", _exact(policy.layers), OBSERVATION)
    yield _NETWORK
    yield shipped("watch.h")


_NETWORK = """/* The action for an observation. */
static inline float ccm_network(const float *x)
{
    float action[1];

    ccm_network_of(x, action);
    return action[0];
}
"""


def _exact(layers: Layers) -> Tree:
    """The program of a network of these weights, (inputs, outputs), and biases."""
    return program([(tuple(map(_row, weights.T)), _row(bias)) for weights, bias in layers])


def _row(numbers: NDArray[np.float32]) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(number)) for number in numbers)
