"""What takes long to import is imported by the commands that need it."""

import subprocess
import sys

import pytest

HEAVY = ["pysmt", "z3", "numpy", "sympy", "mpmath", "matplotlib", "rich", "pysat"]


@pytest.mark.parametrize("arguments, needless", [
    (["--help"], HEAVY),
    (["--version"], HEAVY),
    (["list"], [*HEAVY, "ccmatic.models.ccac", "ccmatic.synthesized.cc_qdel"]),
    (["verify", "cc_qdel", "--query", "g1_t5"], ["sympy", "mpmath", "matplotlib", "numpy", "rich", "pysat"]),
])  # fmt: skip
def test_what_a_command_does_not_import(arguments, needless, tmp_path):
    program = (
        f"import sys; sys.argv = ['ccmatic', *{arguments!r}]\n"
        "from ccmatic.cli import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert not {*needless} & {*done.stderr.split()}
