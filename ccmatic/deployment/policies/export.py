"""A policy as one C header: its network, and a sender that measures intervals and calls the network.

If the policy acts in an envelope, the header contains the envelope's sender, and the network chooses among the allowed
rates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, c_name, definitions, shown, writable_folder
from ccmatic.controllers import Controller, signal
from ccmatic.deployment import exporting
from ccmatic.deployment.policies import formulas
from ccmatic.deployment.policies.onnx_policy import write_onnx
from ccmatic.deployment.policies.policy import PROVED_HORIZON, Policy, envelope, is_policy, load
from ccmatic.deployment.policies.program import OBSERVATION, Bias, Cell, Weights, program, recurrent, widened
from ccmatic.language import Tree
from ccmatic.worlds.c import float_function, float_literal
from ccmatic.worlds.runtime import shipped

#: The measurements of marks.
MARKS = ("marked", f"marked{signal.BEFORE}")


def _network_constants(policy: Policy) -> dict[str, str | int]:
    file = policy.file
    read = frozenset().union(*(formula.inputs for formula in policy.formulas))
    ecn = {} if read.isdisjoint(MARKS) else {"CCM_ECN": "1 /* the formulas read marks: the packets say so to links */"}
    memory = {} if policy.cell is None else {"CCM_MEMORY": f"{policy.cell.units} /* numbers in the network's memory */"}
    return {
        "CCM_HISTORY": f"{file.history} /* intervals in an observation */",
        "CCM_DELAY": f"{file.delay} /* latest intervals that it leaves out */",
        "CCM_FEATURES": f"{policy.formulas[0].size} /* its numbers for each interval */",
        "CCM_REGISTERS": f"{sum(map(len, policy.memory)) or 1} /* numbers that the formulas store */",
        "CCM_LEAST_ACTION": float_literal(policy.bounds[0]),
        "CCM_MOST_ACTION": float_literal(policy.bounds[1]),
        **ecn,
        **memory,
    }


def _network_parts(policy: Policy) -> Iterator[str]:
    """Yield the C texts that define `ccm_network` and its observations: `struct ccm_watch` and its functions."""
    yield shipped("floats.h")
    yield shipped("measured.h")
    yield from formulas.parts(policy.memory, policy.formulas)
    if policy.cell is not None:
        yield float_function("ccm_memory_of", _exact_cell(policy.cell), OBSERVATION)
        yield _RECALLING
    yield float_function("ccm_network_of", program(list(map(_exact, policy.layers)), policy.activations), OBSERVATION)
    yield _choosing(policy.choices) if policy.choices else _NETWORK
    yield shipped("watch.h")


_NETWORK = """/* The action for an observation. It is 0 if sums leave the range of floats and give no number. */
static inline float ccm_network(const float *x)
{
    float action[1];

    ccm_network_of(x, action);
    return isnan(action[0]) ? 0 : action[0];
}
"""


_RECALLING = """/* Update the memory with an observation. The network reads the memory in place of the observation. */
static inline void ccm_recall(const float *x, float *memory)
{
    float in[CCM_HISTORY * CCM_FEATURES + CCM_MEMORY];

    memcpy(in, x, CCM_HISTORY * CCM_FEATURES * sizeof *in);
    memcpy(in + CCM_HISTORY * CCM_FEATURES, memory, CCM_MEMORY * sizeof *in);
    ccm_memory_of(in, memory);
}
"""


def _choosing(choices: Sequence[float]) -> str:
    """Return the C function that takes the first of the actions with the highest score."""
    numbers = ", ".join(map(float_literal, choices))
    return f"""/* The action with the highest score for an observation. A score that is no number is the highest. */
