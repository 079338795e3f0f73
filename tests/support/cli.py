"""The command line: as a process of its own, and what it printed."""

import json
import subprocess
import sys


def run(*arguments, cwd):
    """The exit code, standard output and standard error of `ccmatic …`."""
    command = [sys.executable, "-c", "from ccmatic.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def lines(text):
    return [json.loads(line) for line in text.splitlines()]
