"""A query: a network, a property of controllers on it, and, for synthesis, a template of controllers."""

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

#: The controller, or controllers, of the flows of a path.
Decides = controllers.Controller | controllers.Stateful | controllers.Several


@dataclass(frozen=True, init=False, repr=False)
class Query:
    """A network, a property that a controller must ensure on it, and, for synthesis, a template of controllers.

    Args:
        network: The Network.
        property: A name in properties/, or the path of a file that defines a PROPERTY; kept as the Property with its
            thresholds. Default: that folder's DEFAULT (the synthesis invariant).
        template: A name in templates/, or the path of a file that defines a TEMPLATE; kept as the Template. Default: no
            synthesis.
        name: The query's name.
        names: The names of property and template in records.
        expect: The expected answer, for tests and reports.
        paper: The paper's answer, for tests and reports.
        thresholds: The thresholds of the property. Numbers are exact: an int, a Fraction or text such as "1/2".

    Raises:
        InputError: The values describe no query.

    Examples:
        >>> Query(Network("ccac", buffer="any", horizon=11), utilisation="1/2", template="two_branches")
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
        # A Property already has its thresholds, so thresholds may only accompany a name.
        if not isinstance(property, Property):
            kind = load_definition("properties", "PROPERTY", property, allow_code=True)
            names["property"], property = absolute(property), kind.from_parameters(thresholds, allow_code=True)
        elif thresholds:
            raise InputError(f"{', '.join(thresholds)} given for a Property, which has thresholds; expected its name")
        elif "property" not in names:
            raise InputError(f"the property is {shown(property)}; expected its name in properties/ or its file's path")
        if not isinstance(template, Template | None):
            names["template"] = absolute(template)
            template = load_definition("templates", "TEMPLATE", template, allow_code=True)
        kept = {"network": network, "property": property, "template": template, "name": name, "names": names}
        set_fields(self, **kept, expect=expect or {}, paper=paper or {})
        if self.model.pauses and not self.property.pauses:
            problem = (
                f"the applications of {network.model_name} may pause, and {self.property.name} requires utilisation"
            )
            raise InputError(f"{problem}; expected a network without pauses, or an expectation (--expect)")
        if self.template:
            _check_units(self, self.template)

    @builtins.property
    def model(self) -> Model:
        """The network's Model."""
        return self.network.model

    @builtins.property
    def horizon(self) -> int:
        """T, the steps of a trace."""
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
        """Return the same question about the network with changes, such as `horizon=5`."""
        return replace(self, network=replace(self.network, **changes))

    def searching(self, template: str | Path) -> "Query":
        """Return the same question with another template: a name in templates/, or a file's path."""
        return Query(self.network, self.property, template, self.name, self.names)

    def of_small_packets(self) -> "Query":
        """Return the same question about packets smaller than C·R_m/5, unless the network or the question bounds them.

        `verify` and `worst` ask this by default, in commands and in Python. Queries of traces, runs and proofs do not
        change.
        """
        return replace(self, property=self.property.of_small_packets(self.model))

    def __repr__(self) -> str:
        template = f", template={self.names['template']!r}" if self.template else ""
        thresholds = "".join(f", {name}={value!r}" for name, value in self.property.parameters().items())
        return f"Query({self.network!r}, {self.names['property']!r}{template}{thresholds})"

    def execution(self, bounds: Bounds = Bounds.MOVE, state: Sequence[Kept] = ()) -> Execution:
        """Return the unknowns of one trace.

        Args:
            bounds: The bounds of a way to fail. The bounds of a deployed controller may be false initially, and time
                out.
            state: The state of the trace's controller.
        """
        bounds, period = self._bounds(bounds), self.property.period
        return execution(self.model, self.horizon, self.buffer, self.jitter, bounds, state=state, period=period)

    def observed(self, trace: Recorded, reads: Collection[str] = (), state: Sequence[Kept] = ()) -> Execution:
        """Return a trace's numbers as an execution, with the beliefs named in `reads`.

        Raises:
            InputError: The trace lacks one of them.
        """
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
        """Yield the laws of the network, the sender and the measured delays."""
        yield from self.model.laws(x)
        if self.network.delay == "published":
            yield from self.model.assumptions(x)

    @isolated
    def encode(self, state: Sequence[Kept] = ()) -> None:
        """Build all formulas once, to find mistakes that only unknowns reveal: floats, and uses as Python truth values.

        Args:
            state: The state of a controller.

        Raises:
            InputError: A definition contains such a mistake.
        """
        x = self.execution(state=state)
        formulas = [law.formula for law in (*self.laws(x), *self.model.belief_laws(x))]
        formulas += self.property.objectives(self.model, x).values()
        for way in self.property.ways_to_fail(self.model, self.buffer):
            formulas.append(way.formula(self.execution(way.bounds, state)))
        every(formulas)

    def units(self) -> dict[str, Unit | str]:
        """Return the unit of each belief and observation that a controller may read."""
        return {each.name: each.unit for each in (*self.model.beliefs, *self.model.observations.values())}

    def controller(self, given: Any) -> Decides:
        """Load a controller for this query's model, or one for each flow; `given` is as in `controllers.given`."""
        with self._naming_the_other_model():
            return self._fits(controllers.given(given, self.units(), self.model.observations))

    def read_controller(self, source: str, name: str = "controller") -> Decides:
        """Return the controller that a source defines, for this query's model; or one for each flow."""
        return self._fits(controllers.parse(source, name, beliefs=self.units(), observations=self.model.observations))

    @contextmanager
    def _naming_the_other_model(self) -> Iterator[None]:
        """If an error is about a controller of the other kind, name a model on which such senders run."""
        try:
            yield
        except controllers.OtherKind as error:
            pairs = definitions.chosen("models", "BY_WINDOW")
            others = {by_window: at_rates for at_rates, by_window in pairs.items()} if self.model.windows else pairs
            name = others.get(str(self.network.model_name), next(iter(others.values())))
            raise InputError(f"{error.message}: --model {name}", error.file, error.line) from None

    def _fits(self, controller: Decides) -> Decides:
        """Return the controller, or raise InputError if the number of controllers does not match the flows."""
        count, flows = len(controllers.each_of(controller)), self.model.flows
        if count not in (1, flows):
            path = f"{self.network.model_name} has {flows} flow{'s' if flows > 1 else ''}"
            raise InputError(f"{path}, and {count} controllers are given; expected one for all, or one for each")
        return controller

    def record(self) -> dict[str, Any]:
        """Return the query as text, for traces and generated files; `from_record` reads it."""
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
        """Return the template. Raises InputError if the query has none."""
        if self.template is None:
            raise InputError(f"the query {self.name} has no template to search; expected a section [template]")
        return self.template

    def read_by_candidates(self) -> tuple[list[str], str]:
        """Return the names of the beliefs and observations that candidates may read, and one candidate's source.

        One source suffices, because all candidates remember the same state.
        """
        template = self.search_space()
        return sorted(template.names & self.units().keys()), template.candidate([0] * len(template.holes()))

    def search(self) -> dict[str, Any]:
        """Describe a run of synthesis as text: the record, the template's name, and a digest of the template's content.

        Raises:
            InputError: The query has no template.
        """
        digest = hashlib.sha256(json.dumps(self.search_space().described()).encode()).hexdigest()
        return {**self.record(), "template": self.names["template"], "template_digest": digest}

    def __str__(self) -> str:
        record = self.record()
        thresholds = ", ".join(f"{name} {value}" for name, value in record.pop("property").items())
        return "; ".join([*(f"{name} {value}" for name, value in record.items()), f"property {thresholds}"])


def _check_units(query: Query, template: Template[Any]) -> None:
    """Raise InputError if a form of the template has no unit, or reads a value that the model does not offer."""
    for source in template.samples():
        try:
            query.read_controller(source)
        except InputError as error:
            message = error.message.removesuffix(".")
            misfit = f"the template {query.names['template']} does not fit {query.model.name}: {message}"
            raise InputError(misfit) from None
