"""A query: a network, what a controller must ensure on it, and, to synthesise, what shapes it may take."""

import builtins
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import controllers, records
from ccmatic.base import InputError, Unit, absolute, blamed, definitions, shown
from ccmatic.contracts import (
    Bounds,
    Buffer,
    Execution,
    Kept,
    Law,
    Model,
    NetworkView,
    Property,
    Recorded,
    Template,
    execution,
    load_definition,
    observed,
)
from ccmatic.logic import every, isolated
from ccmatic.query.network import Network, set_fields
from ccmatic.records import QueryRecord

#: What decides for the flows of a path.
Decides = controllers.Controller | controllers.Stateful | controllers.Several


@dataclass(frozen=True, init=False, repr=False)
class Query:
    """What a controller must ensure on a network, and, to synthesise, what shapes it may take. Raises InputError.

    network: a Network. property: a name in properties/, by default the DEFAULT that is declared there (the synthesis
    invariant), or the path of a file that defines a PROPERTY; kept as the
    Property with the thresholds. template: a name in templates/, or the path of a file that defines a TEMPLATE; kept as
    the search space, a Template, or None. names: of property and template, as records tell them.
    expect, paper: what is known of the answer, for tests and reports.
    thresholds: of the property; numbers are exact: an int, a Fraction or text such as "1/2".

        Query(Network("ccac", buffer="any", horizon=11), utilisation="1/2", template="two_branches")
    """

    network: Network
    property: Property
    template: Template[Any] | None
    name: str
    names: dict[str, Any]
    expect: dict[str, Any]
    paper: dict[str, Any]

    @blamed()
    def __init__(
        self,
        network: Network,
        property: Property | str | Path | None = None,
        template: Template[Any] | str | Path | None = None,
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
        if not isinstance(template, Template | None):
            names["template"] = absolute(template)
            template = load_definition("templates", "TEMPLATE", template, allow_code=True)
        kept = {"network": network, "property": property, "template": template, "name": name, "names": names}
        set_fields(self, **kept, expect=expect or {}, paper=paper or {})
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

    def of_small_packets(self) -> "Query":
        """The same question about packets smaller than C·R_m/5, where neither the network nor the question bounds them.

        `verify` and `worst` ask so by default, in commands and in Python. Queries of traces, runs and proofs stay."""
        return replace(self, property=self.property.of_small_packets(self.model))

    def __repr__(self) -> str:
        template = f", template={self.names['template']!r}" if self.template else ""
        thresholds = "".join(f", {name}={value!r}" for name, value in self.property.parameters().items())
        return f"Query({self.network!r}, {self.names['property']!r}{template}{thresholds})"

    def execution(self, bounds: Bounds = Bounds.MOVE, state: Sequence[Kept] = ()) -> Execution:
        """The unknowns of one trace. bounds: those of a way to fail; a deployed controller's may be false at first,
        and time out. state: of its controller."""
        bounds, period = self._bounds(bounds), self.property.period
        return execution(self.model, self.horizon, self.buffer, self.jitter, bounds, state=state, period=period)

    def observed(self, trace: Recorded, reads: Collection[str] = (), state: Sequence[Kept] = ()) -> Execution:
        """A trace's numbers as an execution, with the beliefs named in `reads`. Raises InputError if one is missing."""
        bounds = self._bounds(Bounds.MOVE)
        try:
            return observed(
                self.model, self.buffer, self.jitter, trace, reads, bounds, state, period=self.property.period
            )
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
    def encode(self, state: Sequence[Kept] = ()) -> None:
        """Put all that is defined once of unknowns, which refuse what numbers would let pass: floats, and Python's own
        truth values. state: of a controller. Raises InputError."""
        x = self.execution(state=state)
        formulas = [law.formula for law in (*self.laws(x), *self.model.belief_laws(x))]
        formulas += self.property.objectives(self.model, x).values()
        for way in self.property.ways_to_fail(self.model, self.buffer):
            formulas.append(way.formula(self.execution(way.bounds, state)))
        every(formulas)

    def units(self) -> dict[str, Unit | str]:
        """The unit of each belief, and of each observation, that a controller may read."""
        return {each.name: each.unit for each in (*self.model.beliefs, *self.model.observations.values())}

    def controller(self, given: Any) -> Decides:
        """The controller that is meant (`controllers.given`), as this query's model lets it; or one for each flow."""
        with self._naming_the_other_model():
            return self._fits(controllers.given(given, self.units(), self.model.observations))

    def read_controller(self, source: str, name: str = "controller") -> Decides:
        """Return the controller that a source defines, for this query's model; or one for each flow."""
        return self._fits(controllers.parse(source, name, beliefs=self.units(), observations=self.model.observations))

    @contextmanager
    def _naming_the_other_model(self) -> Iterator[None]:
        """Say of a controller of the other kind on which model its senders are."""
        try:
            yield
        except controllers.OtherKind as error:
            pairs = definitions.chosen("models", "BY_WINDOW")
            others = {by_window: at_rates for at_rates, by_window in pairs.items()} if self.model.windows else pairs
            name = others.get(str(self.network.model_name), next(iter(others.values())))
            raise InputError(f"{error.message}: --model {name}", error.file, error.line) from None

    def _fits(self, controller: Decides) -> Decides:
        """It, unless there are not as many as flows."""
        count, flows = len(controllers.each_of(controller)), self.model.flows
        if count not in (1, flows):
            path = f"{self.network.model_name} has {flows} flow{'s' if flows > 1 else ''}"
            raise InputError(f"{path}, and {count} controllers are given; expected one for all, or one for each")
        return controller

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

    def search_space(self) -> Template[Any]:
        """The search space. Raises InputError if the query has none."""
        if self.template is None:
            raise InputError(f"the query {self.name} has no template to search; expected a section [template]")
        return self.template

    def read_by_candidates(self) -> tuple[list[str], str]:
        """The beliefs and observations that the template's candidates may read, by name, and the source of one, as all
        remember the same."""
        template = self.search_space()
        return sorted(template.names & self.units().keys()), template.candidate([0] * len(template.holes()))

    def search(self) -> dict[str, Any]:
        """What a run of synthesis is about, as text: the record, the template's name, and a digest of what it
        is. Raises InputError if the query has no template."""
        digest = hashlib.sha256(json.dumps(self.search_space().described()).encode()).hexdigest()
        return {**self.record(), "template": self.names["template"], "template_digest": digest}

    def __str__(self) -> str:
        record = self.record()
        thresholds = ", ".join(f"{name} {value}" for name, value in record.pop("property").items())
        return "; ".join([*(f"{name} {value}" for name, value in record.items()), f"property {thresholds}"])


def _check_units(query: Query, template: Template[Any]) -> None:
    """Raise InputError if a form of the template does not have a unit, or reads what the model does not offer."""
    for source in template.samples():
        try:
            query.read_controller(source)
        except InputError as error:
            message = error.message.removesuffix(".")
            misfit = f"the template {query.names['template']} does not fit {query.model.name}: {message}"
            raise InputError(misfit) from None
