"""Build code in Go with the user's go."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.builds import built

#: The time limit of a build in seconds. A first build downloads modules, and compiles all of them.
_PATIENCE = 600


def go_version(least: tuple[int, int]) -> str:
    """Return the version of go.

    Args:
        least: The least version that the code needs.

    Raises:
        InputError: If there is no go, or if it is too old.
    """
    if not shutil.which("go"):
        raise InputError("there is no go, which builds this subject; https://go.dev/dl has it")
    version = run_go(["env", "GOVERSION"], Path.cwd()).strip()
    numbers = re.match(r"go(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < least:
        raise InputError(f"go is too old: found {version}, expected go{least[0]}.{least[1]} or later")
    return version


def run_go(arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run go in a folder, and return its output.

    Args:
        arguments: The arguments of go.
        folder: The folder.
        variables: Further variables of the environment.

    Raises:
        InputError: If go fails, with the end of its messages; or if it takes longer than ten minutes.
    """
    environment = os.environ | {"CGO_ENABLED": "1"} | dict(variables or {})
    command = ["go", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{' '.join(command[:2])} takes longer than {_PATIENCE} s") from None
    if done.returncode:
        messages = [line for line in done.stderr.splitlines() if not line.startswith("go: downloading")]
        raise InputError(f"{' '.join(command[:2])} fails: " + "\n".join(messages)[-2000:].strip())
    return done.stdout


def build_library(folder: Path) -> Path:
    """Build a Go module of the user that exports the functions of controller.h, and return the shared library.

    Raises:
        InputError: If there is no go, or the build fails.
    """
    go_version((1, 21))
    with tempfile.TemporaryDirectory() as place:
        library = Path(place) / "controller.so"
        run_go(["build", "-buildmode", "c-shared", "-o", str(library), "."], folder)

        def keep(folder: Path) -> None:
            shutil.copy(library, folder)

        return built("go-controller", [library], keep) / library.name
