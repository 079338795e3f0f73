"""The parts that all headers share: the title, the constants, and the largest times."""

from textwrap import fill

from ccmatic import __version__
from ccmatic.base import InputError, c_comment
from ccmatic.worlds.runtime import LONGEST_RTT, LONGEST_STEP


def title(name, what, source, proved=""):
    """Return the text at the beginning of NAME.h. `proved` has paragraphs about guarantees."""
    guard = f"CCM_{name.upper()}_H"
    made = f"{name}: exported by ccmatic {__version__} for {what}, from"
    promises = "".join(f"\n\n{fill(part, 100)}" for part in filter(None, proved.split("\n\n")))
    lines = [c_comment(f"{made}\n\n{source.strip()}{promises}"), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#ifndef CCM_KERNEL", *(f"#include <{file}.h>" for file in ("stdbool", "stdint", "string")), "#endif"]
    return "\n".join([*lines, ""])


def constants(name, values):
    """Return the C definitions of constants, including those of every header. A value may end with a comment."""
    every = {
        "CCM_NAME": f'"{name}"',
        "CCM_LONGEST_RTT": f"{power(LONGEST_RTT)} /* the longest R_m, ns */",
        "CCM_LONGEST_STEP": f"{power(LONGEST_STEP)} /* the longest step, ns */",
    }
    return "".join(f"#define {constant} {value}\n" for constant, value in {**every, **values}.items())


def no_fractions(name):
    return InputError(f"{name} computes with fractions, which the kernel does not support; expected --target udp or c")


def power(value):
    return f"(UINT64_C(1) << {value.bit_length() - 1})"
