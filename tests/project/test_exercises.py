"""A package outside the tree adds definitions, a file each: the command line finds them by name and does with them all
that it does with its own. (tests/exercises is the package.)"""

import json
import tomllib
from math import floor
from pathlib import Path

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import DeployedController, Simulation, paths
from ccmatic.worlds.runtime.library import Library
from support import TESTS, cli
from support.cli import lines
from support.machine import needs_compiler

PACKAGE = TESTS / "exercises"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `ccmatic …` where the package is installed; return the exit code, the output and the error."""
    about = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    installed = tmp_path / "site" / f"{about['name']}-{about['version']}.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in about["entry-points"].items()
    )
    (installed / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(PACKAGE)
    monkeypatch.syspath_prepend(installed.parent)
    monkeypatch.chdir(tmp_path)
    return cli.run


QUERY = """
[network]
model = "{model}"
buffer = "infinite"
horizon = {horizon}

[property]
name = "{property}"

[template]
name = "two_forms.py"
"""


def query(model, property, horizon=5):
    Path("query.toml").write_text(QUERY.format(model=model, property=property, horizon=horizon))
    Path("two_forms.py").write_text(
        "from ccmatic.contracts import Branch, linear_forms\n\n"
        'RATE = linear_forms({"C_L": (0, 1, 2)})\n'
        'TEMPLATE = Branch(linear_forms({"qdel_L": (1,), "R_m": (-1, -2)}), RATE, RATE)\n'
    )
    return "query.toml"


def test_what_a_package_adds_is_listed(run):
    code, said, _ = run("list", "properties", "models", "--json")
    says = {entry["name"]: entry["says"] for entry in lines(said)}
    assert code == 0 and says["queueing_delay"] == says["one_step"] == "From the package outside 1.0."


def test_a_property_is_verified_synthesised_and_replayed(run):
    asked = query("ccac", "queueing_delay")
    assert run("verify", "always_c_l", "--query", asked)[0] == 0
    code, said, _ = run("verify", "always_double", "--query", asked, "--json")
    [told] = lines(said)
    assert code == 1 and told["verdict"] == "violated"
    trace = told["trace"]
    code, _, complaint = run("replay", trace)
    assert code == 2 and "of the package outside 1.0" in complaint and "--allow-code" in complaint
    code, said, _ = run("replay", trace, "--allow-code")
    assert code == 0 and "waits at most 3 R_m" in said
    code, said, _ = run("synth", asked, "--json")
    assert code == 0 and any(line.get("controller") for line in lines(said))


def test_a_model_with_a_column_of_its_own_is_verified_synthesised_and_replayed(run):
    asked = query("ecn", "queueing_delay", horizon=6)
    Path("marked.py").write_text("def rate(C_L, marks):\n    return C_L if marks > 0 else 2 * C_L\n")
    Path("steady.py").write_text("def rate(C_L, marks):\n    return C_L / 2 if marks > 0 else C_L\n")
    assert run("verify", "steady.py", "--query", asked)[0] == 0
    code, said, _ = run("verify", "marked.py", "--query", asked, "--json")
    [told] = lines(said)
    trace = json.loads(Path(told["trace"]).read_text())
    assert code == 1 and {"M", "marks"} <= trace["columns"].keys()
    assert run("replay", told["trace"], "--allow-code")[0] == 0
    trace["columns"]["M"] = ["0"] * 5 + ["1000"]
    Path("forged.json").write_text(json.dumps(trace))
    code, said, _ = run("replay", "forged.json", "--allow-code")
    assert code == 1 and "ecn.marks_are_of_bytes_served at t=5" in said
    assert run("synth", asked)[0] == 0


def test_a_belief_of_its_own_is_verified_and_exported(run):
    Path("cautious.py").write_text("def rate(C_S, C_L):\n    return min(C_S, C_L)\n")
    network = ("--model", "one_step", "--buffer", "infinite", "--horizon", 5)
    code, said, _ = run("verify", "cautious.py", *network, "--json")
    [told] = lines(said)
    assert code == 1 and run("replay", told["trace"], "--allow-code", "--plot", "drawn.svg")[0] == 0
    assert "at least $C_S$" in Path("drawn.svg").read_text()
    assert run("export", "cautious.py", "--model", "one_step", "--target", "c")[0] == 0
    assert "window_C_S_down(w, t)" in Path("cautious/cautious.h").read_text()
    code, _, complaint = run("export", "cautious.py", "--target", "c")
    assert code == 2 and "C_S" in complaint


@needs_compiler
def test_a_belief_in_c_is_that_of_python_number_for_number(run):
    """On simulated links of the model, whose bottleneck it has from CCAC."""
    Path("cautious.py").write_text("def rate(C_S, C_L):\n    return 2 * C_S + C_L\n")
    export = header.make("cautious.py", "one_step")
    built, seen_moving = Library(export), set()
    for seed in range(3):
        link = paths.Path(export.model, rate=1500 * 20, packet=1500, jitter=1, buffer=(None, 3000, 45000)[seed])
        simulation, sender = Simulation(link, seed), built.sender(link.packet)
        start = {"C_L": link.packet, "C_S": link.packet, "C_U": header.MOST}
        expected = DeployedController(export.model, export.controller, link, 9, start, link.packet, header.rounded)
        for _ in range(30):
            rate = sender(simulation.observation)
            assert rate == floor(expected(simulation.observation))
            kept = {name: column[-1] for name, column in expected._x.beliefs.items()}
            assert sender.beliefs() == kept
            seen_moving.add(kept["C_S"])
            simulation.step(rate)
    assert len(seen_moving) > 3


def test_a_target_exports(run):
    code, said, _ = run("export", "cc_qdel", "--target", "listing")
    assert code == 0 and said == "cc_qdel/cc_qdel.txt\n"
    assert "C_L" in Path("cc_qdel/cc_qdel.txt").read_text() and [*Path("cc_qdel").iterdir()] == [Path(said.strip())]
    code, _, complaint = run("export", "cc_qdel", "--target", "lisitng")
    assert code == 2 and "'listing'" in complaint
