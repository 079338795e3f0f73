"""A policy's network as C: its constants, its weights, and what is around it."""

from ccmatic.learning.policies import formulas
from ccmatic.runtime import shipped


def constants(policy):
    """C's constants by name, each with its value and maybe a comment."""
    file = policy.file
    return {
        "CCM_HISTORY": f"{file.history} /* intervals of an observation */",
        "CCM_DELAY": f"{file.delay} /* latest intervals that are not in it */",
        "CCM_FEATURES": f"{policy.formulas[0].size} /* numbers of an interval in it */",
        "CCM_REGISTERS": f"{sum(map(len, policy.memory)) or 1} /* numbers that its formulas remember */",
        "CCM_LEAST_ACTION": _float(policy.bounds[0]),
        "CCM_MOST_ACTION": _float(policy.bounds[1]),
    }


def parts(policy):
    """Yields the texts that define `ccm_network`, and what it observes by: `struct ccm_watch` and its functions."""
    yield shipped("measured.h")
    yield from formulas.parts(policy)
    yield shipped("network.h")
    yield _layers(policy)
    yield shipped("watch.h")


def _layers(policy):
    """Its weights, a row for each input, and the layers in turn."""
    arrays, calls = [], []
    taken, last = "x", len(policy.layers)
    for number, (weights, bias) in enumerate(policy.layers, 1):
        inputs, outputs = weights.shape
        arrays += [_array(f"ccm_weights_{number}", weights.ravel()), _array(f"ccm_bias_{number}", bias)]
        given = f"layer_{number}"
        calls.append(f"    float {given}[{outputs}];")
        about = f"ccm_weights_{number}, ccm_bias_{number}, {inputs}, {outputs}, {int(number < last)}"
        calls.append(f"    ccm_layer({taken}, {given}, {about});")
        taken = given
    body = ["static inline float ccm_network(const float *x)", "{", *calls, f"    return {taken}[0];", "}\n"]
    return "\n".join([*arrays, "/* The action for an observation. */", *body])


def _array(name, values):
    lines = [", ".join(_float(value) for value in values[i : i + 8]) for i in range(0, len(values), 8)]
    return f"static const float {name}[{len(values)}] = {{\n    " + ",\n    ".join(lines) + "};\n"


def _float(value):
    """A float32 in C, exactly."""
    return f"{float(value)!r}f"
