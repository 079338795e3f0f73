"""The command line and what it printed."""

import json
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from unittest.mock import patch

import pytest

from ccmatic.cli.commands import main


def run(*arguments, cwd=".", together=False):
    """Run `ccmatic …` in a folder and return its exit code, standard output and standard error.

    It runs in this process, which sees what a test has patched and needs no imports; tests/answers/test_program.py runs
    the program itself. together: standard output has the errors as well, in order, as in a terminal.
    """
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch.object(sys, "argv", ["ccmatic", *map(str, arguments)]),
        chdir(cwd),
        redirect_stdout(out),
        redirect_stderr(out if together else err),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    return stop.value.code, *(str(stream.detach().getvalue(), "utf-8") for stream in (out, err))


def lines(text):
    return [json.loads(line) for line in text.splitlines()]
