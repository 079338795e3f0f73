"""The README's commands: all are ones that the command line takes, and the cheap ones run as they are copied."""

import re
import shlex
import shutil

import pytest

from ccmatic.cli.commands import cli
from support import ROOT
from support.cli import run

#: Those that take minutes, or root, or until they are interrupted; other tests run the like of them.
COSTLY = (
    "synth", "widen", "check-widening", "prove", "front", "check", "check-cover", "runs", "emulate", "evaluate",
    "tradeoff", "train", "attack", "starve", "workbench", "judge",
)  # fmt: skip

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^    ccmatic (.*)$", README, re.MULTILINE)
INLINE = [" ".join(text.split()) for text in re.findall(r"`ccmatic\s+([^`]*)`", README)]
COMMANDS = [shlex.split(text, comments=True) for text in [*BLOCKS, *INLINE]]
CHEAP = [command for command in COMMANDS if command[0] not in COSTLY]


def test_the_commands_are_found():
    assert len(COMMANDS) > 12
    assert {command[0] for command in CHEAP} == {"verify", "worst", "replay", "export", "list", "fit"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_line_takes_it(command):
    group, words = cli, list(command)
    while words and words[0] in getattr(group, "commands", ()):
        group = group.commands[words.pop(0)]
    assert group is not cli
    group.make_context(group.name, words)


def test_the_first_command_prints_what_is_shown(tmp_path):
    """But for times and the digest of the trace's name."""
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    _, out, _ = run(*COMMANDS[0], cwd=tmp_path)

    def without(text):
        return re.sub(r"\d+\.\d s |-\w{8}\.json", "", text)

    assert without(out).startswith(without(shown))


@pytest.mark.parametrize("command", CHEAP, ids=" ".join)
def test_it_runs(command, tmp_path):
    if "all" in command and not shutil.which("yices-smt2"):
        pytest.skip("no yices-smt2 on this machine")
    for folder in ("examples", "docs", "results"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "my_reno.py").write_text((ROOT / "examples/controllers/reno.py").read_text())
    code, out, err = run(*command, cwd=tmp_path)
    assert code in (0, 1) and out + err
    assert all(line.startswith(("ccmatic: the trace", "note: ")) for line in err.splitlines()), err