static inline float ccm_network(const float *x)
{{
    static const float choices[] = {{{numbers}}};
    float scores[{len(choices)}];
    unsigned best = 0;

    ccm_network_of(x, scores);
    for (unsigned i = 1; i < {len(choices)}; i++)
        if (scores[i] > scores[best] || (isnan(scores[i]) && !isnan(scores[best])))
            best = i;
    return choices[best];
}}
"""


def _exact_cell(cell: Cell) -> Tree:
    """Return the program of a unit with these weights and biases."""
    parts = widened(cell, np.concatenate, np.zeros)
    return recurrent(len(cell.candidate[0]), cell.units, lambda name: _exact(parts[name]))


def _exact(layer: tuple[NDArray[np.float32], NDArray[np.float32]]) -> tuple[Weights, Bias]:
    """Return a layer in the form of an `Affine`: the weights, with a row per output, and the bias, as fractions."""
    weights, bias = layer
    return tuple(tuple(map(Fraction, row)) for row in weights.T.tolist()), tuple(map(Fraction, bias.tolist()))


#: The word for policies inside a guard.
GUARDED = "policy"


@dataclass(frozen=True)
class PolicyExport:
    policy: Policy

    library, remembers, around, is_envelope = "policy_library.c", True, None, False

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def kernel_program(self) -> NoReturn:
        raise exporting.no_fractions(self.name)

    def header(self) -> str:
        about = f"{self.policy.file.observe} observations"
        text = [exporting.title(self.name, about, self.policy.about)]
        text += [exporting.constants(self.name, self._values())]
        text += [shipped("arithmetic.h"), *_network_parts(self.policy)]
        text += [shipped(f"{name}.h") for name in ("policy", "step", "counted")]
        return "\n".join([*text, "#endif\n"])

    def _values(self) -> dict[str, str | int]:
        interval = self.policy.interval
        return _network_constants(self.policy) | {
            "CCM_INTERVAL_NUMERATOR": f"{interval.numerator} /* an interval in R_m */",
            "CCM_INTERVAL_DENOMINATOR": interval.denominator,
            "CCM_ENVELOPE": "0 /* the policy leaves no choice of rates */",
            "CCM_COLUMNS": '"rtt_ns,rtt_end_ns,marked"',
            "CCM_REORDERING": "3 /* a packet is lost when this many later ones are acknowledged */",
        }


@dataclass(frozen=True)
class _Commanded(PolicyExport):
    """The export of a sender whose rates come from a command. Its network never changes the rate."""

    def _values(self) -> dict[str, str | int]:
        told: dict[str, str | int] = {"CCM_ENVELOPE": "1 /* a command writes the rates */", "CCM_TOLD": 1}
        return super()._values() | told | {"CCM_ECN": "1 /* links may mark its packets */"}


def commanded() -> PolicyExport:
    """Return the PolicyExport of a UDP sender that sends at commanded rates.

    The program in the option `--policy COMMAND` writes the rates. Each rate takes effect at its arrival. The sender
    writes its measurements of each interval.
    """
    default = definitions.chosen("models.signals", "DEFAULT")
    still = records.LayerRecord([[0.0]] * signal.load("observe", default).size, [0.0])
    names = dict.fromkeys(("observe", "act", "reward"), default)
    file = records.PolicyFile(query={}, seed=0, **names, history=1, delay=0, interval="1", layers=[still], curve=[])
    return _Commanded(Policy(file, "told"))


@dataclass(frozen=True)
class GuidedExport(exporting.Export):
    """The export of an envelope in which a policy chooses one of the allowed rates once per step.

    If the policy itself does not act in an envelope, the envelope is a guard: it limits the rates of the policy.
    """

    policy: Policy = field(kw_only=True)

    library = "guided_library.c"

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def source(self) -> str:
        place = "An envelope limits its rates" if self.guards else "It chooses in an envelope"
        return f"{self.policy.about}\n\n{place}:\n\n{self.controller.source}"

    @property
    def guards(self) -> bool:
        """Whether the envelope limits a policy that does not act in an envelope by itself."""
        return self.policy.envelope is None

    @property
    def kernel_program(self) -> NoReturn:
        raise exporting.no_fractions(self.name)

    @property
    def constants(self) -> dict[str, str | int]:
        sender: dict[str, str | int] = super().constants
        chosen: dict[str, str | int] = {"CCM_ENVELOPE": "0 /* the network chooses the rate */", "CCM_NETWORK": 1}
        guard: dict[str, str | int] = {"CCM_GUARD": "1 /* the network wants a rate, which the envelope limits */"}
        return sender | _network_constants(self.policy) | chosen | (guard if self.guards else {})

    def within(self) -> Iterator[str]:
        return _network_parts(self.policy)


def exported(policy: Policy) -> PolicyExport | GuidedExport:
    c_name(policy.name, "the name of the policy's file")
    if policy.envelope is None:
        return PolicyExport(policy)
    return _guided(policy, policy.envelope)


def guarded(text: str) -> GuidedExport:
    """Return the GuidedExport of `ENVELOPE:policy:FILE`, a policy whose rates an envelope limits."""
    name, colon, file = text.partition(f":{GUARDED}:")
    if not colon or not name or not file:
        raise InputError(f"found 'guard:{shown(text)}'; expected guard:ENVELOPE:{GUARDED}:FILE")
    limits, policy = envelope(f"envelope:{name}"), load(file)
    if policy.envelope is not None:
        raise InputError(
            f"{policy.name} acts in the envelope {policy.envelope.name}; expected a policy without one", file
        )
    assert limits is not None  # The name has the form envelope:NAME.
    c_name(policy.name, "the name of the policy's file")
    return _guided(policy, limits)


def _guided(policy: Policy, limits: Controller) -> GuidedExport:
    made = exporting.make(limits.file, horizon=PROVED_HORIZON, guarding=True)
    jitter = policy.interval * made.model.default_jitter - 1  # With this value, one step is one interval.
    if jitter < 0:
        expected = "an R_m at least, as the beliefs of envelopes are of what happens in one"
        raise InputError(f"{policy.name} measures intervals of {policy.interval} R_m; expected {expected}")
    given = {part.name: getattr(made, part.name) for part in fields(made)}
    return GuidedExport(**{**given, "jitter": jitter}, policy=policy)


def with_guarantees(file: records.PolicyFile) -> records.PolicyFile:
    """Return a PolicyFile with the policy's guarantees as sentences, if C code can express its envelope."""
    if envelope(file.act) is None:
        return file
    try:
        guided = exported(Policy(file, "policy"))
        assert isinstance(guided, GuidedExport)
        return msgspec.structs.replace(file, guarantees=list(guided.promises()))
    except InputError:
        return file


