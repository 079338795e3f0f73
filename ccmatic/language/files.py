"""Files of programs: Python in the subset of the language, or networks in ONNX."""

from pathlib import Path

from ccmatic.base import InputError, definitions, read_text
from ccmatic.records import PolicyFile, read_record


def find_program(name: str | Path) -> tuple[Path, str]:
    """Return the path and the text of a controller in a Python or ONNX file, or of a shipped controller's name."""
    path = definitions.find_file(definitions.CONTROLLERS, name, ".py")
    if path.suffix == ".onnx":
        from ccmatic.language import onnx_file  # imported here, so that reading Python does not load NumPy

        return path, onnx_file.program(path)
    if path.suffix == ".json":
        raise _not_linear(path)
    return path, read_text(path)


def _not_linear(path: Path) -> InputError:
    """Say why a trained policy is no program for solvers."""
    policy = read_record(read_text(path), PolicyFile, str(path))
    word, _, envelope = policy.act.partition(":")
    expected = "an ONNX network of Relu whose inputs are terms of rates (docs/controllers.md)"
    if word == "envelope":
        expected = f"the envelope that it stays in, {envelope}"
    problem = f"a policy whose layers end in tanh, and which observes {policy.observe}'s signals: neither is linear"
    return InputError(f"{problem}; expected {expected}", str(path))
