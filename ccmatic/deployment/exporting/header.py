"""A controller as one C header, with its decision, the beliefs of its model, and a sender that uses both."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ccmatic import controllers, language
from ccmatic.base import CONSTANTS, InputError, c_name, counted, definitions, exact, quantities, shown, suggest
from ccmatic.contracts import is_bound, load_definition
from ccmatic.controllers import Controller
from ccmatic.deployment.exporting import stateful
from ccmatic.deployment.exporting.targets import AROUND, constants, no_fractions, power, title
from ccmatic.proving import guarantees
from ccmatic.worlds.c import LARGEST_BELIEF, Decision, window_functions
from ccmatic.worlds.runtime import shipped

#: A number of bytes that no step serves on a link for which beliefs are claimed to be true (100 Gbit/s for 22 s).
MOST = 2**38

#: The largest numerator and denominator of a step's length in R_m. Their product with the longest R_m has 58 bits.
LARGEST_PART = 2**24

#: When more packets than this are lost in a step, the start controller ends (section 6.4). If the beliefs are true, no
#: such loss is possible.
LARGE_LOSS = 2


@dataclass(frozen=True)
class Export:
    """A controller of beliefs, ready for export."""

    controller: Controller
    at_start: Controller | None  #: runs before the first large loss; None without one
    model: object  #: the network model (`ccmatic.contracts.model`) whose beliefs the controllers read
    horizon: int  #: the horizon T. A belief times out every T-1 steps
    jitter: Fraction  #: the largest variation of non-congestive delay, in R_m; a step is R_m plus this
    around: str | None = None  #: the congestion control of the kernel within an envelope

    library, remembers = "library.c", False

    @property
    def is_envelope(self):
        """Whether the controller leaves a choice of rates, in its start phase or later."""
        return any(controller.is_envelope for controller in (self.controller, self.at_start) if controller)

    @property
    def kernel_program(self):
        """The program that the kernel runs, followed by the files that it includes."""
        if self.is_envelope and not self.around:
            raise _no_rate(self)
        if any(decision.functions for decision in self._decisions().values()):
            raise no_fractions(self.name)
        return ("guard.c", "paced.h", *AROUND[self.around]) if self.around else ("bpf.c", "paced.h")

    @property
    def name(self):
        return self.controller.name

    @property
    def source(self):
        return self.controller.source

    def within(self):
        """Yield C code with which the sender itself chooses a rate in an envelope. An Export has no such code."""
        yield from ()

    def header(self):
        names = ", ".join(belief.name for belief in self.model.beliefs)
        quoted = ", ".join(f'"{belief.name}"' for belief in self.model.beliefs)
        parts = [
            title(self.name, f"the model {self.model.name}", self.source, "\n\n".join(self.promises())),
            constants(self.name, self.constants),
            f"/* In bytes per step, bytes and whole steps. */\nstruct ccm_beliefs {{\n    uint64_t {names};\n}};\n",
        ]
        decisions = self._decisions()
        needed = sorted(set().union(*(decision.headers for decision in decisions.values())))
        parts += [shipped(f"{name}.h") for name in ("arithmetic", "decision", *needed, "window")]
        parts.append(window_functions(self.model.beliefs, self.model.default_jitter))
        parts += [*map(_function, decisions, decisions.values()), *self.within()]
        parts += [shipped(f"{name}.h") for name in ("sender", "step", "pacing")]
        parts += [shipped("names.h").replace("CCM_BELIEF_NAMES", quoted), "#endif\n"]
        return "\n".join(parts)

    @property
    def step(self):
        """The length of a step in R_m.

        In the model, all delay except queueing is jitter, and the jitter is D steps. So D steps take R_m plus the
        jitter of the path.
        """
        return (1 + self.jitter) / self.model.default_jitter

    def guarantees(self, path=None):
        """Yield (where, Guarantee) for the controller and its start controller, if shipped proofs exist for them.

        If several proofs exist for a controller, the first proof whose conditions the path meets is used. Without a
        DeployedPath, only the jitter of the path is known.
        """
        path = path or guarantees.DeployedPath(self.jitter)
        for where, controller in (("", self.controller), (" at its start", self.at_start)):
            proofs = guarantees.of_controller(controller, self.horizon, self.model.default_jitter) if controller else ()
            translated = [guarantees.translate(result, path) for result in proofs]
            if translated:
                yield where, min(translated, key=lambda guarantee: bool(guarantee.missing))

    def promises(self):
        """Yield the controller's guarantees as sentences, for a path whose only known quantity is the jitter."""
        proved = list(self.guarantees())
        for where, guarantee in proved:
            yield f"Proved of {self.name}{where} by {guarantee.result.file.stem}: {guarantee.sentence()}"
        if not proved:
            yield f"No shipped proof is about {self.name} in windows of {counted(self.horizon - 1, 'step')}."

    @property
    def constants(self):
        """The values of the constants in the C code, by name. A value may end with a comment."""
        return {
            "CCM_D": f"{self.model.default_jitter} /* the model's jitter, in steps */",
            "CCM_STEPS": f"{self.horizon} /* a window and the step before it: beliefs time out once a window */",
            "CCM_STEP_NUMERATOR": f"{self.step.numerator} /* a step in R_m */",
            "CCM_STEP_DENOMINATOR": self.step.denominator,
            "CCM_MOST": f"{power(MOST)} /* bytes per step that no link exceeds */",
            "CCM_LARGEST": f"{power(LARGEST_BELIEF)} /* the largest value of any belief */",
            "CCM_HAS_START": f"{int(self.at_start is not None)} /* 1: another controller runs until a large loss */",
            "CCM_ENVELOPE": f"{int(self.is_envelope)} /* 1: the controller leaves a choice of rates, see ccm_want */",
            "CCM_COLUMNS": f'"{",".join(["begun_again", *(belief.name for belief in self.model.beliefs)])}"',
            "CCM_REORDERING": "1 /* a packet is lost when this many later ones are acknowledged */",
            "CCM_LARGE_LOSS": f"{LARGE_LOSS} /* the start ends when a step loses more packets than this */",
        }

    def _decisions(self):
        controllers = {"ccm_decide": self.controller, "ccm_decide_at_start": self.at_start or self.controller}
        jitter = self.model.default_jitter
        return {name: Decision(controller, jitter, name) for name, controller in controllers.items()}


