"""The forms of JSON lines about written files and listed names (docs/reference/formats.md)."""

from fractions import Fraction

from ccmatic.records.codec import Record


class ExportLine(Record):
    """A file that `export` wrote."""

    controller: str
    target: str
    file: str


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
