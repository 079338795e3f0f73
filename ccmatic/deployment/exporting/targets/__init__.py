"""The sources that use a controller's header: programs over UDP, and a BPF program for the kernel."""

from hashlib import sha256
from importlib import resources

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
