"""The sources around a controller's header: over UDP, and for the kernel as a BPF program."""

from hashlib import sha256
from importlib import resources

_FILES = {
    "udp": ("udp.h", "log.h", "policy.h", "udp_sender.c", "udp_receiver.c"),
    "bpf": ("kernel.h", "loader.c", "log.h"),
}

#: What the kernel can run within an envelope: its name there, and what calls it.
AROUND = {
    "cubic": ("around_cubic.h", "by_window.h"),
    "bbr": ("around_bbr.h",),
    "reno": ("around_reno.h", "by_window.h"),
}


def sources(target, export, header):
    """The texts of a target's files but for NAME.h, by file name. target: `udp` or `bpf`; header: the text of
    NAME.h."""
    name, texts = export.name, {file: _shipped(file) for file in _FILES[target]}
    if target == "bpf":
        program, *included = export.kernel_program
        texts["@NAME@.bpf.c"] = _shipped(program).replace("@AROUND@", export.around or "")
        texts |= {file: _shipped(file) for file in included}
    texts["Makefile"] = _shipped("Makefile.in")
    tcp_name = kernel_name(name, "".join([header, *texts.values()]))
    return {_filled(file, name, tcp_name): _filled(text, name, tcp_name) for file, text in texts.items()}


def kernel_name(name, code):
    """What the code of a controller is called in the kernel, which takes 15 characters: no two codes alike."""
    return f"{name[:7]}_{sha256(code.encode()).hexdigest()[:7]}"


def _shipped(file):
    return resources.files(__name__).joinpath(file).read_text(encoding="utf-8")


def _filled(text, name, tcp_name):
    return text.replace("@NAME@", name).replace("@TCP_NAME@", tcp_name)
