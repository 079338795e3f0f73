"""Queries: a network, what a controller must ensure on it, and, to synthesise, what shapes it may take."""

import builtins
import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import language, records
from ccmatic.base import InputError, Unit, absolute, blamed, definitions, exact, located, read_text, shown, suggest
from ccmatic.contracts import (
    Bounds,
    Branch,
    Buffer,
    Execution,
    Kept,
    Law,
    Model,
    NetworkView,
    Property,
    Recorded,
    execution,
    load_definition,
    observed,
)
from ccmatic.logic import every, isolated
from ccmatic.records import ABSENT, QueryRecord

#: Every section of a query file and the keys that are read there; None: any key, for parameters and records.
SECTIONS: dict[str, tuple[str, ...] | None] = {
    "network": ("model", "buffer", "horizon", "jitter", "delay"),
    "property": None,
    "template": ("name",),
    "expect": ("solutions",),
    "paper": None,
}

#: The most steps of a trace, and the most bytes of a query file.
LONGEST, LARGEST = 1000, 2**18

#: `published`: with the laws of the published model that some executions break; `executions`: without.
DELAYS = ("published", "executions")


@dataclass(frozen=True, init=False, repr=False)
class Network:
    """A bottleneck, as people write it; what is kept is what they mean. Raises InputError.

    model: a name in models/, or the path of a file that defines a MODEL; kept as the Model.
    buffer: `infinite`, `any`, a size such as "1/2", or at least a size such as ">=1", in C·R_m; kept as a Buffer.
    horizon: steps of a trace, T; a step is R_m. jitter: D, in steps; None: the model's. delay: one of DELAYS.
    model_name: the model's name or absolute path, which records tell.

        Network("ccac", buffer="any", horizon=11)
    """

    model: Model
    buffer: Buffer
    horizon: int
    jitter: int
    delay: str
    model_name: str

    @blamed()
    def __init__(
        self,
        model: Model | str | Path,
        buffer: Buffer | str | int | Fraction,
        horizon: int | str,
        jitter: int | str | None = None,
        delay: str = "published",
        model_name: str | None = None,
    ) -> None:
        if isinstance(model, Model):
            loaded = model
        else:
            model_name, loaded = absolute(model), load_definition("models", "MODEL", model, allow_code=True)
        if model_name is None:
            raise InputError(f"the model is {shown(model)}; expected its name in models/ or the path of its file")
        jitter = loaded.default_jitter if jitter is None else _whole("jitter", jitter, 0)
        if loaded.default_jitter == 0 and jitter:
            raise InputError(f"the jitter is {jitter}; the {loaded.name} link has none, expected 0")
        if delay not in DELAYS:
            raise InputError(f"delay is '{delay}'; {suggest(delay, DELAYS)}")
        _keep(
            self,
            model=loaded,
            buffer=buffer if isinstance(buffer, Buffer) else Buffer.parse(buffer),
            horizon=_whole("horizon", horizon, jitter + 2),
            jitter=jitter,
            delay=delay,
            model_name=model_name,
        )

    def __repr__(self) -> str:
        about = f"{self.model_name!r}, buffer={str(self.buffer)!r}, horizon={self.horizon}, jitter={self.jitter}"
        return f"Network({about}, delay={self.delay!r})"


