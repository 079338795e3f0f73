"""A policy as one C header: its network, and a sender around it that measures intervals."""

from dataclasses import dataclass
from pathlib import Path

from ccmatic.base import InputError, c_name, writable_folder
from ccmatic.codegen import files, parts
from ccmatic.policies.onnx_file import write_onnx
from ccmatic.policies.policy import ACTIONS, OBSERVATIONS, Policy, load


@dataclass(frozen=True)
class PolicyExport:
    """What is exported."""

    policy: Policy

    library, remembers, around, is_envelope = "policy_library.c", True, None, False

    def __post_init__(self):
        c_name(self.name, "the name of the policy's file")

    @property
    def name(self):
        """Of the policy's file, and of what is written."""
        return self.policy.name

    @property
    def kernel_program(self):
        """There is none. Raises InputError."""
        raise InputError(f"{self.name} computes with fractions, which the kernel has not; expected --target udp or c")

    def header(self):
        """The text of NAME.h."""
        file = self.policy.file
        sizes = "-".join(str(len(layer.bias)) for layer in file.layers)
        about = f"A policy of {file.history} intervals, a network of {sizes}, trained for the reward {file.reward}."
        text = [parts.title(self.name, f"{file.observe} observations", about), "#include <math.h>\n", self._constants()]
        text += [files.shipped("c", f"{name}.h") for name in ("arithmetic", "measured", "network")]
        text += [self._network(), *(files.shipped("c", f"{name}.h") for name in ("policy", "step"))]
        return "\n".join([*text, "#endif\n"])

    def _constants(self):
        file, interval = self.policy.file, self.policy.interval
        values = {
            "CCM_HISTORY": f"{file.history} /* intervals of an observation */",
            "CCM_DELAY": f"{file.delay} /* latest intervals that are not in it */",
            "CCM_FEATURES": f"{OBSERVATIONS[file.observe]} /* numbers of an interval in it */",
            "CCM_OBSERVE": f"ccm_observe_{file.observe}",
            "CCM_REWARD": f"ccm_reward_{file.reward}",
            "CCM_ACT": f"ccm_act_{file.act}",
            "CCM_MOST_ACTION": _float(ACTIONS[file.act]),
            "CCM_INTERVAL_NUMERATOR": f"{interval.numerator} /* an interval in R_m */",
            "CCM_INTERVAL_DENOMINATOR": interval.denominator,
            "CCM_ENVELOPE": "0 /* it leaves no choice of rates */",
            "CCM_COLUMNS": '"rtt_ns"',
            "CCM_REORDERING": "3 /* packets later than one of which acknowledgements tell that it is lost */",
        }
        return parts.constants(self.name, values)

    def _network(self):
        """Its weights, a row for each input, and the layers in turn."""
        arrays, calls = [], []
        taken, last = "x", len(self.policy.layers)
        for number, (weights, bias) in enumerate(self.policy.layers, 1):
            inputs, outputs = weights.shape
            arrays += [_array(f"ccm_weights_{number}", weights.ravel()), _array(f"ccm_bias_{number}", bias)]
            given = f"layer_{number}"
            calls.append(f"    float {given}[{outputs}];")
            about = f"ccm_weights_{number}, ccm_bias_{number}, {inputs}, {outputs}, {int(number < last)}"
            calls.append(f"    ccm_layer({taken}, {given}, {about});")
            taken = given
        body = ["static inline float ccm_network(const float *x)", "{", *calls, f"    return {taken}[0];", "}\n"]
        return "\n".join([*arrays, "/* The action for an observation. */", *body])


def export(file, target, out=None) -> list[Path]:
    """Write a policy's file for a target, `c`, `udp` or `onnx`, to a folder: one of its name if that is None. The paths
    of what is written. Raises InputError."""
    policy = load(file)
    folder = out or policy.name
    if target == "onnx":
        return [write_onnx(policy, writable_folder(folder) / f"{policy.name}.onnx")]
    return files.write(PolicyExport(policy), target, folder)


def _array(name, values):
    lines = [", ".join(_float(value) for value in values[i : i + 8]) for i in range(0, len(values), 8)]
    return f"static const float {name}[{len(values)}] = {{\n    " + ",\n    ".join(lines) + "};\n"


def _float(value):
    """A float32 in C, exactly."""
    return f"{float(value)!r}f"
