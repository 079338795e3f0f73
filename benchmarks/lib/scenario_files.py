"""Scenarios: named situations in which a sender is observed, read from the TOML files in examples/scenarios.

Each section of a file is a scenario. Its name is the scenario's name, and its keys are the fields of `Scenario`.
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from ccmatic.base import InputError, exact, load_toml, quantities, suggest
from ccmatic.contracts import Model, load_definition
from ccmatic.deployment.emulation import Link, of_texts
from ccmatic.deployment.emulation.monitor import Monitor
from ccmatic.questions import NetworkDescription, describe, named_model, read, units
from ccmatic.records import Record, convert

#: The folder of the shipped scenarios.
FOLDER = Path(__file__).resolve().parents[2] / "examples" / "scenarios"

#: The sender of a flow that runs the sender under test.
TESTED = "tested"


class Offer(Record):
    """A change of the rate at which the application of a flow offers bytes.

    Attributes:
        at: The time of the change in seconds.
        rate: The rate, such as "6 mbit", "0 mbit" for a pause, or "unlimited".
    """

    at: float
    rate: str


class Flow(Record):
    """A flow of a scenario.

    Attributes:
        sender: The sender's name. TESTED stands for the sender under test.
        start: The time in seconds at which the flow starts.
        stop: The time in seconds at which the flow stops; None if the flow lasts until the end.
        application: The rates of the application, in order of time. By default, the application always has bytes.
    """

    sender: str = TESTED
    start: float = 0
    stop: float | None = None
    application: list[Offer] = msgspec.field(default_factory=list)


class Change(Record):
    """A change of the link's rate.

    Attributes:
        at: The time of the change in seconds.
        rate: The new rate, such as "100 mbit".
    """

    at: float
    rate: str


class Expected(Record):
    """An expectation for a part of a run.

    Attributes:
        what: The expectation in the question language.
        since: The time in seconds at which the part begins.
        until: The time in seconds at which the part ends; None stands for the end of the run.
        state_of: The model whose state the expectation is about. None if the expectation is about the network. The
            state is visible only in simulated runs of this model.
        broken: Whether the run must break `what`: in at least one step or interval, the expectation is not met.
    """

    what: str
    since: float = 0
    until: float | None = None
    state_of: str | None = None
    broken: bool = False


class Scenario(Record, kw_only=True):
    """A scenario.

    Attributes:
        source: The document and the section that define the scenario.
        says: The expected behaviour, in a sentence.
        judged_by: The difference between the expectations and the criterion of the source; empty if they agree.
        on: The network in the question language. Empty if no world can play the scenario.
        pattern: The pattern of the jitter, `uniform` or `aggregation`; empty if the network has no jitter.
        seconds: The length of the run.
        flows: The flows.
        changes: The changes of the link's rate.
        premises: The conditions under which the scenario took place in the run. If a premise is not met, the
            expectations give no information.
        expect: The expectations.
        not_played: The reason why no world can play the scenario; empty if some world can.
    """

    source: str
    says: str
    judged_by: str = ""
    on: str = ""
    pattern: str = ""
    seconds: float = 10
    flows: list[Flow] = msgspec.field(default_factory=lambda: [Flow()])
    changes: list[Change] = msgspec.field(default_factory=list)
    premises: list[Expected] = msgspec.field(default_factory=list)
    expect: list[Expected] = msgspec.field(default_factory=list)
    not_played: str = ""

    @property
    def network(self) -> NetworkDescription:
        """The network."""
        return describe(self.on)

    @property
    def model(self) -> Model | None:
        """The model of the network with its parameters; None for the emulator's model."""
        name = self.network.model
        return load_definition("models", "MODEL", named_model(self.network, name)) if name else None

    @property
    def link(self) -> Link:
        """The link of the emulator for the network."""
        network = self.network
        return of_texts(
            f"{network.rate * 8}bit" if network.rate else "",
            f"{network.rtt}s",
            network.buffer,
            network.jitter,
            self.pattern or None,
            [f"{change.at}s={change.rate}" for change in self.changes],
            model=self.model,
            path_change=network.change,
            threshold=network.threshold,
        )


