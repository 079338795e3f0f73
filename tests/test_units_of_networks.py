"""Buffers in BDP and jitter in round trips, wherever a network is named."""

import json

import pytest

from ccmatic.base import InputError
from ccmatic.emulation import of_texts
from ccmatic.exporting import make
from ccmatic.query import Network
from support.cli import lines, run


@pytest.mark.parametrize("buffer, jitter", [("2 bdp", "1 rtt"), ("2bdp", "1rtt"), (" 2 ", "1")])
def test_units_of_a_network(buffer, jitter):
    network = Network("ccac", buffer, 5, jitter)
    assert (str(network.buffer), network.jitter) == ("2", 1)
    assert str(Network("ccac", f">={buffer.strip()}", 5).buffer) == ">=2"


def test_a_round_trip_of_several_steps():
    """A BDP and a round trip take as many steps as the model's R_m."""
    network = Network("ccac2021:R=2", "3 bdp", 9, "1 rtt")
    assert (str(network.buffer), network.jitter) == ("6", 2)


@pytest.mark.parametrize("jitter, expected", [("4 ms", "--on"), ("1/2 rtt", "whole number of steps"), ("1 bdp", "bdp")])
def test_a_jitter_that_is_none(jitter, expected):
    with pytest.raises(InputError, match=expected):
        Network("ccac", "any", 5, jitter)


def test_units_in_commands(tmp_path):
    asked = ["verify", "always_double", "--model", "ccac", "--horizon", "5", "--json"]
    code, out, _ = run(*asked, "--buffer", "1 bdp", "--jitter", "1 rtt", cwd=tmp_path)
    query = json.loads((tmp_path / lines(out)[0]["trace"]).read_text())["query"]
    assert code == 1 and (query["buffer"], query["jitter"]) == ("1", "1")
    assert make("cc_qdel", jitter="1/2 rtt").jitter == make("cc_qdel", jitter="1/2").jitter
    assert of_texts("24mbit", "40ms", "2 bdp", "1/2 rtt") == of_texts("24mbit", "40ms", "2bdp", "20ms")
