"""Untrained policies, and the decisions of exported ones."""

import ctypes
from itertools import pairwise

import numpy as np
import pytest

from ccmatic import records
from ccmatic.controllers import signal
from ccmatic.deployment import policies


def policy(
    path, layers=None, observe="custard", reward="custard", history=3, delay=0, sizes=(8, 4), act=None, interval="1"
):
    """Write a Policy to a file, and return it.

    Args:
        layers: (weights, bias) of each layer; None: random numbers of the given sizes.
        act: The name of its action; None: that of its observation.
    """
    if layers is None:
        rng, widths = np.random.default_rng(1), [history * signal.load("observe", observe).size, *sizes, 1]
        ends = list(pairwise(widths))
        layers = [(rng.normal(size=(taken, given)) / taken**0.5, rng.normal(size=given)) for taken, given in ends]
    written = [records.LayerRecord(np.float32(w).tolist(), np.float32(b).tolist()) for w, b in layers]
    asked = {"observe": observe, "act": act or observe, "reward": reward, "history": history, "delay": delay}
    asked["interval"] = interval
    policies.save(records.PolicyFile(query={}, seed=1, layers=written, curve=[], **asked), path)
    return policies.load(path)


def said(policy, observation):
    """The action of a Policy for one observation, before it is limited, as JAX computes it."""
    pytest.importorskip("jax", reason="JAX is not installed")
    return float(policies.outputs(policy.layers, np.float32(observation))[0])


FLOATS = ctypes.POINTER(ctypes.c_float)


class Interval(ctypes.Structure):
    """The measurements of one interval."""

    _fields_ = [
        (name, ctypes.c_float) for name in ("seconds", "sent", "acked", "lost", "rtt", "rtt_end", "out", "marked")
    ]


def pointer(array):
    """To float32s, for C."""
    return array.ctypes.data_as(FLOATS)


def deciding(library):
    """The function `decide` of a policy's Library: a sender, an Interval, seconds, and where to write the observation;
    the rate."""
    decide = library["decide"]
    decide.restype = ctypes.c_float
    decide.argtypes = [ctypes.c_void_p, ctypes.POINTER(Interval), ctypes.c_float, FLOATS]
    return decide


def steering(path, rtt_ms):
    """A policy that raises its rate while the RTT is below this, and lowers it above."""
    to = -rtt_ms / 100 * 40
    return policy(path, [(np.array([[0], [0], [0], [40], [0], [0]]), [to]), (np.array([[-3]]), [0])], history=1)
