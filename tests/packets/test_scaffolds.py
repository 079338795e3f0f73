"""The controllers that `judge new` writes: they build, and use the path as their algorithm says."""

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import ccmatic as cm
from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging import adaptors, builds, scenario, subjects
from ccmatic.judging.adaptors import golang
from ccmatic.judging.recording import PACKET, SAMPLE
from support.machine import needs_compiler, needs_go

S, MS = 10**9, 10**6

FOLDER = Path(adaptors.__file__).parent


def library_c(folder):
    return (
        builds.shared_library("controller", {"controller.c": (folder / "controller.c").read_text()}) / "controller.so"
    )


LANGUAGES = [
    pytest.param("c", library_c, marks=needs_compiler, id="c"),
    pytest.param("go", golang.build_library, marks=[needs_compiler, needs_go], id="go"),
]


def play(command, folder, controller="toy"):
    """Return the packets and samples of a run with a constant rate of 24 Mbit/s, and a loss at 5 s."""
    usual = {"rate": 24_000_000, "rtt": 40 * MS, "buffer": 120_000, "jitter": 40 * MS}
    path = records.ScenarioFile(duration=10 * S, events=(records.LossEvent(at=5 * S, packets=1),), **usual)
    (folder / "scenario.txt").write_text(scenario.configuration(scenario.lawful(path), controller))
    subprocess.run(command, input=f"{folder}\n", capture_output=True, text=True, timeout=60, check=True)
    return np.fromfile(folder / "packets.bin", PACKET), np.fromfile(folder / "samples.bin", SAMPLE)


@pytest.mark.parametrize(("language", "build"), LANGUAGES)
def test_scaffold_is_reno(language, build, tmp_path):
    library = build(FOLDER / f"scaffold_{language}")
    packets, samples = play(builds.controller_command(library), tmp_path)
    served = packets["size"][(packets["released"] >= S) & (packets["released"] < 10 * S)].sum()
    assert 0.9 < served / (9 * 3_000_000) <= 1
    windows = samples["window"].astype(int)
    assert 10 * 1500 <= windows[0] <= 12 * 1500
    drops = [(a, b) for a, b in pairwise(windows) if b < a]
    assert drops and all(abs(b - a / 2) <= 1500 for a, b in drops)


@pytest.mark.parametrize(("language", "build"), LANGUAGES)
def test_scaffold_takes_a_name(language, build, tmp_path):
    place = shutil.copytree(FOLDER / f"scaffold_{language}", tmp_path / "mine")
    for file in place.iterdir():
        file.write_text(file.read_text().replace('"toy"', '"mine"'))
    play(builds.controller_command(build(place)), tmp_path, "mine")


@pytest.mark.parametrize("language", ["c", "go"])
def test_scaffold_is_short(language):
    texts = [file.read_text() for file in (FOLDER / f"scaffold_{language}").iterdir() if file.suffix in (".c", ".go")]
    assert texts and all(len(text.splitlines()) <= 60 for text in texts)


@needs_compiler
def test_a_mistake_in_c_names_the_users_file(tmp_path):
    file = tmp_path / "mine.c"
    file.write_text("\nint one(void) { return 1 }\n")
    with pytest.raises(InputError, match=f"refused the C code: (.|\n)*{file}:2:"):
        subjects.subject(str(file)).adaptor.build()


@needs_go
@needs_compiler
def test_go_that_does_not_compile(tmp_path):
    place = shutil.copytree(FOLDER / "scaffold_go", tmp_path / "mine")
    (place / "controller.go").write_text("package main\n\nfunc main() { nothing() }\n")
    with pytest.raises(InputError, match=r"controller.go:3:.*undefined: nothing") as told:
        golang.build_library(place)
    assert told.value.file == str(place)


@needs_compiler
@pytest.mark.parametrize("ignores", [False, True])
def test_a_sender_that_paces_after_a_hold_keeps_the_rule_about_applications(ignores, tmp_path):
    """After a hold the window doubles at once, and a pacing sender needs a long round trip to use it. This broke the
    rule. A sender that grows its window although the application offers too little breaks the rule."""
    text = (FOLDER / "scaffold_python" / "controller.py").read_text()
    (tmp_path / "toy.py").write_text(text.replace(" or event.app_limited", "") if ignores else text)
    on = "48 mbit, rtt 15 ms, buffer 180000 b, jitter 67.5 ms"
    events = [f"limit {6 if ignores else 60} mbit for 4 s at 0 s", "hold 67.5 ms at 80 ms"]
    found = cm.judge(str(tmp_path / "toy.py"), on=on, events=events, rules=["app-limited"], allow_code=True)
    assert [line.verdict for line in found.lines] == ["broken" if ignores else "kept"]
