"""Definitions of other installed packages: found by name, with reserved names. Errors name the package."""

import sys

import pytest

from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import kinds

MODEL = """
from ccmatic.models.ccac import CCAC

class Mine(CCAC):
    name = "mine"

MODEL = Mine()
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package of one module where Python finds it."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(package, text, **groups):
        (tmp_path / f"{package}.py").write_text(text)
        about = tmp_path / f"{package}-2.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n")
        points = (f"[ccmatic.{kind}]\n{name} = {package}:{value}\n" for kind, (name, value) in groups.items())
        (about / "entry_points.txt").write_text("".join(points))
        monkeypatch.delitem(sys.modules, package, raising=False)

    return put


def message(call, *arguments):
    with pytest.raises(InputError) as refused:
        call(*arguments)
    return str(refused.value)


def test_its_code_is_run_when_it_is_asked_for_and_not_for_data(install):
    install("harbour", MODEL, models=("mine", "MODEL"))
    assert load_definition("models", "MODEL", "ccac").name == "ccac"
    assert "harbour" not in sys.modules
    said = message(load_definition, "models", "MODEL", "mine")
    assert "of the package harbour 2.0" in said and "--allow-code" in said
    assert "harbour" not in sys.modules
    assert load_definition("models", "MODEL", "mine", True).name == "mine"


def test_a_name_that_ccmatic_ships_is_refused_and_stays_its_own(install):
    install("pirate", MODEL, models=("ccac", "MODEL"))
    assert load_definition("models", "MODEL", "ccac", True).name == "ccac" and "pirate" not in sys.modules
    said = message(load_definition, "models", "MODEL", "other", True)
    assert "the package pirate 2.0 has a 'ccac' among its models, and so has ccmatic" in said


def test_a_name_of_two_packages_is_refused(install):
    install("first", MODEL, models=("mine", "MODEL"))
    install("second", MODEL, models=("mine", "MODEL"))
    said = message(load_definition, "models", "MODEL", "mine", True)
    assert "the package first 2.0" in said and "the package second 2.0" in said


FAULTS = {
    "not there": ("MODEL = 1", "MODELS", "the package harbour 2.0 cannot give 'mine'"),
    "not a model": ("MODEL = 1", "MODEL", "harbour.py:1: MODEL is the int 1; expected a Model"),
    "fails": ("import json\nMODEL = json.loads(1)", "MODEL", "harbour.py:2: TypeError"),
    "needs another": ("import no_such_package", "MODEL", "No module named 'no_such_package'"),
    "not Python": ("MODEL =", "MODEL", "cannot give 'mine': invalid syntax"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_comes_of_it_is_its_own_fault(fault, install):
    text, value, expected = FAULTS[fault]
    install("harbour", text, models=("mine", value))
    assert expected in message(load_definition, "models", "MODEL", "mine", True)


def test_a_mistyped_name_is_guessed_from_its_names_too(install):
    install("harbour", MODEL, models=("breakwater", "MODEL"))
    assert "did you mean 'breakwater'?" in message(definitions.load, "models", "MODEL", "breakwatr")


def test_a_kind_of_flow(install):
    install("harbour", "class Boat:\n    def __init__(self, text):\n        self.text = text", flows=("boat", "Boat"))
    assert kinds.flow("boat:blue").text == "blue"
    assert ", policy, boat" in message(kinds.flow, "ship:blue")
