"""Buffers in BDP and jitter in round trips, wherever a network is named."""

import json
from fractions import Fraction

import pytest

from ccmatic.base import InputError
from ccmatic.deployment.emulation import of_texts
from ccmatic.deployment.exporting import make
from ccmatic.questions import describe, place
from ccmatic.questions.query import Network
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


@pytest.mark.parametrize("size, exact", [("1.5 b", "3/2"), ("2.0005 kb", "4001/2"), ("1000/3 b", "1000/3")])
def test_the_size_of_a_buffer_is_exact(size, exact):
    """Half a byte was dropped."""
    placed = place(describe(f"24 mbit, rtt 40 ms, buffer {size}"), True, 1)
    assert placed.network.buffer.size == Fraction(exact) / 120_000


@pytest.mark.parametrize(
    "size, bytes_", [("100 packets", 150_000), (">= 1/2 packet", 750), ("3 packets, packet 1000", 3000)]
)
@pytest.mark.parametrize("by_window", [True, False])
def test_packets_of_a_buffer_have_the_size_of_the_path(size, bytes_, by_window):
    sign = ">=" * size.startswith(">=")
    packet = ", packet 1000" * ("packet 1000" in size)
    in_packets, in_bytes = (
        place(describe(f"24 mbit, rtt 40 ms, buffer {text}, jitter 4 ms"), by_window, 1)
        for text in (size, f"{sign}{bytes_} b{packet}")
    )
    assert in_packets == in_bytes


def test_a_buffer_of_the_emulator_is_whole_bytes():
    """A fraction of a BDP is rounded down, and the answer states the bytes. A fraction of a byte is refused."""
    assert of_texts("24mbit", "40ms", "1/7bdp").buffer == 17142
    with pytest.raises(InputError, match="the buffer '20.0005 kb' is 20000.5 bytes; expected a whole number of bytes"):
        of_texts("24mbit", "40ms", "20.0005 kb")


def test_units_in_commands(tmp_path):
    asked = ["verify", "always_double", "--model", "ccac", "--horizon", "5", "--json"]
    code, out, _ = run(*asked, "--buffer", "1 bdp", "--jitter", "1 rtt", cwd=tmp_path)
    query = json.loads((tmp_path / lines(out)[0]["trace"]).read_text())["query"]
    assert code == 1 and (query["buffer"], query["jitter"]) == ("1", "1")
    assert make("cc_qdel", jitter="1/2 rtt").jitter == make("cc_qdel", jitter="1/2").jitter
    assert of_texts("24mbit", "40ms", "2 bdp", "1/2 rtt") == of_texts("24mbit", "40ms", "2bdp", "20ms")
