"""The C sources of the runtime, which surround a generated header."""

from importlib import resources

#: The longest R_m in ns, and the longest step in ns. The longest step has the longest R_m and the largest jitter.
LONGEST_RTT, LONGEST_STEP = 2**34, 2**44


def shipped(name):
    return resources.files("ccmatic.worlds.runtime").joinpath(name).read_text(encoding="utf-8")


def include_folder():
    return resources.files("ccmatic.worlds.runtime")


def library_sources(export):
    """Return NAME.h and NAME.c of an exported sender with one function for each event, by file name."""
    return {
        f"{export.name}.h": export.header(),
        f"{export.name}.c": "\n".join(map(shipped, ("events.c", export.library))).replace("NAME", export.name),
    }
