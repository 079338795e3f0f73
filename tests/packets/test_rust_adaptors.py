"""Tests of the sources of adaptors in Rust, and of what cargo makes of them."""

import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging.adaptors import cargo
from ccmatic.judging.running import Session
from ccmatic.judging.scenario import MS, SECOND, Scenario
from ccmatic.judging.subjects import subject
from ccmatic.judging.verdicts import Source, outcome
from support import ROOT

RESULTS = ROOT / "results" / "tables" / "regressions.json"
PLAN = Scenario(duration=10 * SECOND, rate=24_000_000, rtt=40 * MS, buffer=120_000, jitter=10 * MS)

ADAPTORS = Path(cargo.__file__).parent
STACKS = {"quiche": "quiche", "quinn": "quinn-proto", "s2n": "s2n-quic-core"}

CONTROLLERS = ["quiche:cubic", "quiche:bbr2", "quinn:cubic", "quinn:newreno", "quinn:bbr", "s2n:cubic", "s2n:bbr"]

with_cargo = pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")


@pytest.mark.parametrize(("stack", "crate"), STACKS.items())
def test_the_lock_has_the_version_of_the_adaptor(stack, crate):
    version = import_module(f"ccmatic.judging.adaptors.{stack}").Adaptor().version
    lock = (ADAPTORS / stack / "Cargo.lock").read_text()
    assert re.findall(rf'name = "{crate}"\nversion = "(.*)"', lock) == [version]
    assert f'version = "={version}"' in (ADAPTORS / stack / "Cargo.toml").read_text()


def test_other_locks_have_the_version_of_their_name():
    for lock in ADAPTORS.glob("*/locks/*.lock"):
        crate = STACKS[lock.parent.parent.name]
        assert re.findall(rf'name = "{crate}"\nversion = "(.*)"', lock.read_text()) == [lock.stem]


def test_the_scaffold_has_at_most_60_lines():
    assert len((ADAPTORS / "scaffold_rust" / "src" / "lib.rs").read_text().splitlines()) <= 60


@pytest.mark.skipif(not shutil.which("rustfmt"), reason="needs rustfmt")
@pytest.mark.parametrize("stack", STACKS)
def test_sources_are_formatted(stack, tmp_path):
    folder = shutil.copytree(ADAPTORS / stack, tmp_path / stack)
    for file in (ADAPTORS / "whole").glob("*.rs"):
        shutil.copy(file, folder / "src")
    files = [str(folder / name) for name in ("build.rs", "src/main.rs", "src/lib.rs") if (folder / name).is_file()]
    done = subprocess.run(["rustfmt", "--check", "--edition", "2021", *files], capture_output=True, text=True)
    assert not done.returncode, done.stdout


def test_without_cargo_a_build_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    cargo._toolchain.cache_clear()
    with pytest.raises(InputError, match="there is no cargo"):
        cargo.build_library(ADAPTORS / "scaffold_rust")


@with_cargo
def test_a_version_is_three_numbers():
    adaptor = import_module("ccmatic.judging.adaptors.s2n").Adaptor()
    with pytest.raises(InputError, match="'latest' is no version of s2n-quic-core"):
        adaptor.build("latest")


@with_cargo
def test_a_folder_without_the_crate_is_no_source(tmp_path):
    adaptor = import_module("ccmatic.judging.adaptors.s2n").Adaptor()
    with pytest.raises(InputError, match="there is no crate s2n-quic-core"):
        adaptor.build(source=tmp_path)


@with_cargo
def test_a_crate_that_does_not_compile_is_one_message(tmp_path):
    crate = shutil.copytree(ADAPTORS / "scaffold_rust", tmp_path / "broken")
    (crate / "src" / "lib.rs").write_text('pub fn window() -> i64 { "wide" }\n')
    with pytest.raises(InputError, match=r"(?s)cargo build fails: .*mismatched types"):
        cargo.build_library(crate)


@with_cargo
def test_a_crate_without_a_shared_library_is_refused(tmp_path):
    crate = shutil.copytree(ADAPTORS / "scaffold_rust", tmp_path / "static")
    manifest = crate / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("cdylib", "rlib"))
    with pytest.raises(InputError, match="makes no shared library"):
        cargo.build_library(crate)


def _run(name):
    with Session(subject(name)) as session:
        return session.run(PLAN)


def _share(run):
    delivered = run.packets["size"][run.packets["released"] >= 0].sum()
    return int(delivered) * 8 * SECOND / (PLAN.rate * PLAN.duration)


@with_cargo
def test_the_scaffold_works_as_it_is(tmp_path):
    run = _run(str(shutil.copytree(ADAPTORS / "scaffold_rust", tmp_path / "toy")))
    assert run.failure is None and not [*run.faults()]
    assert 0.9 < _share(run) <= 1


@pytest.mark.slow
@with_cargo
@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_use_the_link_lawfully_and_the_same_way_each_time(name):
    run = _run(name)
    assert run.failure is None and not [*run.faults()]
    assert 0.9 < _share(run) <= 1
    assert (run.packets == _run(name).packets).all()


@pytest.mark.slow
@with_cargo
@pytest.mark.parametrize("subject_name", ["quinn:cubic", "s2n:bbr"])
def test_the_found_scenarios_tell_versions_apart(subject_name):
    cells = [cell for cell in json.loads(RESULTS.read_text()) if cell["subject"] == subject_name and cell["scenario"]]
    assert cells
    for cell in cells:
        scenario, rule = records.read_record(cell["scenario"], Scenario, str(RESULTS)), cell["rule"]
        before, after = (
            outcome(Source(subject_name, cell[key]), scenario, [rule], [], True) for key in ("before", "after")
        )
        assert before.margins[rule][0] < 0
        assert rule not in after.margins or after.margins[rule][0] >= 0
