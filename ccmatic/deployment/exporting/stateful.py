"""A controller with state as one C header, with its update, its window and rate, and a sender that uses them."""

import ast
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

from ccmatic.base import CONSTANTS, RATE, InputError, c_comment, c_name, definitions, syntax_tree
from ccmatic.contracts import Buffer, execution
from ccmatic.controllers import Stateful, load
from ccmatic.deployment.exporting.targets import constants, no_fractions, title
from ccmatic.language import Name
from ccmatic.logic import isolated
from ccmatic.worlds.c import LARGEST_KEPT, LINE_RATE, LONGEST_DELAY, ONE, Update
from ccmatic.worlds.runtime import shipped

#: The observations that an exported sender can make. The sender also knows constants.
OBSERVED = (
    *("acked", "lost", "sent", "admitted", "served", "ack_rate", "marked"),
    *("timeout", "delay", "measured", "app_limited", "before_trace", "time"),
)


@dataclass(frozen=True)
class StatefulExport:
    controller: Stateful
    model: object  #: a network model with window senders
    jitter: int  #: D in steps

    library, remembers, around = "stateful_library.c", True, None

    @property
    def name(self):
        return self.controller.name

    @property
    def is_paced(self):
        """Whether a rate limits the sender, and not only a window."""
        return self.controller.rate not in (None, Name("line_rate"))

    @property
    def kernel_program(self):
        writer, _, _ = self._write()
        if writer.functions:
            raise no_fractions(self.name)
        if "marked" in self.controller.parameters:
            _refuse(self.controller, "marked", "the kernel's program does not observe; expected another target")
        return ("window_bpf.c",)

    def header(self):
        controller = self.controller
        writer, update, sent_by = self._write()
        functions = [
            *writer.functions,
            _function("void ccm_first(struct ccm_state *m, int64_t packet)", self._first(writer)),
            _function(
                "bool ccm_update(struct ccm_state *m, const struct ccm_seen *seen, int64_t packet, uint64_t step_ns)",
                [_READS_STATE, "    (void)was, (void)seen, (void)packet, (void)step_ns;", *update],
            ),
            *sent_by,
            _function("void ccm_rescale(struct ccm_state *m, uint64_t to, uint64_t from)", self._rescale_lines()),
        ]
        parts = [title(self.name, f"the model {self.model.name}", controller.source), self._constants()]
        parts.append("\n".join(["struct ccm_state {", *(f"    int64_t {name};" for name in self._names()), "};\n"]))
        needed = [*["law"] * bool(writer.laws or writer.errors), *["floats"] * bool(writer.functions)]
        parts += [shipped(f"{name}.h") for name in ("arithmetic", "decision", "seen", *needed)]
        notes = [_law(line, *law) for line, law in writer.laws.items()]
        notes += [f"A network is off by less than {error}, before it is rounded." for error in writer.errors]
        parts += [c_comment("\n".join(notes))] if notes else []
        sender = [shipped(f"{name}.h") for name in ("stateful", "step", "counted")]
        return "\n".join([*parts, *functions, *sender, "#endif\n"])

    def kept(self, state):
        """Return the integers, rounded down, that C code stores for values in bytes, bytes per step and steps."""
        units = {memory.name: memory.unit for memory in self.controller.state}
        if state.keys() - units:
            own = ", ".join(units) or "nothing"
            problem = f"the state of {self.name} is {own}, but the first values are for {', '.join(state)}"
            raise InputError(f"{problem}; expected a controller with this state")
        return {name: floor(value * ONE[units[name]]) for name, value in state.items()}

    def _write(self):
        """Return a writer that has written all decisions, the update's body, and the functions of window and rate."""
        writer = self._writer()
        update = writer.update(self.controller.update)
        # CCM_LINE_RATE limits nothing, neither as bytes per step nor as bytes in flight.
        window, rate = (tree or Name("line_rate") for tree in (self.controller.window, self.controller.rate))
        return writer, update, [_sent_by("ccm_window_of", writer, window), _sent_by("ccm_rate_of", writer, rate)]

    def _writer(self):
        return Update(self.controller, self.model.R, self.jitter)

    @property
    def past(self):
        """The age, in steps, of the oldest observation that the controller reads, relative to the latest one."""
        writer = self._writer()
        writer.update(self.controller.update)
        return writer.past

    @cached_property
    @isolated
    def first_decision(self):
        """The first step at whose end the controller decides.

        At this time, it has observed all quantities that it reads.
        """
        horizon = self.model.R + self.past + 2
        x = execution(self.model, horizon, Buffer.parse("infinite"), self.jitter, state=self.controller.state)
        return self.controller.first_decision(x.flows[0]) or 0

    def _constants(self):
        names = ", ".join(f'"{name}"' for name in self._names())
        columns = ["stayed", "cwnd", *(f"state.{name}" for name in self._names())]
        values = {
            "CCM_R": f"{self.model.R} /* steps in R_m */",
            "CCM_PAST": f"{self.past} /* the controller reads this many steps before the last */",
            "CCM_FIRST": f"{self.first_decision} /* the first step at whose end it decides */",
            "CCM_ENVELOPE": "0 /* the controller leaves no choice of rates */",
            "CCM_PACED": f"{int(self.is_paced)} /* 1: its rate limits the sender */",
            "CCM_LARGEST": f"INT64_C({LARGEST_KEPT}) /* the largest stored number, of either sign */",
            "CCM_LINE_RATE": f"INT64_C({LINE_RATE}) /* bytes per step; a rate that never limits */",
            "CCM_LONGEST_DELAY": f"{LONGEST_DELAY} /* steps */",
            "CCM_REORDERING": "3 /* a packet is lost when this many later ones are acknowledged */",
            "CCM_STATE_NAMES": names,
            "CCM_COLUMNS": f'"{",".join(columns)}"',
        }
        if "marked" in self.controller.parameters:
            values["CCM_ECN"] = "1 /* the controller reads marks: its packets say so to links */"
        return constants(self.name, values)

    def _names(self):
        """Return the names of the state variables.

        An empty state has one variable, because a structure in C needs a member.
        """
        return [memory.name for memory in self.controller.state] or ["none"]

    def _first(self, writer):
        kept = [writer.assignment(memory.name, memory.chosen) for memory in self.controller.state]
        return ["    (void)m, (void)packet;", *(f"    {line}" for line in kept)]

    def _rescale_lines(self):
        rates = [memory for memory in self.controller.state if memory.unit == RATE]
        lines = [f"    m->{r.name} = ccm_rescaled(m->{r.name}, to, from){' + 1' * r.is_upper};" for r in rates]
        return ["    (void)m, (void)to, (void)from;", *lines]


