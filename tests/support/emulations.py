"""Synthetic runs of the emulator, made from logs."""

from dataclasses import fields

import numpy as np

from ccmatic.deployment.emulation import replay, run


def emulation(asked, flows, log, duration, spans=None, steps=None):
    """Return the Emulation of a log of flows, by name. By default all flows always send, and log no steps."""
    spans, steps = spans or ((0, duration),) * len(flows), steps or (None,) * len(flows)
    return run.Emulation(asked, flows, duration, log, False, 0.1, 0, spans, steps)


def in_time(asked, flows, arrivals, duration=10**9, **more):
    """The same of packets of 1500 bytes, (instant, flow's number) each, that were all passed on in time."""
    log = np.zeros(len(arrivals), run.RECORD)
    log["arrival"], log["flow"] = zip(*arrivals, strict=True)
    log["size"] = 1500
    log[["lost", "admitted", "planned"]] = replay.decisions(asked, log["arrival"], log["size"], log["flow"])
    log["released"] = log["planned"]
    return emulation(asked, flows, log, duration, **more)


def again(made):
    """The same Emulation, judged anew."""
    return run.Emulation(**{field.name: getattr(made, field.name) for field in fields(made)})
