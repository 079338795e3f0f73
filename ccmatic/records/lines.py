"""The forms of JSON lines about written files and listed names (docs/reference/formats.md)."""

from fractions import Fraction

from ccmatic.records.codec import Record
from ccmatic.records.files import Verdict


class ExportLine(Record):
    """A file that `export` wrote."""

    controller: str
    target: str
    file: str


class DecisionLine(Record):
    """The line that `verify` prints for a network and a property of one decision.

    Attributes:
        network: The network's file.
        property: The property's file.
        verdict: Whether the property holds. The verdict is `unknown` if the search timed out.
        inputs: The exact inputs of a counterexample; null if there is no counterexample.
        outputs: The exact outputs for these inputs; null if there is no counterexample.
        branches: The number of branches that the search examined.
    """

    network: str
    property: str
    verdict: Verdict
    seconds: float
    inputs: list[Fraction] | None
    outputs: list[Fraction] | None
    branches: int


class TraceExportLine(Record):
    """The line that `trace export` prints."""

    trace: str
    format: str
    file: str
    rate_bytes_per_s: Fraction
    rtt_s: Fraction
    packet_bytes: int
    notes: list[str]


class EntryLine(Record):
    """An entry in the output of `list`.

    Attributes:
        says: The first sentence of the entry's file.
    """

    kind: str
    name: str
    says: str


class FigureLine(Record):
    """A figure in the output of `evaluate`."""

    figure: str
