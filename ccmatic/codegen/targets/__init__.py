"""The sources around a controller's header: over UDP, and for the kernel as a BPF program."""

from importlib import resources

_FILES = {
    "udp": {"udp.h": "udp.h", "udp_sender.c": "udp_sender.c", "udp_receiver.c": "udp_receiver.c"},
    "bpf": {"@NAME@.bpf.c": "bpf.c"},
}


def sources(target, name):
    """The texts of a target's files but for NAME.h, by file name. target: `udp` or `bpf`; name: of the controller."""
    files = _FILES[target] | {"Makefile": "Makefile.in"}
    return {_filled(file, name): _filled(_shipped(kept), name) for file, kept in files.items()}


def kernel_name(name):
    """What a controller is called in the kernel, which takes 15 characters."""
    return f"ccm_{name}"[:15]


def _shipped(file):
    return resources.files(__name__).joinpath(file).read_text(encoding="utf-8")


def _filled(text, name):
    return text.replace("@NAME@", name).replace("@TCP_NAME@", kernel_name(name))