@dataclass(frozen=True, init=False, repr=False)
class Query:
    """What a controller must ensure on a network, and, to synthesise, what shapes it may take. Raises InputError.

    network: a Network. property: a name in properties/, by default the DEFAULT that is declared there (the synthesis
    invariant), or the path of a file that defines a PROPERTY; kept as the
    Property with the thresholds. template: a name in templates/, or the path of a file that defines a TEMPLATE; kept as
    the search space, a Branch, or None. names: of property and template, as records tell them.
    expect, paper: what is known of the answer, for tests and reports.
    thresholds: of the property; numbers are exact: an int, a Fraction or text such as "1/2".

        Query(Network("ccac", buffer="any", horizon=11), utilisation="1/2", template="two_branches")
    """

    network: Network
    property: Property
    template: Branch | None
    name: str
    names: dict[str, Any]
    expect: dict[str, Any]
    paper: dict[str, Any]

    @blamed()
    def __init__(
        self,
        network: Network,
        property: Property | str | Path | None = None,
        template: Branch | str | Path | None = None,
        name: str = "query",
        names: Mapping[str, Any] | None = None,
        expect: Mapping[str, Any] | None = None,
        paper: Mapping[str, Any] | None = None,
        **thresholds: Fraction | int | str,
    ) -> None:
        names = {"template": None, **(names or {})}
        if property is None:
            property = definitions.chosen("properties", "DEFAULT")
        if not isinstance(property, Property):
            kind = load_definition("properties", "PROPERTY", property, allow_code=True)
            names["property"], property = absolute(property), kind.from_parameters(thresholds, allow_code=True)
        elif thresholds:
            raise InputError(f"{', '.join(thresholds)} beside a property that has its thresholds; expected its name")
        elif "property" not in names:
            raise InputError(f"the property is {shown(property)}; expected its name in properties/ or its file's path")
        if not isinstance(template, Branch | None):
            names["template"] = absolute(template)
            template = load_definition("templates", "TEMPLATE", template, allow_code=True)
        kept = {"network": network, "property": property, "template": template, "name": name, "names": names}
        _keep(self, **kept, expect=expect or {}, paper=paper or {})
        if self.template:
            _check_units(self, self.template)

    @builtins.property
    def model(self) -> Model:
        """The network's Model."""
        return self.network.model

    @builtins.property
    def horizon(self) -> int:
        """Steps of a trace, T."""
        return self.network.horizon

    @builtins.property
    def buffer(self) -> Buffer:
        """The network's Buffer."""
        return self.network.buffer

    @builtins.property
    def jitter(self) -> int:
        """D, in steps."""
        return self.network.jitter

    def on(self, **changes: Any) -> "Query":
        """The same question about the network with changes, such as `horizon=5`."""
        return replace(self, network=replace(self.network, **changes))

    def searching(self, template: str | Path) -> "Query":
        """The same question about another search space: a name in templates/, or a file's path."""
        return Query(self.network, self.property, template, self.name, self.names)

    def __repr__(self) -> str:
        template = f", template={self.names['template']!r}" if self.template else ""
        thresholds = "".join(f", {name}={value!r}" for name, value in self.property.parameters().items())
        return f"Query({self.network!r}, {self.names['property']!r}{template}{thresholds})"

    def execution(self, bounds: Bounds = Bounds.MOVE, state: Sequence[Kept] = ()) -> Execution:
        """The unknowns of one trace. bounds: those of a way to fail; a deployed controller's may be false at first,
        and time out. state: of its controller."""
        return execution(self.model, self.horizon, self.buffer, self.jitter, self._bounds(bounds), state=state)

    def observed(self, trace: Recorded, reads: Collection[str] = (), state: Sequence[Kept] = ()) -> Execution:
        """A trace's numbers as an execution, with the beliefs named in `reads`. Raises InputError if one is missing."""
        bounds = self._bounds(Bounds.MOVE)
        try:
            return observed(self.model, self.buffer, self.jitter, trace, reads, bounds, state)
        except KeyError as error:
            raise InputError(f"the trace has no {error.args[0]}") from None

    def _bounds(self, bounds: Bounds) -> Bounds:
        if self.property.deployed and bounds is not Bounds.MOVE:
            name = self.property.name
            raise InputError(f"{name} is of deployed controllers; expected ways to fail whose bounds move")
        return Bounds.DEPLOYED if self.property.deployed else bounds

    def laws(self, x: NetworkView) -> Iterator[Law]:
        """The laws of the network, the sender and the measured delays."""
        yield from self.model.laws(x)
        if self.network.delay == "published":
            yield from self.model.assumptions(x)

    @isolated
    def encode(self) -> None:
        """Put all that is defined once of unknowns, which refuse what numbers would let pass: floats, and Python's own
        truth values. Raises InputError."""
        x = self.execution()
        formulas = [law.formula for law in (*self.laws(x), *self.model.belief_laws(x))]
        formulas += self.property.objectives(self.model, x).values()
        for way in self.property.ways_to_fail(self.model, self.buffer):
            formulas.append(way.formula(self.execution(way.bounds)))
        every(formulas)

    def units(self) -> dict[str, Unit | str]:
        """The unit of each belief, and of each observation, that a controller may read."""
        return {each.name: each.unit for each in (*self.model.beliefs, *self.model.observations.values())}

    def controller(self, given: Any) -> language.Controller | language.Stateful:
        """The controller that is meant (`language.given`), as this query's model lets it be."""
        return language.given(given, self.units(), self.model.observations)

    def read(self, source: str) -> language.Controller | language.Stateful:
        """The controller that a source defines, likewise."""
        return language.parse(source, beliefs=self.units(), observations=self.model.observations)

    def record(self) -> dict[str, Any]:
        """The query as text, for traces and generated files; `from_record` reads it."""
        record: dict[str, Any] = records.data(
            QueryRecord(
                model=self.network.model_name,
                horizon=str(self.horizon),
                buffer=str(self.buffer),
                jitter=str(self.jitter),
                delay=self.network.delay,
                property={"name": self.names["property"], **self.property.parameters()},
            )
        )
        return record

    def search(self) -> dict[str, Any]:
        """The record and the search space, as text: what a run of synthesis is about."""
        if self.template is None:
            raise InputError(f"{self.name} has no template, so nothing to search; expected one")
        holes = [[str(form) for form in hole] for hole in self.template.holes()]
        digest = hashlib.sha256(json.dumps(holes).encode()).hexdigest()
        return {**self.record(), "template": self.names["template"], "template_digest": digest}

    def __str__(self) -> str:
        record = self.record()
        thresholds = ", ".join(f"{name} {value}" for name, value in record.pop("property").items())
        return "; ".join([*(f"{name} {value}" for name, value in record.items()), f"property {thresholds}"])


