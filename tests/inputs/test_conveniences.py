"""Forms in which people write arguments of commands, and hints when they probably meant something else."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from ccmatic.cli import options
from support import cli

NETWORK = ("--model", "ccac", "--buffer", "infinite", "--horizon", 5)
MODEL = 'from ccmatic.models.ccac import CCAC\n\nclass Mine(CCAC):\n    name = "mine"\n\nMODEL = Mine()\n'
TEMPLATE = (
    'from ccmatic.contracts import Branch, linear_forms\n\nRATE = linear_forms({"C_L": (1, 2)})\n'
    'TEMPLATE = Branch(linear_forms({"qdel_L": (1,)}), RATE, RATE)\n'
)
QUERY = """[network]
model = "parts/mine.py"
buffer = "infinite"
horizon = 4

[template]
name = "parts/forms.py"
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `ccmatic …` in an empty folder; return the exit code, the output and the error."""
    monkeypatch.chdir(tmp_path)
    return cli.run


def verdict(run, *arguments):
    return json.loads(run("verify", "always_half", *NETWORK, "--json", *arguments)[1])["verdict"]


def test_a_threshold_by_its_name_is_the_flag(run):
    for share, expected in (("0", "holds"), ("1/2", "violated")):
        assert verdict(run, "--threshold", f"utilisation={share}") == verdict(run, "--utilisation", share) == expected


@pytest.mark.parametrize(
    "given, said",
    [
        (("inflight=3",), "synthesis_invariant has no parameter 'inflight'; did you mean 'inflight_rates'?"),
        (("inflight_rates",), "the threshold is 'inflight_rates'; expected NAME=VALUE"),
        (("inflight_rates=3", "inflight_rates=4"), "the threshold inflight_rates is given twice"),
        (("inflight_rates=many",), "inflight_rates is many; expected an exact number"),
    ],
)
def test_a_threshold_that_is_none(run, given, said):
    flags = [word for threshold in given for word in ("--threshold", threshold)]
    code, _, complaint = run("verify", "cc_qdel", *NETWORK, *flags)
    assert code == 2 and said in complaint


def test_a_query_has_its_own_thresholds(run):
    code, _, complaint = run("verify", "cc_qdel", "--query", "g1_t4", "--threshold", "inflight_rates=3")
    assert code == 2 and "--query and --threshold exclude each other" in complaint


def test_a_property_in_a_file(run):
    Path("never.py").write_text(
        "from dataclasses import dataclass\n\nfrom ccmatic.contracts import Property, WayToFail\n\n\n"
        "@dataclass(frozen=True)\nclass Never(Property):\n    name = 'never'\n\n"
        "    def ways_to_fail(self, model, buffer):\n        yield WayToFail('always', lambda x: True)\n\n"
        "    def objectives(self, model, x):\n        return {'the impossible': False}\n\n"
        "    def holds(self, objectives):\n        return all(objectives.values())\n\n\nPROPERTY = Never\n"
    )
    assert verdict(run, "--property", "never.py") == "violated"
    code, _, complaint = run("verify", "cc_qdel", *NETWORK, "--property", "never")
    assert code == 2 and "did you mean './never.py'?" in complaint


def test_paths_in_a_query_are_from_its_folder(run, tmp_path, monkeypatch):
    parts = tmp_path / "queries" / "parts"
    parts.mkdir(parents=True)
    (parts / "mine.py").write_text(MODEL)
    (parts / "forms.py").write_text(TEMPLATE)
    (tmp_path / "queries" / "asked.toml").write_text(QUERY)
    for folder, query in ((tmp_path, "queries/asked.toml"), (parts, "../asked.toml")):
        monkeypatch.chdir(folder)
        code, said, complaint = run("synth", query, "--json", "--out", tmp_path / "found" / folder.name)
        assert (code, complaint) == (1, "") and json.loads(said.splitlines()[-1])["candidates"] == 4
    monkeypatch.chdir(tmp_path)
    (parts / "mine.py").unlink()
    code, _, complaint = run("synth", "queries/asked.toml")
    assert code == 2 and "queries/parts/mine.py: cannot read: no such file" in complaint


def test_a_file_that_was_meant_is_named(run):
    Path("v2.py").write_text("def rate(C_L):\n    return C_L\n")
    assert "did you mean './v2.py'?" in run("verify", "v2", *NETWORK)[2]
    assert "did you mean './v2.py'?" in run("export", "v2", "--target", "c")[2]
    Path("net.py").write_text(MODEL)
    assert "did you mean './net.py'?" in run("verify", "cc_qdel", "--model", "net", *NETWORK[2:])[2]


@pytest.mark.parametrize("controller", ["v2.py", "cc_qdel"])
def test_a_controller_is_no_flow_by_itself(controller):
    from ccmatic.base import InputError
    from ccmatic.deployment.emulation import kinds

    with pytest.raises(InputError, match=f"did you mean 'udp:{controller}' or 'bpf:{controller}'"):
        kinds.flow(controller)


def test_a_flow_is_evaluated_on_the_real_stack(run):
    code, _, complaint = run("evaluate", "udp:cc_qdel")
    assert code == 2 and "did you mean --real?" in complaint and not Path("evaluation").exists()


def test_names_and_files_are_completed():
    words = {"_CCMATIC_COMPLETE": "bash_complete", "COMP_WORDS": "ccmatic verify cc_prob", "COMP_CWORD": "2"}
    completed = subprocess.run(
        [sys.executable, "-m", "ccmatic"], env={**os.environ, **words}, capture_output=True, text=True
    )
    offered = completed.stdout.split()
    assert {"plain,cc_probe_slow", "plain,cc_probe_qdel", "file,cc_prob"} <= set(offered)
    assert "plain,cc_qdel" not in offered


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_how_long_it_takes(monkeypatch, terminal):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    with options.Waiting("slow.py, 1 of 2"):
        sleep(1.5)
    told = r"(\r\033\[Kslow\.py, 1 of 2: \d s)+\r\033\[K" if terminal else ""
    assert re.fullmatch(told, stream.getvalue())
