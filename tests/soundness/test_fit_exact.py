"""The least jitter of a log is exact: a link of the model with that much leaves the log, none with less does. By the
solver, of the packets' laws; and of the models' own laws where the log is sampled once a step."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ccmatic.contracts import execution, load_definition, load_logs
from ccmatic.fitting.log import NEVER, rows
from ccmatic.logic import equal, isolated, real
from ccmatic.logic.solving import SAT, Checker
from ccmatic.questions import query as queries
from support.packet_laws import logged, may_be, simulated, whole

MODELS = ("cbr_delay", "ccac", "varying")

#: Seconds by which the least jitter may be missed, and by which floats may.
RESOLUTION, ROUNDING = Fraction(1, 10**9), Fraction(1, 10**12)


@isolated
def check_packets(model, fitted_by, seeds, unknown=0):
    """The models that made the logs are not always those that are fitted: any log has a least jitter. unknown: of which
    part of the packets it is not known when they were sent."""
    for seed in seeds:
        log = logged(simulated(model, seed, bdp=3, steps=5))
        known = np.arange(len(log.sent)) >= unknown * len(log.sent)
        log = replace(log, sent=np.where(known, log.sent, NEVER))
        jitter = Fraction(whole(log, fitted_by)[0])
        assert may_be(fitted_by, log, jitter + ROUNDING), seed
        less = jitter - RESOLUTION - ROUNDING
        assert less < 0 or not may_be(fitted_by, log, less), seed


@pytest.mark.parametrize("model", MODELS)
def test_the_least_jitter_is_exact_by_the_solver(model):
    check_packets(model, model, range(12))


@pytest.mark.parametrize("unknown", [0.5, 1])
@pytest.mark.parametrize("model", MODELS)
def test_packets_that_have_waited_since_before_the_log(model, unknown):
    check_packets(model, model, range(6), unknown)


@pytest.mark.slow
@pytest.mark.parametrize("fitted_by", MODELS)
@pytest.mark.parametrize("model", MODELS)
def test_the_least_jitter_of_a_hundred_executions_is_exact_by_the_solver(model, fitted_by):
    check_packets(model, fitted_by, range(100))


def sampled(model, log, jitter, at):
    """Whether the log, sampled at these ns, a step apart, is an execution by the model's own laws, with so many steps
    of jitter, at some link rate; the sender may pause in any step."""
    query = queries.make(model, "infinite", len(at), jitter=jitter, delay="executions")
    x = execution(query.model, len(at), query.buffer, query.jitter, pauses=True)
    per_byte = real("per_byte")
    checker = Checker()
    for law in query.laws(x):
        checker.add(law.formula)
    checker.add(per_byte > 0)
    sent, delivered = (np.searchsorted(column, at, side="right") for column in (log.sent, log.delivered))
    through = np.concatenate(([0], np.cumsum(log.size)))
    for t in range(len(at)):
        checker.add(equal(x.A[t], per_byte * int(through[sent[t]] - through[delivered[0]])))
        checker.add(equal(x.S[t], per_byte * int(through[delivered[t]] - through[delivered[0]])))
    return checker.check() == SAT


@isolated
def check_samples(model, seed):
    """With the jitter that the packets need and a packet's own time, as the models count bytes one by one, in steps of
    half of both, so of two steps, the samples are an execution; in longer steps of one where that is shorter than any
    step in which a packet is sent, as the models hide no token in a step without. Whether with one step less, too."""
    log = logged(simulated(model, seed, bdp=8, steps=16, fewest=4)).kept()
    jitter, rate = whole(log, model)
    part = rows(log, np.array([0]), np.array([len(log.sent)]))
    link = load_logs(load_definition("models", "MODEL", model))
    left = link.departures(part, np.array([1 / rate]))[0] if model == "cbr_delay" else part.sent[0]
    propagation = int((part.delivered[0] - left).min() * 1e9)
    needed = int((jitter + log.size.max() / rate) * 1e9) + 4
    step = max(needed // 2 + 1, int(np.diff(log.sent).max()))
    at = log.sent[len(log.sent) // 4] + step * np.arange(8)
    log = replace(log, delivered=log.delivered - propagation)
    steps = -(-needed // step)
    assert sampled(model, log, steps, at), seed
    return steps == 1 or sampled(model, log, steps - 1, at)


@pytest.mark.parametrize("model", MODELS[:2])
def test_samples_of_the_log_are_an_execution_of_the_model(model):
    """Where one step of jitter is not enough, the jitter that was found is not too much by half of it."""
    answers = [check_samples(model, seed) for seed in range(5)]
    assert False in answers


@pytest.mark.slow
@pytest.mark.parametrize("model, refused", [("cbr_delay", 20), ("ccac", 20), ("varying", 1)])
def test_samples_of_a_hundred_executions_are_executions_of_the_model(model, refused):
    assert [check_samples(model, seed) for seed in range(100)].count(False) >= refused
