"""Write the files of an export for a target to a folder."""

from pathlib import Path

from ccmatic.base import InputError, installed, shown, suggest, writable_folder, write_text
from ccmatic.deployment.exporting import targets
from ccmatic.worlds.runtime import library_sources


def _bpf(export):
    return _around("bpf", export)


def _udp(export):
    return _around("udp", export)


def _around(target, export):
    header = export.header()
    return {f"{export.name}.h": header, **targets.sources(target, export, header)}


#: For each target, a function from an Export to the texts of the target's files, by file name. Other packages add
#: targets by entry points in the group `ccmatic.targets`.
TARGETS = {"c": library_sources, "bpf": _bpf, "udp": _udp}


def names():
    return [*TARGETS, *installed.points("targets", TARGETS)]


def write(export, target, folder) -> list[Path]:
    """Write the files of an export for a target, one of `names()`, to a folder, and return their paths.

    If the target does not support the controller, no file is written.
    """
    texts = _maker(target)(export)
    for name in texts:
        if name != Path(name).name or not isinstance(texts[name], str):
            raise InputError(
                f"the target {target} gives a file {shown(name)}; expected the text of a file in the folder"
            )
    folder = writable_folder(folder)
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _maker(target):
    if target in TARGETS:
        return TARGETS[target]
    added = installed.points("targets", TARGETS)
    if target not in added:
        raise InputError(f"there is no target '{shown(target)}'; {suggest(shown(target), [*TARGETS, *added])}")
    return installed.load(added[target])
