"""Measure the path of a reader through ccmatic's code.

The reader follows a run, and reads each function at its first call.
    python -m benchmarks.studies.tour [--json] [--proof FILE]

A room is a package or a module at the root of ccmatic/. Its floor is the length of the longest chain of imports below
it. The tour lists a room each time the reader enters it. `stays` counts all entries. `climbs` counts the entries from a
lower floor. `returns` counts the entries to a room that the reader visited before. The tour ignores definitions, and
code that runs at import. A comprehension or a lambda belongs to the function around it.
"""

import argparse
import ast
import contextlib
import functools
import io
import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import ccmatic
from ccmatic import cli

ENGINE = Path(ccmatic.__file__).parent
PROOF = Path(__file__).parents[2] / "tests" / "proofs" / "drains.py"
TARDY = "def rate(R_m, MSS):\n    return MSS / R_m\n"


def commands(proof):
    """Return the commands by name. Each command is a sequence of command lines."""
    Path("tardy.py").write_text(TARDY)
    return {
        "verify": [["verify", "cc_qdel", "--model", "ccac", "--buffer", "infinite", "--horizon", "5", "--fresh"]],
        "synth": [["synth", "g1_t5", "--jobs", "1"]],
        "prove, check": [
            ["prove", "tardy.py", "--proof", str(proof), "--horizon", "5", "--out", "."],
            ["check", f"{proof.stem}-tardy_T5.json", "--allow-code"],
        ],
    }


def room(file):
    """Return the room of a file; None for a file outside ccmatic/."""
    path = Path(file)
    return path.relative_to(ENGINE).parts[0].removesuffix(".py") if path.is_relative_to(ENGINE) else None


class Tour:
    """The rooms of a run, in the order in which the run first calls each function."""

    def __init__(self):
        self.rooms, self._seen, self._importing = [], set(), 0
        self._room = functools.cache(room)

    def __enter__(self):
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _called(self, frame, event, _):
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing and code not in self._seen and code.co_name[0] != "<":
            self._seen.add(code)
            here = self._room(code.co_filename)
            if here and (not self.rooms or self.rooms[-1] != here):
                self.rooms.append(here)


def floors():
    """Return the floor of each room, by the imports of its files."""
    below = {}
    for file in ENGINE.rglob("*.py"):
        imports = below.setdefault(room(file), set())
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "ccmatic":
                parts = node.module.split(".")[1:]
                imports.update([parts[0]] if parts else [alias.name for alias in node.names])
            elif isinstance(node, ast.Import):
                imports.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("ccmatic."))

    @functools.cache
    def floor(name):
        return 1 + max((floor(other) for other in below[name] & below.keys() - {name}), default=-1)

    return {name: floor(name) for name in below}


def counts(rooms, level):
    """Count the stays, the climbs and the returns of a tour."""
    steps = list(pairwise(rooms))
    return {
        "rooms": len(set(rooms)),
        "stays": len(rooms),
        "climbs": sum(level[here] > level[before] for before, here in steps),
        "returns": sum(here in rooms[:i] for i, here in enumerate(rooms)),
    }


def tour(lines):
    """Return the rooms of a sequence of command lines."""
    with Tour() as guide:
        for line in lines:
            sys.argv = ["ccmatic", *line]
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    cli.main()
                except SystemExit as ended:
                    if ended.code == 2:
                        raise RuntimeError(f"ccmatic {' '.join(line)} was refused") from None
    return guide.rooms


def main():
    """Print a line for each tour."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON with the rooms in order")
    parser.add_argument("--proof", type=Path, default=PROOF, help="another proof than tests/proofs/drains.py")
    arguments = parser.parse_args()
    level, proof = floors(), arguments.proof.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, lines in commands(proof).items():
            rooms = tour(lines)
            numbers = counts(rooms, level)
            if arguments.json:
                print(json.dumps({"tour": name, **numbers, "order": rooms}))
            else:
                print(f"{name:<14}" + "  ".join(f"{value:>3} {what}" for what, value in numbers.items()))


if __name__ == "__main__":
    main()
