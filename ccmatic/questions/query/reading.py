"""Read queries: from names and numbers in the notation of users, from records, and from TOML files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, absolute, blamed, definitions, line_of, load_toml, located_in, shown, suggest
from ccmatic.contracts import load_definition
from ccmatic.questions.query.network import Network
from ccmatic.questions.query.query import Query
from ccmatic.records import ABSENT, QueryRecord

#: The sections of a query file and the keys of each section. None stands for any key, such as parameters and records.
SECTIONS: dict[str, tuple[str, ...] | None] = {
    "network": ("model", "buffer", "horizon", "jitter", "delay"),
    "property": None,
    "guarantee": None,
    "template": ("name",),
    "expect": ("solutions",),
    "paper": None,
}

#: The forms in which callers may pass a query: a Query, a name in examples/queries, or the path of a file.
Asked = Query | Path | str


def read_query(query: Asked) -> Query:
    """Return the Query that a Query, a name or a path stands for. Raise InputError if no query is found."""
    if isinstance(query, str | Path):
        return load(query)
    if not isinstance(query, Query):
        raise InputError(f"{shown(query)} is no query; expected a Query, the name of one, or the path of its file")
    return query


def from_record(record: object, allow_code: bool = False) -> Query:
    """Return the query that a record describes: the sections `network` and `property`, flattened as in `Query.record`.

    Args:
        record: The record. A record is untrusted data, so it may name shipped definitions only.
        allow_code: Whether the record may also name the user's files, whose code then runs.

    Raises:
        InputError: If the record describes no query.
    """
    query_record = records.convert(record, QueryRecord, what="the record of the query")
    thresholds = dict(query_record.property)
    name = thresholds.pop("name", None)
    return make(
        query_record.model,
        query_record.buffer,
        query_record.horizon,
        None if query_record.jitter is ABSENT else query_record.jitter,
        query_record.delay or "published",
        name if name is None else str(name),
        thresholds,
        query_record.template or None,
        allow_code=allow_code,
        history=0 if query_record.history is ABSENT else query_record.history,
    )


@blamed()
def make(
    model: str | Path,
    buffer: str | int,
    horizon: int | str,
    jitter: int | str | None = None,
    delay: str = "published",
    property: str | None = None,
    thresholds: Mapping[str, Any] | None = None,
    template: str | None = None,
    allow_code: bool = True,
    history: int | str = 0,
    **about: Any,
) -> Query:
    """Make a query from names and numbers in the notation of users.

    Args:
        model: The name or path of a network model.
        buffer: The buffer as text, in the form that `contracts.Buffer.parse` reads.
        horizon: T, the number of points of a trace.
        jitter: D in steps; None stands for the model's default.
        delay: The laws of delay, as in Network.
        property: The name or path of a property; None stands for the default.
        thresholds: The thresholds of the property, by name.
        template: The name or path of a template, for synthesis.
        allow_code: Whether names may be paths of the user's own files, whose code is run.
        history: The number of steps before the start, as in Network.
        **about: The other fields of a Query.

    Raises:
        InputError: If a value is invalid.
    """
    loaded = load_definition("models", "MODEL", model, allow_code)
    network = Network(loaded, buffer, horizon, jitter, delay, absolute(model), history)
    if property is None:
        property = definitions.chosen("properties", "DEFAULT")
    kind = load_definition("properties", "PROPERTY", property, allow_code)
    shapes = load_definition("templates", "TEMPLATE", template, allow_code) if template else None
    names = {"property": absolute(property), "template": absolute(template)}
    return Query(network, kind.from_parameters(thresholds or {}, allow_code), shapes, names=names, **about)


def load(name: str | Path) -> Query:
    """Load the query that a TOML file defines.

    A user's query may name files with a model, a property and a template of the user. The paths of these files are
    relative to the query's folder, and their code is run.

    Args:
        name: The path of the file, or a name in examples/queries.

    Raises:
        InputError: If the file is no query. The error names the file and, if possible, the line.
    """
    path = definitions.find_file(["examples.queries"], name, ".toml")
    sections, text = load_toml(path, exactly=True)
    _check_keys(sections, text, str(path))
    network = dict(sections["network"])
    network["model"] = _beside(path, network["model"])
    with located_in(path, text, sections):
        property, thresholds = _property_of(sections, path)
        if "guarantee" in sections:
            network.setdefault("delay", "executions")
        return make(
            **network,
            property=property,
            thresholds=thresholds,
            template=_beside(path, sections.get("template", {}).get("name")),
            name=path.stem,
            expect=sections.get("expect", {}),
            paper=sections.get("paper", {}),
        )


def _property_of(sections: Mapping[str, Any], file: Path) -> tuple[Any, dict[str, Any]]:
    """Return the name of the property, and the thresholds of the property."""
    if "guarantee" in sections:
        if "property" in sections:
            raise InputError("found [property] and [guarantee]; expected one of them")
        return definitions.chosen("properties", "GUARANTEE"), dict(sections["guarantee"])
    thresholds = dict(sections.get("property", {}))
    return _beside(file, thresholds.pop("name", None)), thresholds


def _beside(file: Path, name: Any) -> Any:
    """Return a name unchanged. Convert a path relative to `file` to a path relative to the working folder."""
    return str(file.parent / name) if isinstance(name, str) and definitions.is_path(name) else name


def _check_keys(sections: Mapping[str, Any], text: str, file: str) -> None:
    for section, keys in sections.items():
        if section not in SECTIONS:
            message = f"unknown section [{section}]; {suggest(section, SECTIONS)}"
            raise InputError(message, file, line_of(text, section))
        if not isinstance(keys, dict):
            raise InputError(f"'{section}' is a value; expected a section [{section}]", file, line_of(text, section))
        allowed = SECTIONS[section]
        for key in keys:
            if allowed and key not in allowed:
                message = f"unknown key '{key}' in [{section}]; {suggest(key, allowed)}"
                raise InputError(message, file, line_of(text, key))
    for key in ("model", "buffer", "horizon"):
        if key not in sections.get("network", {}):
            raise InputError(f"expected '{key}' in the section [network]", file)
