"""Every command has a function in `import ccmatic`, so that all of ccmatic is a library as well."""

import subprocess
import sys
from importlib.util import find_spec

import click
import pytest

import ccmatic as cm
from ccmatic.cli.commands import cli
from ccmatic.workbench import serve
from support import ROOT
from support.cli import run

#: The functions whose names are not those of their commands, as packages of ccmatic or Python itself have those names.
OTHER_NAMES = {
    "act": "actions",
    "front": "find_front",
    "judge bisect": "judge_versions",
    "judge ci": "judge_search",
    "judge diff": "judge_difference",
    "judge new": "new_adaptor",
    "judge report": "judge_report",
    "judge run": "judge",
    "judge search": "judge_search",
    "judge shrink": "shrink_witness",
    "judge table": "judge_table",
    "list": "list_names",
    "runs": "read_run",
    "synth": "synthesise",
    "trace export": "export_trace",
    "tradeoff": "reproduce_tradeoff",
}
#: The commands that serve a page until they are interrupted. Their functions stand in a package above `ccmatic.api`.
SERVERS = {"workbench": serve}


def commands(group, before=""):
    """The names of all commands, such as "trace export"."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_every_command_has_a_function():
    found = {*commands(cli)}
    assert len(found) >= 21 and {*OTHER_NAMES} <= found
    assert all(len(SERVERS[name].__doc__) > 100 for name in SERVERS)
    functions = {name: OTHER_NAMES.get(name, name.replace("-", "_")) for name in found - {*SERVERS}}
    lacking = {name: function for name, function in functions.items() if function not in dir(cm)}
    assert not lacking
    for function in functions.values():
        try:
            assert callable(getattr(cm, function)) and len(getattr(cm, function).__doc__) > 100, function
        except cm.InputError as error:  # learning needs the extra
            assert "pip install 'ccmatic[rl]'" in error.message and not find_spec("jax"), function


def test_a_function_is_found_whatever_was_imported_before():
    """A name of a package would be that package as soon as it is imported."""
    program = (
        "import importlib, ccmatic.api\n"
        "for name in ('answers', 'deployment', 'evaluation', 'judging', 'learning', 'proving', 'tradeoffs'):\n"
        "    importlib.import_module(f'ccmatic.{name}')\n"
        "for name in ccmatic.api.__all__:\n"
        "    try:\n"
        "        assert getattr(ccmatic, name) is getattr(ccmatic.api, name), name\n"
        "    except ccmatic.InputError as error:\n"
        "        assert 'ccmatic[rl]' in error.message, name\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_trace_is_exported_and_names_are_listed():
    content, notes = cm.export_trace(ROOT / "results/gallery/late_drain.json", "csv", rate="24mbit", rtt="40ms")
    assert content.count(b"\n") >= 7 and isinstance(notes, list)
    assert {entry.kind for entry in cm.list_names("models", "proofs")} == {"models", "proofs"}


def test_controllers_are_verified_together_as_alone(tmp_path):
    """`ccmatic verify` calls this, so that the network is encoded once for all."""
    query = cm.Query(cm.Network("ccac", "infinite", 5), utilisation="1/2")
    together = [*cm.verify_all(["always_double", "always_half"], query, smt2=tmp_path / "both.smt2")]
    alone = [cm.verify(name, query, smt2=tmp_path / f"{name}.smt2") for name in ("always_double", "always_half")]
    assert [each.verdict for each in together] == [each.verdict for each in alone]
    assert [each.controller.name for each in together] == ["always_double", "always_half"]
    both, *each = ((tmp_path / f"{name}.smt2").read_text() for name in ("both", "always_double", "always_half"))
    assert both.count("(check-sat)") == sum(script.count("(check-sat)") for script in each) > 0
    broken = alone[1]
    assert cm.explain(broken.trace, report=broken.report) == cm.explain(broken.trace)


def test_nothing_is_verified_before_all_controllers_are_read(tmp_path):
    query = cm.Query(cm.Network("ccac", "infinite", 5), utilisation="1/2")
    with pytest.raises(cm.InputError, match="always_half"):
        cm.verify_all(["always_double", "always_halve"], query)
    with pytest.raises(cm.InputError, match="cannot write"):
        cm.verify_all(["always_double"], query, smt2=tmp_path / "none" / "q.smt2")


def test_a_page_of_a_trace_and_the_network_of_one(tmp_path):
    """What `ccmatic replay --html` and `ccmatic estimate --model` call."""
    drain = ROOT / "results/gallery/late_drain.json"
    page = cm.trace_page(drain)
    code, _, _ = run("replay", drain, "--html", tmp_path / "page.html")
    assert code == 0 and (tmp_path / "page.html").read_text("utf-8") == page
    network = cm.network_of(drain, model="cbr_delay", horizon=4)
    assert (network.model.name, network.horizon, str(network.buffer)) == ("cbr_delay", 4, "infinite")
    found = []
    assert cm.estimate(drain, cm.network_of(drain), told=found.append) == found == cm.estimate(drain)
