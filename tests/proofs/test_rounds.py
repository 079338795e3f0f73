"""Proofs about one round of FRCC: the search, the check of a file, forgeries, and the published form of the laws."""

import json
import random
from fractions import Fraction

import pytest
from ccmatic.proofs import frcc_rounds

from ccmatic import api as cm
from ccmatic.base import InputError
from ccmatic.contracts import RoundNumbers
from ccmatic.logic import every
from ccmatic.proving.rounds import RoundProver

#: Upstream's bounds, found by its own binary search: a share of 1/6.6, N_T from 0.15 to 3.3, and 2.66 for the top.
PUBLISHED = {"share": 1 / 6.6, "low": 0.15, "high": 3.3, "speed": 1.01, "top": 2.66, "bottom": 0.45}


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    return cm.prove("frcc", "frcc_rounds", tmp_path_factory.mktemp("rounds"))


def test_the_published_lemmas_hold_with_constants_at_least_as_good(proved):
    assert proved.verdict == "holds" and {*proved.lemmas.values()} == {"holds"}
    smaller = {"high", "top"}
    for name, published in PUBLISHED.items():
        value = float(proved.constants[name])
        assert (value <= published) if name in smaller else (value >= published - 0.001), name


def test_a_check_decides_the_lemmas_and_replays_the_edges(proved):
    check = cm.check(proved.file)
    assert check.verdict == "accepted"
    assert sum("replayed" in finding.how for finding in check.findings) == 6


def _better_share(data):
    data["constants"]["share"]["value"] = "153/1000"


def _worse_share(data):
    data["constants"]["share"]["value"] = "151/1000"


def _no_edge(data):
    data["constants"]["low"]["edge"] = None


def _another_round(data):
    data["constants"]["low"]["edge"]["numbers"]["target"] = "2"


def _a_number_missing(data):
    del data["constants"]["low"]["edge"]["numbers"]["target"]


def _another_definition(data):
    data["definition"] = "0" * 64


def _no_verdict(data):
    data["lemmas"] = data["lemmas"][1:]


def _a_chosen_constant(data):
    data["constants"]["pace"]["value"] = "1"


@pytest.fixture(scope="module")
def asked():
    """Answers to lemmas by their names and constants, which differ in no check of a file."""
    return {}


@pytest.fixture
def asked_once(asked, monkeypatch):
    """Let checks decide a lemma only once for the same constants."""
    ask = RoundProver.ask

    def known(prover, lemma, constants):
        _, _, used = prover._evaluated(lemma, constants)
        key = lemma.name, *used.items()
        if key not in asked:
            asked[key] = ask(prover, lemma, constants)
        return asked[key]

    monkeypatch.setattr(RoundProver, "ask", known)


@pytest.mark.parametrize(
    "forge, about",
    [
        (_better_share, "shares stay"),
        (_worse_share, "edge of share"),
        (_no_edge, "edge of low"),
        (_another_round, "edge of low"),
        (_a_number_missing, "edge of low"),
        (_another_definition, "definition"),
        (_no_verdict, "shares stay"),
        (_a_chosen_constant, "edge of pace"),
    ],
)
def test_forged_files_are_rejected(proved, asked_once, tmp_path, forge, about):
    data = json.loads(proved.file.read_text())
    forge(data)
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(data))
    check = cm.check(file)
    assert check.verdict == "rejected"
    assert about in [finding.about for finding in check.findings if finding.fault]


def test_another_controller_and_options_without_meaning_are_refused(tmp_path):
    with pytest.raises(InputError, match="is about frcc"):
        cm.prove("contract", "frcc_rounds")
    with pytest.raises(InputError, match="expected neither a horizon nor certificates"):
        cm.prove("frcc", "frcc_rounds", tmp_path, certify=True)


def rounds(seed, count):
    """Rounds by the published formulas, in N_C instead of shares: the numbers before, the share and N_T after."""
    draw = random.Random(seed)
    for _ in range(count):
        n_c = 1 + Fraction(draw.randint(1, 2000), draw.choice((10, 100, 1000)))
        n_t, rtprop = Fraction(draw.randint(1, 600), 100), Fraction(draw.randint(1, 199), 100)
        gamma_r = 1 + Fraction(draw.randint(0, 100), 100)
        growths = []
        for each in (n_c, n_c / (n_c - 1)):
            most_target = n_t + Fraction(1, 2)
            low = max(1 / most_target, 4 * each / (4 * gamma_r * most_target + each))
            high = 4 * each / (4 * n_t - each) if 4 * n_t > each else low + 5
            estimate = draw.choice((low, high, low + (high - low) * Fraction(draw.randint(0, 8), 8)))
            growths.append(max(min(estimate, Fraction(13, 10)), Fraction(4, 5)))
        windows = [(n_t + rtprop) / each * growth for each, growth in zip((n_c, n_c / (n_c - 1)), growths, strict=True)]
        before = {"share": 1 / n_c, "target": n_t, "R_m": rtprop, "growth": growths[0], "other_growth": growths[1]}
        yield before, windows[0] / sum(windows), sum(windows) - rtprop


def test_rounds_by_the_published_formulas_obey_laws_and_lemmas(proved):
    for before, share, target in rounds(seed=1, count=2000):
        x = RoundNumbers(before)
        assert every(list(frcc_rounds.laws(x))) is True
        assert share == before["share"] * before["growth"] / frcc_rounds.grown(x)
        assert target == frcc_rounds.target_after(x)
        for lemma in frcc_rounds.PROOF.lemmas:
            if lemma.given(x, proved.constants) is True:
                assert lemma.then(x, proved.constants) is True, lemma.name


@pytest.mark.slow
def test_with_the_deployed_update_a_share_may_fall_while_the_delay_is_short(tmp_path):
    proved = cm.prove("frcc", "frcc_rounds_deployed", tmp_path)
    assert proved.lemmas["shares of 12 % stay"] == proved.lemmas["shares of 1 % stay, whatever N_T is"] == "violated"
    assert proved.verdict == "holds" and cm.check(proved.file).verdict == "accepted"
