"""Controllers of several flows of a path, one for each, as one text that traces and other files keep."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ccmatic.base import InputError
from ccmatic.contracts import FlowView
from ccmatic.logic import Truth

#: The line before each, in the text of all.
HEAD = "# flow {} runs {}\n"
_HEAD = re.compile(r"^# flow (\d+) runs (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Several:
    """Senders of the flows of a path, in order, each a controller of its own."""

    each: tuple
    start = None
    is_envelope = False
    file = None

    @property
    def name(self):
        """Their names, with + between them."""
        return "+".join(controller.name for controller in self.each)

    @property
    def source(self):
        """Their sources, each after a comment that says whose it is; `parts` has them again."""
        return "".join(
            f"{HEAD.format(number, controller.name)}{controller.source.strip()}\n"
            for number, controller in enumerate(self.each, 1)
        )

    @property
    def parameters(self):
        """All that any of them reads."""
        return tuple(dict.fromkeys(name for controller in self.each for name in controller.parameters))

    @property
    def state(self):
        """What each remembers, as of its flow alone."""
        numbered = enumerate(self.each, 1)
        return tuple(replace(kept, flow=number) for number, controller in numbered for kept in controller.state)

    @property
    def meaning(self):
        """As of each."""
        return tuple(controller.meaning for controller in self.each)

    def laws(self, view: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """Those of the sender of this flow."""
        yield from self.each[view.network.flows.index(view)].laws(view)

    def pretty(self):
        """As of each, one after another."""
        return "\n".join(
            f"flow {number}, {controller.name}:\n{controller.pretty()}"
            for number, controller in enumerate(self.each, 1)
        )

    def __repr__(self):
        return f"<controllers {', '.join(controller.name for controller in self.each)}>"


def each_of(controller):
    """The controllers of a path's flows, of which one alone is run by each: a tuple."""
    return controller.each if isinstance(controller, Several) else (controller,)


def begun_anywhere(controller, names):
    """The controller, or the controllers of several flows, with state of these names that may be anything at first."""
    begun = tuple(each.begun_anywhere(names) if each.state else each for each in each_of(controller))
    return begun[0] if len(begun) == 1 else Several(begun)


def parts(source):
    """The (name, source) of each of several, with lines that count as in the whole text; none if it is of one."""
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
