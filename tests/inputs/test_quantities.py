"""Quantities: read exactly, or refused with one message."""

from fractions import Fraction

import pytest

from ccmatic.base import quantities
from ccmatic.base.errors import InputError


@pytest.mark.parametrize(
    "text, value",
    [
        ("24mbit", 3_000_000),
        ("1/2 gbit", 62_500_000),
        ("1.5kbit", Fraction(375, 2)),
        ("8bit", 1),
        ("24Mbit", 3_000_000),
    ],
)
def test_rates(text, value):
    assert quantities.rate(text) == value


@pytest.mark.parametrize(
    "text, value", [("40ms", "1/25"), ("2.5s", "5/2"), ("7us", "7/1000000"), ("1ns", "1/1000000000"), ("0s", 0)]
)
def test_durations(text, value):
    assert quantities.duration(text) == Fraction(value)


@pytest.mark.parametrize(
    "text, value",
    [("30000", 30000), ("30kb", 30000), ("2bdp", 200), ("1/4bdp", 25), ("1/3bdp", "100/3"), ("1.5b", "3/2")],
)
def test_sizes(text, value):
    assert quantities.size(text, 100) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "24",
        "mbit",
        "-1mbit",
        "24mbits",
        "0mbit",
        "0/5mbit",
        "1/0mbit",
        "1/2.5mbit",
        "1e6bit",
        "٣mbit",
        "9" * 99 + "bit",
    ],
)
def test_bad_rates(text):
    with pytest.raises(InputError):
        quantities.rate(text)


@pytest.mark.parametrize("text", ["", "40", "-1ms", "40min", "1/0s", "inf"])
def test_bad_durations(text):
    with pytest.raises(InputError, match="duration|divides"):
        quantities.duration(text)


@pytest.mark.parametrize("text", ["", "0", "0bdp", "-2", "0.0kb", "3 bdps", "1/0bdp"])
def test_bad_sizes(text):
    with pytest.raises(InputError, match="size|divides"):
        quantities.size(text, 100)
