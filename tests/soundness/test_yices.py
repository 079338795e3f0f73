"""Yices: the values of unknowns that no assertion has, and a program that ends early."""

import shutil

import pytest

from ccmatic.logic import boolean, real
from ccmatic.logic.solving import SAT, Checker, SolverOptions
from support.cli import run


def test_an_unknown_in_no_assertion_has_a_value():
    if not shutil.which("yices-smt2"):
        pytest.skip("no yices-smt2 on this machine")
    checker = Checker(SolverOptions(solvers=("yices",)))
    checker.add(real("x") >= 1)
    assert checker.check() == SAT
    assert (checker.value(real("y")), checker.value(boolean("b"))) == (0, False)
    assert checker.value(real("x")) >= 1


def test_a_program_that_ends_early_gives_no_verdict(tmp_path, monkeypatch):
    """A broken pipe to a solver is no broken pipe of the output, which is no error, and no fault of a user's file."""
    (tmp_path / "own.py").write_text("from ccmatic.models.ideal import MODEL\n")
    (tmp_path / "yices-smt2").symlink_to(shutil.which("true"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    asked = ("--model", "own.py", "--buffer", "infinite", "--horizon", "4")
    code, out, err = run("verify", "always_double", *asked, "--solver", "yices", cwd=tmp_path)
    assert (code, out, err) == (3, "", "ccmatic: the solver Yices has ended early\n")
