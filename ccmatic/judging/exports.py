"""Controllers, envelopes and policies of ccmatic as shared libraries, whose functions controller.h declares."""

from pathlib import Path
from typing import Any

from ccmatic.base import InputError, read_text
from ccmatic.deployment import exporting, policies
from ccmatic.judging import builds
from ccmatic.judging.subjects import GUARD
from ccmatic.worlds.runtime import shipped

#: The ways to choose a rate in an envelope: its highest, its lowest, or a new one in each step, drawn by the seed.
CHOICES = ("upper", "lower", "drawn")

#: The C code around an exported header.
_AROUND = Path(__file__).parent / "adaptors" / "controllers" / "exported.c"

#: The library of exported policies, which count no application limits.
_POLICY = "policy_library.c"


class Exported:
    """A controller of ccmatic that becomes a shared library.

    Attributes:
        controller: The name of the controller.
        argument: The argument of controller_new.
    """

    def __init__(self, file: str, choice: str | None) -> None:
        self._export = export = _export(file)
        envelope = bool(getattr(export, "is_envelope", False)) and export.library != _POLICY and not _guided(export)
        if envelope and choice not in CHOICES:
            options = " or ".join(f"{file}:{each}" for each in CHOICES)
            raise InputError(f"{export.name} is an envelope, which leaves a choice of rates; expected {options}")
        if choice and not envelope:
            raise InputError(f"{export.name} is no envelope; expected {file} alone, found {file}:{choice}")
        self.controller: str = export.name
        self.argument = choice or self.controller

    def library(self) -> Path:
        """Return the shared library, from the cache if it is there."""
        name, around = self.controller, read_text(_AROUND).replace("NAME", self.controller)
        limits = "" if self._export.library == _POLICY else "#define ALONE_LIMITED\n"
        sources = {f"{name}.c": limits + around, f"{name}.h": self._export.header(), "draw.h": shipped("draw.h")}
        return builds.shared_library(name, sources) / f"{name}.so"


def _guided(export: Any) -> bool:
    """Return whether a network chooses the rate in the envelope."""
    return isinstance(export, policies.GuidedExport)


def _export(file: str) -> Any:
    guard, _, text = file.partition(":")
    if guard == GUARD:
        return policies.guarded(text)
    if Path(file).suffix == ".json":
        return policies.exported(policies.load(file))
    return exporting.make(file, guarding=True)