def _function(name, decision):
    controller = decision.controller
    lines = [f"/* The rate of {controller.name}, bytes per step. */"]
    if decision.error:
        lines = [f"/* The rate of {controller.name}, bytes per step, off by less than {decision.error}. */"]
    parameters = "const struct ccm_beliefs *b, uint64_t packet, uint64_t wanted"
    lines = [*decision.functions, *lines, f"static inline uint64_t {name}({parameters})", "{"]
    for read in controller.parameters:
        if read in CONSTANTS and read != "MSS":
            continue
        if any(re.search(rf"\b{read}\b", line) for line in decision.lines):
            lines.append(f"    const int64_t {read} = (int64_t){'packet' if read == 'MSS' else f'b->{read}'};")
    lines += ["    (void)b, (void)packet, (void)wanted;", *decision.lines, "}", ""]
    return "\n".join(lines)


def rounded(belief, value):
    """Return the value of a belief as exported code stores it.

    The function rounds lower bounds down and upper bounds up. Both kinds of bounds are at most MOST.
    """
    return Fraction(min(MOST, belief.whole(value))) if is_bound(belief) else value


def make_guard(controller, around, model=None, horizon=10, jitter=Fraction(1)):
    """Return an Export of an envelope around a congestion control of the kernel, a key of AROUND."""
    export = make(controller, model, horizon, jitter, guarding=True)
    if export.remembers or not export.is_envelope:
        message = f"{export.name} is no envelope; expected a controller that returns `between(low, high)`"
        raise InputError(f"{message} to put around {around}", export.controller.file)
    if around not in AROUND:
        raise InputError(f"there is no guard around '{shown(around)}'; {suggest(shown(around), AROUND)}")
    return replace(export, around=around)


def make(controller, model=None, horizon=10, jitter=Fraction(1), guarding=False):
    """Return an Export of a controller, a file or a shipped name, or a StatefulExport if the controller has state.

    The default model is the one with the fewest beliefs among all models with the beliefs that the controller reads;
    for a controller with state, the first model with window senders. A guarding export may be of an envelope, because
    another program chooses the rate within it.
    """
    given = load_definition("models", "MODEL", model, allow_code=True) if model else None
    path, source = language.find_program(controller)
    if language.is_stateful(source):
        return stateful.make(path, given, _jitter(jitter))
    units = {belief.name: belief.unit for belief in given.beliefs} if given else controllers.shipped_beliefs()
    loaded = _load(controller, units)
    at_start = _load(_beside(loaded), units) if loaded.start else None
    both = [controller for controller in (loaded, at_start) if controller]
    reads = {name for controller in both for name in controller.parameters if name not in CONSTANTS}
    chosen = given or _smallest(reads)
    if reason := _beyond_c(chosen):
        raise InputError(f"the beliefs of {chosen.name} cannot be exported: {reason}")
    for belief in chosen.beliefs:
        c_name(belief.name, f"of the model {chosen.name}:")
    export = Export(loaded, at_start, chosen, horizon, _jitter(jitter))
    if export.is_envelope and not guarding:
        raise _no_rate(export)
    for controller in (loaded, at_start):
        controllers.require_order(controller, chosen.default_jitter)
    if max(export.step.as_integer_ratio()) > LARGEST_PART:
        message = f"with a jitter of '{jitter}' a step is {export.step} R_m, too many digits for integers of 64 bits"
        raise InputError(f"{message}; expected a numerator and a denominator of at most {LARGEST_PART}, as 1/3 has")
    return export


def _no_rate(envelope):
    name = envelope.name if definitions.is_controller(envelope.name) else envelope.controller.file
    message = f"{envelope.name} is an envelope, which has no rate of its own to send at; expected something within it"
    return InputError(
        f"{message}, such as cubic: `export --around cubic`, `--flow guard:{name}:cubic`", envelope.controller.file
    )


def _beside(controller):
    """Return the file or name of the start controller. A path is relative to the folder of the controller."""
    if definitions.is_path(controller.start):
        return str(Path(controller.file).parent / controller.start)
    return controller.start


def _jitter(text):
    try:
        rounds = quantities.in_unit(text, "rtt")
        jitter = exact(text) if rounds is None else rounds
    except InputError:
        jitter = -1
    if not 0 <= jitter <= 1000:
        raise InputError(f"the jitter is '{shown(text)}'; expected 0 to 1000 R_m, such as '1 rtt'")
    return jitter


def _load(name, units):
    controller = controllers.load(name, units)
    c_name(controller.name, "the controller's name", controller.file)
    return controller


def _smallest(reads):
    models = definitions.every("models", "MODEL")
    fitting = [model for model in models if not _beyond_c(model) and reads <= {belief.name for belief in model.beliefs}]
    return min(fitting, key=lambda model: len(model.beliefs))


def _beyond_c(model):
    """Return the reason, in words, why C code cannot compute the beliefs of a model."""
    if not model.beliefs:
        return "it has none"
    if without := next((belief.name for belief in model.beliefs if not belief.program), None):
        return f"{without} has no program"
    return "a real sender does not see losses at once" if model.sees_losses_at_once else None
