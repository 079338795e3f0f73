"""Rebuild generated files as results/manifest.toml describes.

    python results/rebuild.py NAME … [--folder FOLDER]
    python results/rebuild.py --list [NAME …]

A NAME selects each command that contains it, or that makes a file whose path contains it. The script runs these
commands, replaces their files, and records the commit. If a command fails or does not make all of its files, the script
replaces nothing.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "results" / "manifest.toml"


def entries():
    """Return the entries of the manifest, as dicts with `command`, `commit`, `files`, and optionally `by_hand`."""
    return tomllib.loads(MANIFEST.read_text("utf-8"))["made"]


def made_by(entry):
    """Yield the paths of the files that an entry makes, relative to the repository's root."""
    for pattern, target in entry["files"].items():
        if Path(target).suffix:
            yield target
        else:
            yield from (str(path.relative_to(ROOT)) for path in (ROOT / target).glob(Path(pattern).name))


def rebuild(entry, folder):
    """Run the command of an entry in the repository's root, and replace the entry's files by the new ones.

    Args:
        entry: The entry of the manifest.
        folder: The folder in which the command leaves its files.

    Raises:
        SystemExit: If the command fails, or if it makes no file for some pattern.
    """
    command = entry["command"].replace("{out}", str(folder))
    with open(folder / "stdout", "w") as output:
        done = subprocess.run(command, shell=True, cwd=ROOT, stdout=output)
    # A violation, whose exit code is 1, is a result too.
    if done.returncode not in (0, 1):
        sys.exit(f"exit code {done.returncode}: {command}")
    sources = {pattern: sorted(folder.glob(pattern)) for pattern in entry["files"]}
    for pattern, paths in sources.items():
        if not paths:
            sys.exit(f"leaves no {pattern}: {command}")
    for pattern, target in entry["files"].items():
        for path in sources[pattern]:
            replace(path, ROOT / target if Path(target).suffix else ROOT / target / path.name)


def replace(source, target):
    """Replace one file or folder by another."""
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    print(target.relative_to(ROOT))


def record(entry):
    """Write the current commit into the manifest."""
    head = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    command = re.escape(entry["command"].replace('"', '\\"'))
    text = MANIFEST.read_text("utf-8")
    MANIFEST.write_text(re.sub(rf'(command = "{command}"\ncommit = )"\w*"', rf'\1"{commit}"', text), "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path, help="work in this folder and keep it [default: a temporary folder]")
    parser.add_argument(
        "--list",
        action="store_true",
        help="print the commands that match a NAME, or all commands without a NAME; run nothing",
    )
    arguments = parser.parse_args()
    if not (arguments.names or arguments.list):
        parser.error("expected a NAME, or --list")
    for entry in entries():
        texts = (entry["command"], *made_by(entry))
        if arguments.names and not any(name in text for name in arguments.names for text in texts):
            continue
        print(entry["command"], *filter(None, [entry.get("by_hand")]), sep="\n    ", flush=True)
        if arguments.list:
            continue
        with tempfile.TemporaryDirectory() as new:
            folder = arguments.folder or Path(new)
            folder.mkdir(parents=True, exist_ok=True)
            rebuild(entry, folder)
        record(entry)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # A reader such as `head` closed the pipe.
