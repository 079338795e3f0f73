"""JSON Schemas of all records. `python -m ccmatic.records.schemas FOLDER` writes one file per record."""

import json
import sys
from fractions import Fraction
from inspect import cleandoc
from pathlib import Path
from typing import Any

from msgspec.json import schema

from ccmatic.base import writable_folder, write_text
from ccmatic.records import files, fits, judging, measures, policies, proofs, searches, tradeoff, verdicts

#: The records that describe a whole file or a row of a table. Other records of these modules occur only within these
#: records.
FILES = (
    files.TraceFile,
    files.WorkbenchFile,
    files.RunAbout,
    files.RunEvent,
    files.ProofFile,
    files.RoundsFile,
    files.CertificateFile,
    files.InvariantFile,
    files.EnclosedFile,
    files.FirstStepsFile,
    files.SolutionsFile,
    files.WideningFile,
    measures.MeasuresFile,
    measures.ResultRecord,
    policies.PolicyFile,
    policies.AdversaryFile,
    judging.ScenarioFile,
    judging.WitnessFile,
    judging.SearchHead,
    judging.SearchRun,
)
LINES = tuple(
    kind
    for module in (verdicts, searches, proofs, fits, measures, policies, tradeoff, judging)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__name__.endswith("Line")
)


def schemas() -> dict[str, dict[str, Any]]:
    return {kind.__name__: _schema(kind) for kind in (*FILES, *LINES)}


def _schema(kind: type[Any]) -> dict[str, Any]:
    made = json.loads(json.dumps(schema(kind, schema_hook=_exact)), object_hook=_dedented)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _dedented(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a schema without indentation. Before 0.23, msgspec kept that of docstrings."""
    description = part.get("description")
    return {**part, "description": cleandoc(description)} if isinstance(description, str) else part


def _exact(kind: type[Any]) -> dict[str, Any]:
    if kind is not Fraction:
        raise NotImplementedError(kind)
    return {"type": ["string", "integer"], "description": 'an exact number, such as "3/10"'}


def write(folder: str | Path) -> None:
    for name, made in schemas().items():
        write_text(writable_folder(folder) / f"{name}.json", json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    write(sys.argv[1])