def from_record(record: object, allow_code: bool = False) -> Query:
    """The query that `record` describes: sections `network` and `property`, flattened as in `Query.record`.

    A record is data: it names shipped definitions, others only if `allow_code`. Raises InputError.
    """
    asked = records.convert(record, QueryRecord, what="the record of the query")
    thresholds = dict(asked.property)
    return make(
        asked.model,
        asked.buffer,
        asked.horizon,
        None if asked.jitter is ABSENT else asked.jitter,
        asked.delay or "published",
        thresholds.pop("name", None),
        thresholds,
        asked.template or None,
        allow_code=allow_code,
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
    **about: Any,
) -> Query:
    """A query from names and numbers as people write them; one InputError where one of them will not do.

    allow_code: whether names may be paths of a person's own files, whose code is run."""
    loaded = load_definition("models", "MODEL", model, allow_code)
    network = Network(loaded, buffer, horizon, jitter, delay, absolute(model))
    if property is None:
        property = definitions.chosen("properties", "DEFAULT")
    kind = load_definition("properties", "PROPERTY", property, allow_code)
    shapes = load_definition("templates", "TEMPLATE", template, allow_code) if template else None
    names = {"property": absolute(property), "template": absolute(template)}
    return Query(network, kind.from_parameters(thresholds or {}, allow_code), shapes, names=names, **about)


def _keep(made: object, **fields: Any) -> None:
    """Set the fields of what is frozen."""
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def _check_units(query: Query, template: Branch) -> None:
    """Raise InputError if a form of the template does not have a unit, or reads what the model does not offer."""
    conditions = template.condition_holes()
    checked = set()
    for index, hole in enumerate(template.holes()):
        for form in hole:
            kind = index in conditions, tuple(term for term, _ in form.coefficients)
            if kind not in checked:
                checked.add(kind)
                body = f"if {form.positive()}: return 0\n    return 0" if kind[0] else f"return {form}"
                _parse(query, f"def rate({', '.join(sorted(form.names))}):\n    {body}\n")


def _parse(query: Query, source: str) -> None:
    try:
        language.parse(source, beliefs=query.units())
    except InputError as error:
        message = error.message.removesuffix(".")
        raise InputError(f"the template {query.names['template']} does not fit {query.model.name}: {message}") from None


def load(name: str | Path) -> Query:
    """The query in a TOML file, by path or by the name of one in examples/queries. A person's own query may name files
    with a model, a property and a template of their own, by paths from the query's folder: their code is run."""
    path = definitions.find_file(["examples.queries"], name, ".toml")
    text = read_text(path, LARGEST)
    try:
        with located(str(path)):
            sections = tomllib.loads(text, parse_float=lambda digits: exact(digits.replace("_", "")))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", str(path)) from None
    _check_keys(sections, text, str(path))
    network, thresholds = dict(sections["network"]), dict(sections.get("property", {}))
    network["model"] = _beside(path, network["model"])
    with located(str(path)):
        return make(
            **network,
            property=_beside(path, thresholds.pop("name", None)),
            thresholds=thresholds,
            template=_beside(path, sections.get("template", {}).get("name")),
            name=path.stem,
            expect=sections.get("expect", {}),
            paper=sections.get("paper", {}),
        )


def _beside(file: Path, name: Any) -> Any:
    """A name, or a path in `file` as one from here."""
    return str(file.parent / name) if isinstance(name, str) and definitions.is_path(name) else name


def _check_keys(sections: Mapping[str, Any], text: str, file: str) -> None:
    for section, keys in sections.items():
        if section not in SECTIONS:
            message = f"unknown section [{section}]; {suggest(section, SECTIONS)}"
            raise InputError(message, file, _line(text, section))
        if not isinstance(keys, dict):
            raise InputError(f"'{section}' is a value, expected a section [{section}]", file, _line(text, section))
        known = SECTIONS[section]
        for key in keys:
            if known and key not in known:
                message = f"unknown key '{key}' in [{section}]; {suggest(key, known)}"
                raise InputError(message, file, _line(text, key))
    for key in ("model", "buffer", "horizon"):
        if key not in sections.get("network", {}):
            raise InputError(f"expected '{key}' in the section [network]", file)


def _line(text: str, word: str) -> int | None:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[?\s*\"?{re.escape(word)}\b", line):
            return number
    return None


def _whole(name: str, value: object, least: int) -> int:
    try:
        number = exact(value)
    except InputError:
        number = -1
    if number.denominator != 1 or not least <= number <= LONGEST:
        raise InputError(f"the {name} is {shown(value)}; expected a whole number of steps, {least} to {LONGEST}")
    return int(number)
