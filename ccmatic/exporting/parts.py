"""What all headers are made of: a title, constants, and how long things may take."""

from textwrap import fill

from ccmatic import __version__
from ccmatic.base import InputError, c_comment
from ccmatic.runtime import LONGEST_RTT, LONGEST_STEP


def title(name, what, source, proved=""):
    """The beginning of NAME.h: what it was made for, and of; proved: what is proved of it, in paragraphs."""
    guard = f"CCM_{name.upper()}_H"
    made = f"{name}: exported by ccmatic {__version__} for {what}, from"
    promises = "".join(f"\n\n{fill(part, 100)}" for part in filter(None, proved.split("\n\n")))
    lines = [c_comment(f"{made}\n\n{source.strip()}{promises}"), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#ifndef CCM_KERNEL", *(f"#include <{file}.h>" for file in ("stdbool", "stdint", "string")), "#endif"]
    return "\n".join([*lines, ""])


def constants(name, values):
    """Constants by name, each with its value and maybe a comment, and those that every header has."""
    every = {
        "CCM_NAME": f'"{name}"',
        "CCM_LONGEST_RTT": f"{power(LONGEST_RTT)} /* of R_m, ns */",
        "CCM_LONGEST_STEP": f"{power(LONGEST_STEP)} /* ns */",
    }
    return "".join(f"#define {constant} {value}\n" for constant, value in {**every, **values}.items())


def no_fractions(name):
    """The InputError of a program for the kernel that computes in floats."""
    return InputError(f"{name} computes with fractions, which the kernel has not; expected --target udp or c")


def power(value):
    """A power of two in C."""
    return f"(UINT64_C(1) << {value.bit_length() - 1})"
