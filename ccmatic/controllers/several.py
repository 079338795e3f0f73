"""The controllers of several flows, and their common text in traces and other files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ccmatic.base import InputError
from ccmatic.contracts import FlowView
from ccmatic.logic import Truth

#: The line that precedes each controller in the common text.
HEAD = "# flow {} runs {}\n"
_HEAD = re.compile(r"^# flow (\d+) runs (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class ControllerGroup:
    each: tuple
    start = None
    is_envelope = False
    file = None

    @property
    def name(self):
        return "+".join(controller.name for controller in self.each)

    @property
    def source(self):
        """The sources of the controllers, each after a comment that names its flow. `parts` splits this text again."""
        return "".join(
            f"{HEAD.format(number, controller.name)}{controller.source.strip()}\n"
            for number, controller in enumerate(self.each, 1)
        )

    @property
    def parameters(self):
        return tuple(dict.fromkeys(name for controller in self.each for name in controller.parameters))

    @property
    def state(self):
        """The state variables of all controllers. Each variable names its flow."""
        numbered = enumerate(self.each, 1)
        return tuple(replace(kept, flow=number) for number, controller in numbered for kept in controller.state)

    @property
    def meaning(self):
        return tuple(controller.meaning for controller in self.each)

    def laws(self, view: FlowView) -> Iterator[tuple[str, int, Truth]]:
        yield from self.each[view.network.flows.index(view)].laws(view)

    def pretty(self):
        return "\n".join(
            f"flow {number}, {controller.name}:\n{controller.pretty()}"
            for number, controller in enumerate(self.each, 1)
        )

    def __repr__(self):
        return f"<controllers {', '.join(controller.name for controller in self.each)}>"


@dataclass(frozen=True)
class ControllerText:
    """The controller of one flow as text, which can pass between processes. Messages name the controller's file."""

    name: str
    source: str
    file: str | None


def texts_of(controller):
    """Return the ControllerText of each flow's controller, in a list that `given` accepts."""
    return [ControllerText(each.name, each.source, each.file) for each in each_of(controller)]


def each_of(controller):
    return controller.each if isinstance(controller, ControllerGroup) else (controller,)


def of_flows(controller, flows):
    """Return the controller of each flow, in a tuple of as many controllers as there are flows."""
    each = each_of(controller)
    return each if len(each) == len(flows) else each * len(flows)


def first_decision(controller, flows):
    """Return the first step from which on all flows' controllers decide; 0 without state, None if one never decides."""
    pairs = zip(of_flows(controller, flows), flows, strict=True)
    first = [each.first_decision(flow) for each, flow in pairs if each.state]
    return None if None in first else max(first, default=0)


def begun_anywhere(controller, names):
    """Return the controller, or the controllers of several flows, with any initial values for the state in `names`."""
    begun = tuple(each.begun_anywhere(names) if each.state else each for each in each_of(controller))
    return begun[0] if len(begun) == 1 else ControllerGroup(begun)


def parts(source):
    """Split the common text of several controllers into (name, source) of each; none if it is the text of one.

    Lines keep their numbers in the whole text. The flows must be numbered from 1 on.
    """
    heads = list(_HEAD.finditer(source))
    if not heads or heads[0].start():
        return []
    if [int(head[1]) for head in heads] != list(range(1, len(heads) + 1)):
        raise InputError("the flows are not numbered from 1 on; expected `# flow 1 runs NAME`, then flow 2, …")
    ends = [*(head.start() for head in heads[1:]), len(source)]
    lines = (source[: head.end()].count("\n") for head in heads)
    return [
        (head[2], "\n" * line + source[head.end() : end]) for head, line, end in zip(heads, lines, ends, strict=True)
    ]
