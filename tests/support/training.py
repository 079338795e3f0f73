"""Trainings of learners that are cut off and resumed."""

from importlib import import_module

import pytest

from ccmatic.learning import agents


class Killed(Exception):
    """What ends a training."""


def cut_off(monkeypatch, training, seed, out, episode):
    """Train until this episode, where the process ends; each episode before leaves a checkpoint."""
    monkeypatch.setattr(import_module("ccmatic.learning.agents.train"), "EVERY", -1)

    def told(line):
        if line.episode == episode:
            raise Killed

    with pytest.raises(Killed):
        agents.train(training, out, seed=seed, told=told)


def resumed(training, seed, out):
    """The lines of the episodes that the same training, called again, still does."""
    remaining = []
    agents.train(training, out, seed=seed, told=remaining.append)
    return remaining
