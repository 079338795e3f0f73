"""The command line, as a process of its own or in this one, and what it printed."""

import json
import subprocess
import sys
from unittest.mock import patch

import pytest

from ccmatic.cli.commands import main


def run(*arguments, cwd):
    """The exit code, standard output and standard error of `ccmatic …`."""
    command = [sys.executable, "-c", "from ccmatic.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def here(capsys, *arguments):
    """The same in this process, which sees what a test has patched and is quicker."""
    with patch.object(sys, "argv", ["ccmatic", *map(str, arguments)]), pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, *capsys.readouterr()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]
