"""A query: a network, a property of controllers on this network, and a template of controllers for synthesis."""

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
from ccmatic.base import InputError, Unit, absolute, blamed, counted, definitions, shown
from ccmatic.base.memory import own_definitions
from ccmatic.contracts import (
    Bounds,
    Buffer,
    Execution,
    Law,
    Model,
    NetworkView,
    Property,
    StateVariable,
    Template,
    TraceData,
    execution,
    load_definition,
    observed,
)
from ccmatic.logic import every, isolated
from ccmatic.questions.query.network import Network, set_fields
from ccmatic.records import ABSENT, QueryRecord

#: The type of a single controller, or of the controllers of all flows of a path.
Decides = controllers.Controller | controllers.Stateful | controllers.ControllerGroup


@dataclass(frozen=True, init=False, repr=False)
class Query:
    """A network, a property that a controller must ensure on it, and, for synthesis, a template of controllers.

    Args:
        network: The Network.
        property: The name of a folder in properties/, or the path of a file that defines a PROPERTY. The attribute
            `property` holds the Property with its thresholds. The default is the DEFAULT of properties/, which is the
            synthesis invariant.
        template: The name of a folder in templates/, or the path of a file that defines a TEMPLATE. The attribute
            `template` holds the Template. By default, the query has no template and cannot be used for synthesis.
        name: The name of the query.
        names: The names of the property and the template in records.
        expect: The answer that tests and reports expect.
        paper: The answer in the paper, for tests and reports.
        thresholds: The thresholds of the property. Numbers are exact: an int, a Fraction or text such as "1/2".

    Raises:
        InputError: If the values describe no query.

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
        # A Property already has its thresholds, so thresholds are only allowed together with a name.
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
        """The Model of the network."""
        return self.network.model

    @builtins.property
    def horizon(self) -> int:
        """The number of points T of a trace, which spans T - 1 steps."""
        return self.network.horizon

    @builtins.property
    def buffer(self) -> Buffer:
        """The Buffer of the network."""
        return self.network.buffer

    @builtins.property
    def jitter(self) -> int:
        """The largest jitter D, in steps."""
        return self.network.jitter

    def on(self, **changes: Any) -> "Query":
        """Return the same question about a changed network. The arguments are the changes, such as `horizon=5`."""
        return replace(self, network=replace(self.network, **changes))

    def searching(self, template: str | Path) -> "Query":
        """Return the same question with another template, given by a name in templates/ or by a file's path."""
        return Query(self.network, self.property, template, self.name, self.names)

    def of_small_packets(self) -> "Query":
        """Return the same question, but only about packets smaller than C·R_m/5.

        If the network or the question already bounds packets, the question does not change. Commands and the Python
        functions `verify` and `worst` restrict packets in this way by default. Queries of traces, runs and proofs do
        not change.
        """
        return replace(self, property=self.property.of_small_packets(self.model))

    def __repr__(self) -> str:
        template = f", template={self.names['template']!r}" if self.template else ""
        thresholds = "".join(f", {name}={value!r}" for name, value in self.property.parameters().items())
        return f"Query({self.network!r}, {self.names['property']!r}{template}{thresholds})"

    def execution(self, bounds: Bounds = Bounds.MOVE, state: Sequence[StateVariable] = ()) -> Execution:
        """Return an execution whose numbers are unknowns: the variables of one trace.

        `bounds` is the assumption about the sender's bounds, as in a WayToFail. The bounds of a deployed controller may
        be false at first, and may time out.
        """
        about: dict[str, Any] = {"period": self.property.period, "history": self.network.history}
        return execution(self.model, self.horizon, self.buffer, self.jitter, self._bounds(bounds), state=state, **about)

    def observed(self, trace: TraceData, reads: Collection[str] = (), state: Sequence[StateVariable] = ()) -> Execution:
        """Return an execution with the numbers of a trace, which must have the beliefs named in `reads`."""
        bounds = self._bounds(Bounds.MOVE)
        try:
            return observed(
                self.model,
                self.buffer,
                self.jitter,
                trace,
                reads,
                bounds,
                state,
                self.property.period,
                self.network.history,
            )
        except KeyError as error:
            raise InputError(f"the trace has no {error.args[0]}") from None

    def numbers(self, trace: TraceData, controller: Decides | None) -> Execution:
        """Return the execution of a trace's numbers, with all its beliefs, and with the state of its controller."""
        state: Any = controller.state if controller else ()
        return self.observed(trace, trace.columns.keys() & self.units().keys(), state)

    def _bounds(self, bounds: Bounds) -> Bounds:
        if self.property.deployed and bounds is not Bounds.MOVE:
            name = self.property.name
            raise InputError(f"{name} is of deployed controllers; expected ways to fail whose bounds move")
        return Bounds.DEPLOYED if self.property.deployed else bounds

    def laws(self, x: NetworkView) -> Iterator[Law]:
        """Yield the laws of the network, the laws of the sender and the laws of the measured delays."""
        yield from self.model.laws(x)
        if self.network.delay == "published":
            yield from self.model.assumptions(x)

    @isolated
    def encode(self, state: Sequence[StateVariable] = ()) -> None:
        """Build all formulas once, to find mistakes in definitions that numbers do not reveal, and raise InputError.

        Examples are floats, and conditions that are used as Python booleans.
        """
        x = self.execution(state=state)
        formulas = [law.formula for law in (*self.laws(x), *self.model.belief_laws(x))]
        formulas += self.property.objectives(self.model, x).values()
        for way in self.property.ways_to_fail(self.model, self.buffer):
            formulas.append(way.formula(self.execution(way.bounds, state)))
        every(formulas)

    def units(self) -> dict[str, Unit | str]:
        """Return the units of all beliefs and observations that a controller may read, by name."""
        return {each.name: each.unit for each in (*self.model.beliefs, *self.model.observations.values())}

    def controller(self, given: Any) -> Decides:
        """Load a controller for this query's model, or one per flow, in a form that `controllers.given` lists."""
        with self._naming_the_other_model():
            return self._fits(controllers.given(given, self.units(), self.model.observations))

    def read_controller(self, source: str, name: str = "controller") -> Decides:
        """Return the controller that a source defines for this query's model, or one controller per flow."""
        return self._fits(controllers.parse(source, name, beliefs=self.units(), observations=self.model.observations))

    @contextmanager
    def _naming_the_other_model(self) -> Iterator[None]:
        """If an error is about a controller of the other type, add the name of a model that supports this type."""
        try:
            yield
        except controllers.OtherKind as error:
            pairs = definitions.chosen("models", "BY_WINDOW")
            others = {by_window: at_rates for at_rates, by_window in pairs.items()} if self.model.windows else pairs
            name = others.get(str(self.network.model_name), next(iter(others.values())))
            raise InputError(f"{error.message}: --model {name}", error.file, error.line) from None

    def _fits(self, controller: Decides) -> Decides:
        count, flows = len(controllers.each_of(controller)), self.model.flows
        if count not in (1, flows):
            path = f"{self.network.model_name} has {counted(flows, 'flow')}"
            raise InputError(f"{path}, and {count} controllers are given; expected one for all, or one for each")
        # A model's belief may have this name, too. But only window senders observe marks.
        observes = self.model.windows and self.model.threshold is None
        for each in controllers.each_of(controller) if observes else ():
            if "marked" in getattr(each, "parameters", ()):
                problem = f"{each.name} reads `marked`, and {self.network.model_name} marks no packets"
                raise InputError(
                    f"{problem}; expected a network that does, such as '{definitions.chosen('models', 'MARKED')}'"
                )
        return controller

    def record(self) -> dict[str, Any]:
        """Return the query as text, for traces and generated files. The function `from_record` reads this text."""
        record: dict[str, Any] = records.data(
            QueryRecord(
                model=self.network.model_name,
                horizon=str(self.horizon),
                buffer=str(self.buffer),
                jitter=str(self.jitter),
                delay=self.network.delay,
                history=self.network.history or ABSENT,
                property={"name": self.names["property"], **self.property.parameters()},
            )
        )
        return record

    def identity(self) -> dict[str, Any]:
        """Return the record, with a digest of the user's definitions. While it stays the same, a search may resume."""
        record = self.record()
        texts = own_definitions(record)
        return {**record, "definitions_digest": _digest(texts)} if texts else record

    def require_unchanged(self, record: QueryRecord) -> None:
        """Raise InputError if a definition of the user has changed since a saved search recorded its identity.

        Searches of earlier versions recorded no digest.
        """
        if record.definitions_digest not in (ABSENT, self.identity().get("definitions_digest")):
            raise InputError("a model or property of yours has changed since; search again, with another output")

    def search_space(self) -> Template[Any]:
        if self.template is None:
            raise InputError(f"the query {self.name} has no template to search; expected a section [template]")
        return self.template

    def read_by_candidates(self) -> tuple[list[str], str]:
        """Return the names of the beliefs and observations that candidates may read, and one candidate's source.

        The source of one candidate suffices, because all candidates have the same state variables.
        """
        template = self.search_space()
        return sorted(template.names & self.units().keys()), template.candidate([0] * len(template.holes()))

    def search(self) -> dict[str, Any]:
        """Describe a synthesis run: the query's identity, the template's name, and a digest of the template."""
        digest = _digest(self.search_space().described())
        return {**self.identity(), "template": self.names["template"], "template_digest": digest}

    def __str__(self) -> str:
        record = self.record()
        thresholds = ", ".join(f"{name} {value}" for name, value in record.pop("property").items())
        return "; ".join([*(f"{name} {value}" for name, value in record.items()), f"property {thresholds}"])


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def _check_units(query: Query, template: Template[Any]) -> None:
    """Raise InputError if a form of the template has no unit, or reads a value that the model lacks."""
    for source in template.samples():
        try:
            query.read_controller(source)
        except InputError as error:
            message = error.message.removesuffix(".")
            misfit = f"the template {query.names['template']} does not fit {query.model.name}: {message}"
            raise InputError(misfit) from None