def export(
    controller: str | Path,
    target: str,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    horizon: int = 10,
    jitter: int | str | Fraction = 1,
    around: str | None = None,
) -> list[Path]:
    """Compile a controller, or a trained policy, to C.

    `cm.export("cc_qdel", "udp", "out")` writes a sender and a receiver over UDP.

    Args:
        controller: A controller's name or file, or a policy's file.
        target: `c`, `bpf` or `udp`; for a policy `c`, `udp` or `onnx`.
        out: The output folder. By default, a folder with the controller's name.
        model: The model whose beliefs the C code computes. By default, the model with the fewest beliefs among
            those that have the controller's beliefs.
        horizon: T, which is one more than the number of steps in a window. Beliefs time out every T-1 steps.
        jitter: The largest variation of delay, in R_m, that has causes other than queueing.
        around: The sender whose rates the envelope limits: the kernel's `cubic`, `bbr` or `reno`, for the target `bpf`;
            or a policy, as `policy:FILE`, for the targets `c` and `udp`.

    Returns:
        The paths of the written files.

    Raises:
        InputError: If the controller cannot be compiled, or a file cannot be written.
    """
    if is_policy(controller):
        policy = load(controller)
        folder = out or policy.name
        if target == "onnx":
            return [write_onnx(policy, writable_folder(folder) / f"{policy.name}.onnx")]
        return exporting.write(exported(policy), target, folder)
    settings = (model, horizon, str(jitter))
    word, _, _ = (around or "").partition(":")
    if word == GUARDED:
        made = guarded(f"{controller}:{around}")
    elif around and target != "bpf":
        raise InputError(f"--around {around} for the target {target}; expected --target bpf: the kernel runs it")
    elif around:
        made = exporting.make_guard(str(controller), around, *settings)
    else:
        made = exporting.make(str(controller), *settings, guarding=True)
    return exporting.write(made, target, out or made.name)
