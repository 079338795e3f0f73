"""The length of an exported sender's step: refused lengths, and 64-bit integers that never overflow."""

import ctypes
from fractions import Fraction
from functools import cache
from math import ceil, floor
from random import Random

import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.exporting import header
from ccmatic.deployment.exporting.targets import write
from ccmatic.worlds.runtime.library import Library, compile_c
from support.machine import needs_compiler
from support.sampling import each_nth

MS = 10**6
PACKET = 1500

pytestmark = needs_compiler


@cache
def built(name="cc_qdel", jitter="1"):
    return Library(header.make(name, jitter=jitter))


@pytest.mark.parametrize("rtt, packet", [(0, PACKET), (MS, 0), (2**34 + 1, PACKET), (2**64 - 1, PACKET)])
def test_a_sender_without_an_rtt_or_a_packet_is_refused(rtt, packet):
    with pytest.raises(InputError, match=f"R_m of {rtt} ns and packets of {packet} bytes"):
        built().sender(packet, rtt)


@pytest.mark.parametrize("length, taken", [(0, False), (2**44 + 1, False), (1, True), (MS, True)])
def test_a_step_of_no_length_is_refused(length, taken):
    sender = built().sender(PACKET, 10 * MS)
    assert sender.fix_step(length) == taken
    assert sender.rate(0) == min(2**64 - 1, 2 * PACKET * 10**9 // (length if taken else 20 * MS))


@pytest.mark.parametrize("jitter", ["0.333333333333", "1/16777216", "123.45678901", "1e-9"])
def test_a_jitter_of_too_many_digits_is_refused(jitter):
    with pytest.raises(InputError, match="too many digits.*as 1/3 has"):
        header.make("cc_qdel", jitter=jitter)


@pytest.mark.parametrize("jitter", each_nth(2, ["0", "1/3", "0.333333", "2.5", "1000"]))
@pytest.mark.parametrize("rtt", [1, 10**4, 2 * 10**9, 2**34])
def test_a_step_is_r_m_and_d_rounded_up(jitter, rtt):
    sender = built(jitter=jitter).sender(PACKET, rtt)
    step = ceil((1 + Fraction(jitter)) * rtt)
    assert sender.rate(0) == min(2**64 - 1, 2 * PACKET * 10**9 // step)


@pytest.mark.parametrize("rtt", [1, MS, 2**34])
def test_bursts_lengthen_every_step(rtt):
    """By the time that they take, which R_m does not change."""
    sender = built().sender(PACKET, rtt)
    sender.more_jitter(MS)
    assert sender.step_ns == 2 * rtt + MS
    sender.rtt(rtt // 4 or 1)
    for _ in range(40):
        sender.rate(40 * sender.step_ns)
        sender.rtt(rtt // 4 or 1)
    assert sender.step_ns in (2 * rtt + MS, 2 * (rtt // 4 or 1) + MS)


def scaled(folder):
    """ccm_scaled, by way of a function that is not inline."""
    write(header.make("cc_qdel"), "c", folder)
    (folder / "scaled.c").write_text(SCALED)
    compile_c(["-std=c99", "-shared", "-fPIC", "-o", str(folder / "scaled.so"), str(folder / "scaled.c")])
    function = ctypes.CDLL(str(folder / "scaled.so")).scaled
    function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_uint64] * 3 + [ctypes.c_bool]
    return function


SCALED = """
#include "cc_qdel.h"

uint64_t scaled(uint64_t amount, uint64_t times, uint64_t over, bool up);

uint64_t scaled(uint64_t amount, uint64_t times, uint64_t over, bool up)
{
    return ccm_scaled(amount, times, over, up);
}
"""


def test_products_of_more_than_64_bits_are_exact(tmp_path):
    """Up to 2^38 bytes per step and steps of 2^44 ns, division in parts gives the results of Python."""
    function, rng = scaled(tmp_path), Random(1)
    for _ in range(20000):
        amount, times, over = (rng.randint(1, 2 ** rng.randint(1, bits)) for bits in (50, 45, 46))
        exact = Fraction(amount * times, over)
        if exact < 2**63:
            assert function(amount, times, over, False) == floor(exact)
            assert function(amount, times, over, True) == ceil(exact)
        else:
            assert function(amount, times, over, False) >= 2**63
    assert function(2**38, 10**9, 1, False) == 2**64 - 1