def load(file: Path) -> dict[str, Scenario]:
    """Return the scenarios of a file by name. May raise InputError, which names the file and the line."""
    sections, text = load_toml(file)
    scenarios = {}
    for name, section in sections.items():
        try:
            scenarios[name] = _scenario(name, section)
        except InputError as error:
            error.file, error.line = str(file), _line(text, name, error.message)
            raise
    return scenarios


def load_all(folder: Path = FOLDER) -> dict[str, Scenario]:
    """Return the scenarios of all files in a folder, by name. May raise InputError."""
    scenarios: dict[str, Scenario] = {}
    for file in sorted(folder.glob("*.toml")):
        for name, scenario in load(file).items():
            if name in scenarios:
                raise InputError(f"the scenario {name} exists twice; expected another name", str(file))
            scenarios[name] = scenario
    return scenarios


def chosen(names: list[str]) -> dict[str, Scenario]:
    """Return the shipped scenarios with these names, or all shipped scenarios without names. May raise InputError."""
    scenarios = load_all()
    for name in names:
        if name not in scenarios:
            raise InputError(f"there is no scenario '{name}'; {suggest(name, scenarios)}")
    return {name: scenarios[name] for name in names or scenarios}


def rate(text: str) -> Fraction | None:
    """Return the rate of an application in bytes per second; None if it is unlimited. May raise InputError."""
    if text == "unlimited":
        return None
    match = quantities.QUANTITY.fullmatch(text)
    if match and match[2] in quantities.RATES and exact(match[1]) == 0:
        return Fraction(0)
    return quantities.rate(text)


def known_units(scenario: Scenario) -> dict[str, Any]:
    """Return the units for expectations on the scenario's network."""
    network = scenario.network
    return units(network.rate, network.rtt)


def _scenario(name: str, section: object) -> Scenario:
    if not isinstance(section, dict):
        raise InputError(f"'{name}' is a value; expected a section [{name}]")
    scenario = convert(section, Scenario, what=f"the scenario {name}")
    if bool(scenario.not_played) == bool(scenario.on):
        raise InputError(f"the scenario {name} has {'both' if scenario.on else 'neither'} 'on' and 'not_played'; "
                         "expected one of them")  # fmt: skip
    if scenario.not_played:
        return scenario
    if not scenario.expect:
        raise InputError(f"the scenario {name} expects nothing; expected at least one expectation")
    network = scenario.network
    if network.rate is None or network.rtt is None:
        raise InputError(f"'on' is '{scenario.on}'; expected a path, such as '24 mbit, rtt 40 ms, buffer 1 bdp'")
    for expected in (*scenario.premises, *scenario.expect):
        if expected.state_of is None:
            Monitor(scenario.link, [expected.what])
        else:
            read(expected.what, known_units(scenario))
        if not 0 <= expected.since < (expected.until or scenario.seconds) <= scenario.seconds:
            raise InputError(f"'{expected.what}' is expected outside of the run of {scenario.seconds:g} s")
    for flow in scenario.flows:
        for offer in flow.application:
            rate(offer.rate)
    return scenario


def _line(text: str, name: str, message: str) -> int | None:
    """Return the line that a message about a section is about: of a key, of quoted text, or of the section itself."""
    lines = text.splitlines()
    begins = (n for n, line in enumerate(lines) if re.match(rf"\[{re.escape(name)}\]|{re.escape(name)}\s*=", line))
    begin = next(begins, None)
    if begin is None:
        return None
    end = next((n for n in range(begin + 1, len(lines)) if lines[n].startswith("[")), len(lines))
    words = re.findall(r"[`']([^`']+)[`']", message) + re.findall(r"^the scenario \w+, (\w+)", message)
    return next((n + 1 for n in range(begin, end) if any(word in lines[n] for word in words)), begin + 1)
