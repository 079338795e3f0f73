"""A controller with state as one C header: its update, what it sends by, and a sender around them."""

import ast
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

from ccmatic.base import CONSTANTS, RATE, InputError, c_comment, c_name, definitions
from ccmatic.compilers.c import LARGEST_KEPT, LINE_RATE, LONGEST_DELAY, ONE, Update
from ccmatic.contracts import Buffer, execution
from ccmatic.controllers import Stateful, load
from ccmatic.exporting.parts import constants, no_fractions, title
from ccmatic.language import Name
from ccmatic.logic import isolated
from ccmatic.runtime import shipped

#: What an exported sender knows of, besides constants.
OBSERVED = (
    *("acked", "lost", "sent", "admitted", "served", "ack_rate"),
    *("timeout", "delay", "measured", "before_trace", "time"),
)


@dataclass(frozen=True)
class StatefulExport:
    """What is exported. model: a network model whose senders send by a window; jitter: D in steps."""

    controller: Stateful
    model: object
    jitter: int

    library, remembers, around = "stateful_library.c", True, None

    @property
    def name(self):
        """Of the controller, and of its files."""
        return self.controller.name

    @property
    def is_paced(self):
        """Whether what it sends is limited by a rate, too, and not by a window alone."""
        return self.controller.rate not in (None, Name("line_rate"))

    @property
    def kernel_program(self):
        """The program that the kernel runs, in a tuple. Raises InputError for floats."""
        writer, _, _ = self._written()
        if writer.functions:
            raise no_fractions(self.name)
        return ("window_bpf.c",)

    def header(self):
        """The text of NAME.h. Raises InputError for what C cannot hold."""
        controller = self.controller
        writer, update, sent_by = self._written()
        functions = [
            *writer.functions,
            _function("void ccm_first(struct ccm_state *m, int64_t packet)", self._first(writer)),
            _function(
                "bool ccm_update(struct ccm_state *m, const struct ccm_seen *seen, int64_t packet, uint64_t step_ns)",
                [_READS_STATE, "    (void)was, (void)seen, (void)packet, (void)step_ns;", *update],
            ),
            *sent_by,
            _function("void ccm_rescale(struct ccm_state *m, uint64_t to, uint64_t from)", self._rescaled()),
        ]
        parts = [title(self.name, f"the model {self.model.name}", controller.source), self._constants(), self._state()]
        needed = [*["law"] * bool(writer.laws or writer.errors), *["floats"] * bool(writer.functions)]
        parts += [shipped(f"{name}.h") for name in ("arithmetic", "decision", "seen", *needed)]
        said = [_law(line, *law) for line, law in writer.laws.items()]
        said += [f"A network is off by less than {each}, until it is rounded." for each in writer.errors]
        parts += [c_comment("\n".join(said))] if said else []
        sender = [shipped(f"{name}.h") for name in ("stateful", "step", "counted")]
        return "\n".join([*parts, *functions, *sender, "#endif\n"])

    def kept(self, state):
        """State by name, in bytes, bytes per step, steps and numbers, as C keeps it: whole, rounded down. Raises
        InputError for a name that is none of its state's."""
        units = {memory.name: memory.unit for memory in self.controller.state}
        if state.keys() - units:
            problem = f"{self.name} remembers {', '.join(units) or 'nothing'}, and is to begin with {', '.join(state)}"
            raise InputError(f"{problem}; expected what remembers the same")
        return {name: floor(value * ONE[units[name]]) for name, value in state.items()}

    def _written(self):
        """A writer that has written all that it decides by: itself, the body of the update, functions of what it sends
        by."""
        writer = self._writer()
        update = writer.update(self.controller.update)
        amounts = {"ccm_window_of": self.controller.window, "ccm_rate_of": self.controller.rate or Name("line_rate")}
        return writer, update, [_sent_by(name, writer, tree) for name, tree in amounts.items()]

    def _writer(self):
        return Update(self.controller, self.model.R, self.jitter)

    @property
    def past(self):
        """Of how many steps before now it reads what was observed, at most."""
        writer = self._writer()
        writer.update(self.controller.update)
        return writer.past

    @cached_property
    @isolated
    def first_decision(self):
        """The first step at whose end it decides: by then all that it reads has been observed."""
        horizon = self.model.R + self.past + 2
        x = execution(self.model, horizon, Buffer.parse("infinite"), self.jitter, state=self.controller.state)
        return self.controller.first_decision(x.flows[0]) or 0

    def _constants(self):
        names = ", ".join(f'"{name}"' for name in self._names())
        columns = ["stayed", "cwnd", *(f"state.{name}" for name in self._names())]
        values = {
            "CCM_R": f"{self.model.R} /* steps in R_m */",
            "CCM_PAST": f"{self.past} /* steps before the last that are read */",
            "CCM_FIRST": f"{self.first_decision} /* the first step at whose end it decides */",
            "CCM_ENVELOPE": "0 /* it leaves no choice of rates */",
            "CCM_PACED": f"{int(self.is_paced)} /* whether its rate limits anything */",
            "CCM_LARGEST": f"INT64_C({LARGEST_KEPT}) /* of any number that is kept, of either sign */",
            "CCM_LINE_RATE": f"INT64_C({LINE_RATE}) /* bytes per step: limits nothing */",
            "CCM_LONGEST_DELAY": f"{LONGEST_DELAY} /* steps */",
            "CCM_REORDERING": "3 /* packets later than one of which acknowledgements tell that it is lost */",
            "CCM_STATE_NAMES": names,
            "CCM_COLUMNS": f'"{",".join(columns)}"',
        }
        return constants(self.name, values)

    def _names(self):
        """Of its state; C has no structure without a member."""
        return [memory.name for memory in self.controller.state] or ["none"]

    def _state(self):
        return "\n".join(["struct ccm_state {", *(f"    int64_t {name};" for name in self._names()), "};\n"])

    def _first(self, writer):
        kept = [writer.kept(memory.name, memory.chosen) for memory in self.controller.state]
        return ["    (void)m, (void)packet;", *(f"    {line}" for line in kept)]

    def _rescaled(self):
        rates = [memory for memory in self.controller.state if memory.unit == RATE]
        lines = [f"    m->{r.name} = ccm_rescaled(m->{r.name}, to, from){' + 1' * r.is_upper};" for r in rates]
        return ["    (void)m, (void)to, (void)from;", *lines]