_READS_STATE = "    const struct ccm_state was = *m;"


def _sent_by(name, writer, tree):
    body = [_READS_STATE, "    (void)was, (void)packet;", *writer.returned(tree)]
    return _function(f"int64_t {name}(const struct ccm_state *m, int64_t packet)", body)


def _law(line, name, error):
    precision = f"is off by less than {error}" if error else "is exact"
    return f"`{name}` (line {line}) follows its law, which {precision} before it is rounded down."


def _function(signature, body):
    return "\n".join([f"static inline {signature}", "{", *body, "}\n"])


def make(name, model, jitter):
    chosen = model or next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
    if not chosen.windows:
        raise InputError(f"it has state, and the senders of {chosen.name} do not; expected another model", name)
    controller = load(name, observations=chosen.observations)
    for word in (controller.name, *(memory.name for memory in controller.state)):
        c_name(word, "the name", controller.file)
    for read in controller.parameters:
        if read not in (*CONSTANTS, *OBSERVED) and not chosen.observations[read].constant:
            _refuse(controller, read, f"no exported sender knows; expected one of {', '.join(OBSERVED)}")
        if read == "served" and chosen.R > 1:
            _refuse(controller, read, "no sender knows where R_m is several steps; expected `acked`")
    return StatefulExport(controller, chosen, ceil(jitter * chosen.R))


def _refuse(controller, name, why):
    """Raise InputError at the line where the controller first reads a given name."""
    arguments = (node for node in ast.walk(syntax_tree(controller.source)) if isinstance(node, ast.arg))
    line = next(node.lineno for node in arguments if node.arg == name)
    raise InputError(f"reads `{name}`, which {why}", controller.file, line)
