"""Records: the shape of everything that is written for ccmatic or for other programs, and its codec."""

from ccmatic.records.codec import ABSENT, Absent, Record, convert, data, line, read, require_format
from ccmatic.records.files import (
    AnswerRecord,
    CertificateFile,
    ConstantRecord,
    ControllerRecord,
    ProofFile,
    QueryRecord,
    RunAbout,
    RunEvent,
    SolutionsFile,
    TraceFile,
)

__all__ = [
    "ABSENT",
    "Absent",
    "AnswerRecord",
    "CertificateFile",
    "ConstantRecord",
    "ControllerRecord",
    "ProofFile",
    "QueryRecord",
    "Record",
    "RunAbout",
    "RunEvent",
    "SolutionsFile",
    "TraceFile",
    "convert",
    "data",
    "line",
    "read",
    "require_format",
]
