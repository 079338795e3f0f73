"""Adaptors. Each folder connects another project's stack to the path in virtual time, and builds this stack."""

import re
from pathlib import Path

from ccmatic.base import InputError, read_text, shown, writable_folder, write_text

#: The folder with the sources. A file has the same relative path in the new folder.
FOLDER = Path(__file__).parent

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}", re.ASCII)


def new_adaptor(name: str, language: str) -> list[Path]:
    """Write the sources of a small controller to a new folder, as a start for code to judge.

    Args:
        name: The folder. Its last part names the controller.
        language: `rust`, `go`, `c` or `python`.

    Returns:
        The written files.

    Raises:
        InputError: If the folder exists or cannot be written, or its name is invalid.
    """
    if Path(name).name and Path(name).exists():
        raise InputError(f"{name} exists; expected a new name")
    folder = Path(name)
    if not _NAME.fullmatch(folder.name):
        raise InputError(f"'{shown(folder.name)}' is no name of a controller; expected small letters, such as 'toy'")
    template = FOLDER / f"scaffold_{language}"
    files = sorted(file for file in template.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    made = []
    for file in files:
        target = folder / file.relative_to(template)
        writable_folder(target.parent)
        write_text(target, read_text(file).replace('"toy"', f'"{folder.name}"'))
        made.append(target)
    return made
