"""The files of an export, by target, written to a folder."""

from importlib import resources

from ccmatic.base import writable_folder, write_text
from ccmatic.export import targets

TARGETS = ("c", "bpf", "udp")


def write(export, target, folder):
    """Write the files of an Export for one of the TARGETS; their paths. Raises InputError, before any is written, for
    what C cannot hold."""
    texts = {f"{export.name}.h": export.header(), **_SOURCES[target](export)}
    folder = writable_folder(folder)
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _c(export):
    return {f"{export.name}.c": shipped("c", "library.c").replace("NAME", export.name)}


def _bpf(export):
    return targets.sources("bpf", export.name)


def _udp(export):
    return targets.sources("udp", export.name)


_SOURCES = {"c": _c, "bpf": _bpf, "udp": _udp}


def shipped(*parts):
    """The text of a file that is shipped with the exporter."""
    return resources.files("ccmatic.export").joinpath(*parts).read_text(encoding="utf-8")
