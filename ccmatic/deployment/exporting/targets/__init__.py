"""What all exports share: the parts of their headers, and the files of each target.

The C sources of the targets are beside this file: programs over UDP, and a BPF program for the kernel.
"""

from functools import partial
from hashlib import sha256
from importlib import resources
from pathlib import Path
from textwrap import fill

from ccmatic import __version__
from ccmatic.base import InputError, c_comment, installed, shown, suggest, writable_folder, write_text
from ccmatic.worlds.runtime import LONGEST_RTT, LONGEST_STEP, library_sources


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


_FILES = {
    "udp": ("udp.h", "log.h", "policy.h", "udp_sender.c", "udp_receiver.c"),
    "bpf": ("kernel.h", "loader.c", "log.h"),
}

#: The congestion controls of the kernel that can run within an envelope, each with the files that call it.
AROUND = {
    "cubic": ("around_cubic.h", "by_window.h"),
    "bbr": ("around_bbr.h",),
    "reno": ("around_reno.h", "by_window.h"),
}


def sources(target, export, header):
    """Return the texts of a target's files, except NAME.h, by the names of the files."""
    name, texts = export.name, {file: _read_source(file) for file in _FILES[target]}
    if target == "bpf":
        program, *included = export.kernel_program
        texts["@NAME@.bpf.c"] = _read_source(program).replace("@AROUND@", export.around or "")
        texts |= {file: _read_source(file) for file in included}
    texts["Makefile"] = _read_source("Makefile.in")
    tcp_name = kernel_name(name, "".join([header, *texts.values()]))
    return {_fill(file, name, tcp_name): _fill(text, name, tcp_name) for file, text in texts.items()}


def kernel_name(name, code):
    """Return the kernel's name for a controller's code, which has at most 15 characters.

    The name contains a hash of the code, so that different codes have different names.
    """
    return f"{name[:7]}_{sha256(code.encode()).hexdigest()[:7]}"


def _read_source(file):
    return resources.files(__name__).joinpath(file).read_text(encoding="utf-8")


def _fill(text, name, tcp_name):
    return text.replace("@NAME@", name).replace("@TCP_NAME@", tcp_name)


def _with_header(target, export):
    header = export.header()
    return {f"{export.name}.h": header, **sources(target, export, header)}


#: For each target, a function from an Export to the texts of the target's files, by file name. Other packages add
#: targets by entry points in the group `ccmatic.targets`.
TARGETS = {"c": library_sources, "bpf": partial(_with_header, "bpf"), "udp": partial(_with_header, "udp")}


def names():
    return [*TARGETS, *installed.points("targets", TARGETS)]


def write(export, target, folder) -> list[Path]:
    """Write the files of an export for a target, one of `names()`, to a folder, and return their paths.

    If the target does not support the controller, no file is written.
    """
    make = TARGETS.get(target)
    if make is None:
        added = installed.points("targets", TARGETS)
        if target not in added:
            raise InputError(f"there is no target '{shown(target)}'; {suggest(shown(target), [*TARGETS, *added])}")
        make = installed.load(added[target])
    texts = make(export)
    for name, text in texts.items():
        if name != Path(name).name or not isinstance(text, str):
            problem = f"the target {target} gives a file {shown(name)}"
            raise InputError(f"{problem}; expected the text of a file in the folder")
    folder = writable_folder(folder)
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]
