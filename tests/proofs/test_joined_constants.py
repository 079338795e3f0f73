"""Constants of a proof that limit each other: bounds that are kept only together, found together, each at its edge."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction

import pytest

from ccmatic.answers.verification import Outcome, replay
from ccmatic.base import InputError
from ccmatic.contracts.proof import Constant, Proof
from ccmatic.logic import isolated
from ccmatic.proving import NoValue, load_result
from ccmatic.proving.proof_check import check_windows
from ccmatic.proving.proof_search import prove_windows

#: Each number is half of the other, and 1: both are at most 2 if they are at first, and neither is alone.
HALVES = """window: bytes = above(0)
one: number = anything()
other: number = anything()
def update(one, other, MSS):
    before = one
    one = other / 2 + 1
    other = before / 2 + 1
    window = MSS
def send(window):
    return window
"""
PROOF = """from fractions import Fraction
from ccmatic.contracts import Constant, Proof, State
from ccmatic.logic import every

def bounded(x, t, c):
    return every(x.state["one"][t] <= c["one"], x.state["other"][t] <= c["other"])

ANY = State("any", "anything", holds=lambda x, t, c: True)
KEPT = State("kept", "both bounded", holds=bounded)
RANGE = {"low": Fraction(0), "high": Fraction(HIGH), "step": Fraction(1, 4), "better": "smaller"}
PROOF = Proof(model="ccac2021_anywhere", buffer="1", horizon=4, beliefs=(), states=(KEPT, ANY), constants=(
    Constant("one", "the one", **RANGE), Constant("other", "the other", joined=True, **RANGE)))
"""


@pytest.fixture
def proof(tmp_path):
    """The path of the proof."""
    file = tmp_path / "halves.py"
    file.write_text(PROOF.replace("HIGH", "4"))
    return file


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """The saved proof, as a file."""
    folder = tmp_path_factory.mktemp("joined")
    (folder / "halves.py").write_text(PROOF.replace("HIGH", "4"))
    return isolated(prove_windows)(str(folder / "halves.py"), HALVES, folder).file


@pytest.fixture
def saved(proved, tmp_path):
    """A copy of it to tamper with."""
    shutil.copytree(proved.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / proved.name


def edit(file, change):
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


@isolated
def faults(file):
    return {found.about: found.fault for found in check_windows(load_result(file, allow_code=True)) if found.fault}


def test_bounds_that_keep_each_other_are_found_together(saved):
    result = load_result(saved, allow_code=True)
    assert result.values == {"one": 2, "other": 2} and faults(saved) == {}
    for found in result.constants.values():
        assert found.edge.lemma == "kept: leads on"
        assert replay(found.edge.trace, allow_code=True).outcome is Outcome.BREAKS


def test_an_edge_that_a_window_shows_which_was_found_before_is_not_asked(saved):
    assert [found.edge.seconds for found in load_result(saved, allow_code=True).constants.values()] == [0, 0]


def test_a_bound_that_is_not_kept_is_rejected(saved):
    edit(saved, lambda data: data["constants"]["one"].update(value="7/4"))
    assert faults(saved)["kept: leads on"] == "the lemma is violated"


def test_bounds_that_are_kept_but_not_the_best_are_rejected(saved):
    edit(saved, lambda data: [data["constants"][name].update(value="3") for name in ("one", "other")])
    assert set(faults(saved)) == {"edge of one", "edge of other"}


def test_an_edge_of_the_other_constant_is_rejected(saved):
    traces = saved.with_name(f"{saved.stem}-traces")
    (traces / "beyond_one.json").write_text((traces / "beyond_other.json").read_text())
    assert set(faults(saved)) == {"edge of one"}


def test_where_no_bounds_are_kept_the_window_that_shows_it_is_saved(proof, tmp_path):
    proof.write_text(PROOF.replace("HIGH", "3, 2"))
    with pytest.raises(NoValue, match="no values work for one, other: at one = 3/2, other = 3/2") as told:
        isolated(prove_windows)(str(proof), HALVES, tmp_path)
    assert replay(told.value.trace, allow_code=True).outcome is Outcome.BREAKS
    assert (tmp_path / "halves-controller_T4-traces" / "no_one.json").exists()


def test_looser_values_that_assume_more_are_refused(proof, tmp_path):
    """Where `one` is small, `other` has to be large; it need not be at the `one` that is found with that."""
    gap = 'lemmas=(Lemma("gap", lambda x, c: c["one"] <= 2, lambda x, c: c["other"] >= 3),), constants='
    proof.write_text(proof.read_text().replace("constants=", gap).replace("import Constant", "import Constant, Lemma"))
    with pytest.raises(InputError, match="'other' also works at 11/4, but the search found 3; .* assume no more"):
        isolated(prove_windows)(str(proof), HALVES, tmp_path)


def test_a_joined_constant_is_not_chosen():
    first, second = (Constant(name, "", Fraction(0), Fraction(1)) for name in ("first", "second"))
    empty = Proof("ccac2021_anywhere", "1", (), (), (first, replace(second, joined=True)))
    assert [each.name for each in empty.joined_with(first)] == ["first", "second"]
    with pytest.raises(InputError, match="'second' is joined to 'first'; expected neither of them to have `at`"):
        replace(empty, constants=(replace(first, at=Fraction(1)), replace(second, joined=True)))
