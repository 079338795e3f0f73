"""Which of the planted faults of faults.toml the default tests catch.

python -m benchmarks.faults FOLDER [--commit COMMIT]

FOLDER gets a clone, an environment with the tests' requirements, and `results.jsonl`, from which a run that was
interrupted goes on. A first run of all tests notes which of them reach the function of each fault. Then each fault is
planted alone, and those tests run until one fails. Faults in C are reached by all.
"""

import argparse
import ast
import json
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from pathlib import Path

FAULTS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())["fault"]
#: A module of the environment. It notes once a test which faults the test reaches, also in processes that it starts.
NOTES = """import os

SEEN = set()


def reached(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (number, test) not in SEEN:
        SEEN.add((number, test))
        with open(os.path.join({folder!r}, str(number)), "a") as file:
            file.write(test + "\\n")
"""
LONGEST = 1200  # seconds until a suite that hangs is ended, which catches a fault as well


def place(root, fault):
    """The file in which the fault's text stands, and its text. The text stands once in the code that is tested."""
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    rooms = ("ccmatic/", "models/", "properties/", "templates/", "proofs/")
    files = [root / name for name in tracked if name.startswith(rooms) and name.endswith((".py", ".c", ".h", ".js"))]
    found = [(file, text) for file in files if fault["old"] in (text := file.read_text())]
    if len(found) != 1 or found[0][1].count(fault["old"]) != 1:
        sys.exit(f"{fault['says']!r}: its text stands {len(found)} times in the code; expected once")
    return found[0]


def watch(root):
    """Note at the start of each fault's function that it is reached."""
    for number, fault in enumerate(FAULTS):
        file, text = place(root, fault)
        if file.suffix != ".py":
            continue
        line = text[: text.index(fault["old"])].count("\n") + 1
        functions = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= (node.end_lineno or 0)
        ]
        first = max(functions, key=lambda node: node.lineno).body[0]
        lines = text.splitlines(keepends=True)
        # A docstring that is no longer first is a statement without effect.
        lines.insert(first.lineno - 1, " " * first.col_offset + f"import noted; noted.reached({number})\n")
        file.write_text("".join(lines))


def pytest(folder, *arguments, longest=None):
    """Run the tests, those of standard error and output being one text; return the exit code and the text."""
    command = [folder / "venv/bin/python", "-m", "pytest", "-n", "auto", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder / "clone", text=True, errors="replace", timeout=longest,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return 1, f"FAILED after {longest} s\n{late.output or ''}"
    return done.returncode, done.stdout


def prepare(folder, commit):
    """Clone the commit, make its environment, and note which tests reach which fault."""
    clone, notes = folder / "clone", folder / "notes"
    git = ["git", "-C", clone]
    subprocess.run(["git", "clone", "-q", ".", clone], check=True)
    subprocess.run([*git, "checkout", "-q", commit], check=True)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([folder / "venv/bin/pip", "install", "-q", "-e", ".[test,rl]"], cwd=clone, check=True)
    packages = next((folder / "venv/lib").glob("python*/site-packages"))
    notes.mkdir()
    (packages / "noted.py").write_text(NOTES.format(folder=str(notes.resolve())))
    watch(clone)
    _, text = pytest(folder, "--dist", "loadfile")
    subprocess.run([*git, "checkout", "-q", "."], check=True)
    (folder / "watched.txt").write_text(text)


def in_turn(notes):
    """The tests that reach a fault, one of each file before the second one of any, those of few tests first."""
    tests = sorted(set(notes.read_text().split("\n")) - {""}) if notes.exists() else []
    files = defaultdict(list)
    for test in tests:
        files[test.partition("::")[0]].append(test)
    longest = max(map(len, files.values()), default=0)
    rounds = (its[n : n + 1] for n in range(longest) for its in sorted(files.values(), key=len))
    return [test for one in rounds for test in one]


def result(folder, number):
    """Plant one fault and say whether the tests that reach it catch it."""
    fault, notes = FAULTS[number], folder / "notes" / str(number)
    file, text = place(folder / "clone", fault)
    everywhere = file.suffix != ".py"
    tests = in_turn(notes)
    if not everywhere and not tests:
        return {"fault": number, "says": fault["says"], "caught": False, "reached": 0}
    chosen = folder / "chosen.txt"
    chosen.write_text("\n".join(tests))
    begin = time.time()
    file.write_text(text.replace(fault["old"], fault["new"]))
    try:
        code, printed = pytest(
            folder, "-x", *(() if everywhere else ("--dist", "load", f"@{chosen.resolve()}")), longest=LONGEST
        )
    finally:
        file.write_text(text)
    by = [line.split(" - ")[0] for line in printed.split("\n") if line.startswith(("FAILED", "ERROR"))]
    if code not in (0, 1, 2):
        sys.exit(printed[-3000:])
    return {
        "fault": number, "room": fault["room"], "says": fault["says"], "caught": code != 0, "by": by[:1],
        "reached": len(tests), "seconds": round(time.time() - begin, 1),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commit", default="HEAD")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if not (options.folder / "watched.txt").exists():
        prepare(options.folder, options.commit)
    results = options.folder / "results.jsonl"
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    for number in range(len(FAULTS)):
        if number not in {each["fault"] for each in known}:
            found = result(options.folder, number)
            known.append(found)
            with results.open("a") as file:
                file.write(json.dumps(found) + "\n")
            print(json.dumps(found), flush=True)
    print(f"{sum(each['caught'] for each in known)} of {len(known)} faults are caught")


if __name__ == "__main__":
    main()