_READS_STATE = "    const struct ccm_state was = *m;"


def _sent_by(name, writer, tree):
    body = [_READS_STATE, "    (void)was, (void)packet;", *writer.returned(tree)]
    return _function(f"int64_t {name}(const struct ccm_state *m, int64_t packet)", body)


def _law(line, name, error):
    """What a comment says of a law."""
    off = f"is off by less than {error}" if error else "is exact"
    return f"`{name}` (line {line}) follows its law, which {off}, before it is rounded down."


def _function(signature, body):
    return "\n".join([f"static inline {signature}", "{", *body, "}\n"])


def make(name, model, jitter):
    """A StatefulExport of a controller's file (a path or a shipped name). model: a Model whose senders send by a
    window; None: the first shipped one. jitter: in R_m, rounded up to whole steps. Raises InputError."""
    chosen = model or next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
    if not chosen.windows:
        raise InputError(f"it sends by a window, and the senders of {chosen.name} do not; expected another model", name)
    controller = load(name, observations=chosen.observations)
    if controller.window is None:
        raise InputError(
            "sends by a rate alone; expected a window too, by which exported senders send", controller.file
        )
    for each in (controller.name, *(memory.name for memory in controller.state)):
        c_name(each, "the name", controller.file)
    for read in controller.parameters:
        if read not in (*CONSTANTS, *OBSERVED) and not chosen.observations[read].constant:
            _refuse(controller, read, f"no exported sender knows; expected one of {', '.join(OBSERVED)}")
        if read == "served" and chosen.R > 1:
            _refuse(controller, read, "no sender knows where R_m is several steps; expected `acked`")
    return StatefulExport(controller, chosen, ceil(jitter * chosen.R))


def _refuse(controller, name, why):
    """Raise InputError at the line at which a name is read first."""
    arguments = (node for node in ast.walk(ast.parse(controller.source)) if isinstance(node, ast.arg))
    line = next(node.lineno for node in arguments if node.arg == name)
    raise InputError(f"reads `{name}`, which {why}", controller.file, line)
