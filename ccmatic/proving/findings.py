"""The findings of the check of a saved proof."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ccmatic.base import markup

ACCEPTED, REJECTED, UNKNOWN = "accepted", "rejected", "unknown"


@dataclass(frozen=True)
class Finding:
    """One result of the check.

    Attributes:
        about: The subject of the check: a lemma, the edge of a constant, or another entry of the file.
        fault: A description of the mistake, or None.
        how: A description of the method of the check.
        checked: False if the check trusts this entry. In this case, `how` describes the entry.
        unknown: Whether the only fault is a timeout of a solver.
    """

    about: str
    fault: str | None
    how: str = ""
    checked: bool = True
    unknown: bool = False


class Check:
    """A running check of a proof.

    Iterate over a Check to get each Finding as soon as the check makes it. The property `verdict` completes the check.
    An error ends the check. `result` is the data that is checked: the Result of a proof, an invariant, or several
    proofs. `file` names the files of data other than a Result.
    """

    def __init__(self, result: Any, findings: Iterator[Finding], file: str | None = None):
        self.result = result
        self._file = result.file if file is None else file
        self._remaining = findings
        self._findings_so_far: list[Finding] = []

    def __iter__(self) -> Iterator[Finding]:
        yield from self._findings_so_far
        for finding in self._remaining:
            self._findings_so_far.append(finding)
            yield finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings. Reading this property completes the check."""
        return tuple(self)

    @property
    def verdict(self) -> str:
        """ACCEPTED, REJECTED, or UNKNOWN if the only faults are timeouts of solvers."""
        faults = [finding for finding in self if finding.fault]
        return ACCEPTED if not faults else UNKNOWN if all(finding.unknown for finding in faults) else REJECTED

    def __repr__(self) -> str:
        verdict = f"{self.verdict}" if self._findings_so_far else "not begun"
        return f"<check of {self._file}: {verdict}>"

    def _repr_html_(self) -> str:
        rows = [(finding.about, finding.fault or finding.how, finding.checked) for finding in self]
        return markup.paragraphs([f"{self._file}: {self.verdict}"]) + markup.table(("about", "found", "checked"), rows)
