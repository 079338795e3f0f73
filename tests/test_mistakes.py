"""Mistakes of newcomers to the question language: each gets one message, which says what was found and expected."""

import shlex
import tomllib

import pytest

from support import ROOT
from support.cli import run

RECORDED = tomllib.loads((ROOT / "tests" / "questions" / "mistakes.toml").read_text())


@pytest.mark.parametrize("mistake", RECORDED["mistakes"], ids=lambda mistake: mistake["mistake"])
def test_a_mistake_gets_one_message(mistake, tmp_path):
    for name, text in RECORDED["files"].items():
        (tmp_path / name).write_text(text)
    code, out, err = run(*shlex.split(mistake["command"]), cwd=tmp_path)
    assert (code, out, err) == (2, "", f"ccmatic: {mistake['message']}\n")


def test_a_message_names_what_was_expected():
    for mistake in RECORDED["mistakes"]:
        expects = ("expected", "did you mean", "needs", "write", "no such file", "cannot read")
        assert any(word in mistake["message"].lower() for word in expects), mistake["mistake"]
