"""Forged proofs, each forgery made to fit as well as its forger can: `check` refuses it and says why."""

import gzip
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ccmatic.base import definitions
from ccmatic.base.errors import InputError
from ccmatic.contracts.proof import Objective
from ccmatic.controllers import parse
from ccmatic.proving import prover as prove
from ccmatic.proving import result as proved
from support.forgery import DRAINS, SOURCE, Forgery

BASE = definitions.load("proofs", "PROOF", str(DRAINS), allow_code=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Forgery(tmp_path_factory.mktemp("forged"))


@pytest.fixture
def forged(made):
    """An honest proof to tamper with."""
    yield made
    made.restore()


def test_what_was_proved_is_accepted_and_what_is_not_checked_is_said(forged):
    assert forged.faults() == {}
    said = forged.unchecked()
    assert said.keys() == {"controller", "left out", "words"}
    assert "'tardy' is only a label" in said["controller"] and "report" in said["words"]


# Progress that does not add up.


@pytest.mark.parametrize("unit", ["0", "-x.C", "x.alpha - x.alpha", "x.alpha - x.C / 5"])
def test_units_that_may_be_nothing_are_refused(forged, unit):
    forged.define("unit=lambda x: x.C,", f"unit=lambda x: {unit},")
    assert "long: is bounded" in forged.faults()


def test_steps_of_nothing_can_stall(forged):
    forged.define("Fraction(1, 4), Fraction(5)", "Fraction(0), Fraction(5)")
    forged.edit(lambda data: data["constants"]["drain"].update(value="0"))
    assert "can stall: drain is 0" in forged.faults()["progress adds up"]


@pytest.mark.parametrize(
    "limit", ["x.A[0]", "x.queue(x.horizon - 1)", "choice(x.Q.at_least(1, 1), x.S[1], 0)", "x.r[2]"]
)
def test_limits_that_move_are_refused(forged, limit):
    forged.define('lambda x: 0, "0"', f'lambda x: {limit}, "0"')
    assert "'long' has a limit that may move" in forged.faults()["progress adds up"]


@pytest.mark.parametrize("unit", ["x.r[0]", "x.A[1] - x.A[0]", "x.S[x.horizon - 1] + x.C"])
def test_units_that_move_are_refused(forged, unit):
    forged.define("unit=lambda x: x.C,", f"unit=lambda x: {unit},")
    assert "'long' has a unit that may move" in forged.faults()["progress adds up"]


@pytest.mark.parametrize(
    "value", ["x.queue(t) - t", "x.queue(t) + x.A[t]", "x.S[x.horizon - 1] - x.S[t]", "x.queue(max(t - 1, 0))"]
)
def test_measures_that_do_not_go_on_where_they_ended_are_refused(forged, value):
    forged.define("lambda x, t: x.queue(t),", f"lambda x, t: {value},")
    assert "queue in 'long' is not the same at a window's end" in forged.faults()["progress adds up"]


@pytest.mark.parametrize("holds", [
    "t == 0 or short(x, t, c)", "x.queue(max(t - 1, 0)) <= c['short'] * x.C", "x.A[0] <= x.A[t]",
])  # fmt: skip
def test_states_that_are_not_one_condition_at_both_ends_are_refused(forged, holds):
    forged.define('at most", short,', f'at most", lambda x, t, c: {holds},')
    assert "'short' is not the same at a window's end" in forged.faults()["progress adds up"]


# Names.


@pytest.mark.parametrize("change", [
    {"states": (*BASE.states, replace(BASE.states[1], ensures=()))},
    {"states": (*BASE.states, replace(BASE.states[1], name="short?"))},
    {"states": (BASE.states[0], replace(BASE.states[1], ensures=BASE.states[1].ensures * 2))},
    {"states": (BASE.states[0], replace(BASE.states[1], ensures=(Objective("leads on", "", lambda x, c: True),)))},
    {"lemmas": (BASE.lemmas[0], replace(BASE.lemmas[0], given=lambda x, c: False))},
    {"lemmas": (replace(BASE.lemmas[0], name="windows join"),)},
    {"lemmas": (replace(BASE.lemmas[0], name="beyond drain"),)},
    {"constants": (*BASE.constants, replace(BASE.constants[1], low=Fraction(1)))},
])  # fmt: skip
def test_two_of_one_name_are_refused(change):
    with pytest.raises(InputError, match="two .* are named .* expected different names"):
        replace(BASE, **change)


def test_two_verdicts_or_two_values_of_one_name_are_refused(forged):
    forged.edit(lambda data: data["lemmas"].append(data["lemmas"][0]))
    assert "lemmas" in forged.faults()["file"]
    forged.restore()
    text = forged.file.read_text()
    forged.file.write_text(text.replace('"constants": {', '"constants": {"drain": {"value": "9"},', 1))
    assert "duplicate keys" in forged.faults()["file"]


def test_the_name_of_another_controller_is_refused(forged):
    forged.edit(lambda data: data["controller"].update(name="cc_qdel"))
    assert "its source is not that of 'cc_qdel'" in forged.faults()["controller"]
    forged.edit(lambda data: data["controller"].update(name="one_packet"))
    assert forged.faults() == {}


# What the file says of the definition.


def test_a_changed_definition_is_refused(forged):
    forged.path.write_text(forged.path.read_text() + "\n")
    assert forged.faults().keys() == {"definition"}


def test_a_changed_digest_is_refused(forged):
    forged.edit(lambda data: data.update(definition="0" * 64))
    assert forged.faults().keys() == {"definition"}


def test_lemmas_that_are_missing_or_that_nobody_declared_are_refused(forged):
    forged.edit(lambda data: data["lemmas"][3].update(lemma="rates are fair"))
    faults = forged.faults()
    assert faults["rates are fair"] == "the definition has no such lemma"
    assert faults["long: progresses"] == "the file has no verdict on it"


def test_constants_that_nobody_declared_or_chose_are_refused(forged):
    forged.edit(lambda data: data["constants"].update(speed=data["constants"]["drain"] | {"edge": None}))
    assert "the definition has no 'speed'" in forged.faults()["constants"]
    forged.restore()
    forged.edit(lambda data: data["constants"]["short"].update(value="3"))
    assert "expected 2, as the author chose" in forged.faults()["constants"]
    forged.restore()
    forged.edit(lambda data: data["constants"]["drain"].update(value="29/10"))
    assert "not a value of its range" in forged.faults()["constants"]


@pytest.mark.parametrize("change", [
    lambda data: data.update(by="a notary"), lambda data: data["constants"]["drain"].update(value="6/2"),
    lambda data: data.update(horizon="5"), lambda data: data["constants"]["drain"].update(value="1/0"),
    lambda data: data["lemmas"][0].update(verdict="proved"), lambda data: data["lemmas"][0].update(trace="../x.json"),
    lambda data: data["constants"]["drain"]["edge"].update(trace="drains_by_4.json"),
    lambda data: data.update(proof="frcc_rounds"),
])  # fmt: skip
def test_what_ccmatic_does_not_write_is_refused(forged, change):
    forged.edit(change)
    assert "file" in forged.faults()


# Verdicts, edges, fronts.


@pytest.mark.parametrize(("lemma", "told"), [
    ("drains by 2", "violated"), ("drains by 4", "holds"), ("drains by 4", "unknown"), ("long: leads on", "violated"),
    ("short: leads on", "unknown"), ("long: progresses", "violated"),
])  # fmt: skip
def test_flipped_verdicts_are_refused(forged, lemma, told):
    def flip(data):
        (found,) = [about for about in data["lemmas"] if about["lemma"] == lemma]
        found["verdict"] = told

    forged.edit(flip)
    assert lemma in forged.faults()


def test_a_paper_lemma_without_a_verdict_is_said_not_to_be_checked(forged):
    def forget(data):
        data["lemmas"][-1].update(verdict="unknown")
        data["lemmas"][-1].pop("trace")

    forged.edit(forget)
    assert forged.faults() == {} and "drains by 4" in forged.unchecked()


def test_a_paper_lemma_flipped_without_its_window_is_asked_anew(forged):
    def flip(data):
        data["lemmas"][-1].update(verdict="holds")
        data["lemmas"][-1].pop("trace")

    forged.edit(flip)
    assert forged.faults()["drains by 4"] == "the file says holds; it is violated"


@pytest.mark.parametrize("drain", ["11/4", "13/4"])
def test_a_constant_that_is_not_at_its_edge_is_refused(forged, drain):
    forged.edit(lambda data: data["constants"]["drain"].update(value=drain))
    assert "its window is for the property" in forged.faults()["edge of drain"]


def test_a_missing_edge_is_refused(forged):
    forged.edit(lambda data: data["constants"]["drain"].update(edge=None))
    assert "no window shows that the better value 13/4 fails" in forged.faults()["edge of drain"]


def test_a_window_whose_file_is_lost_is_found_again(forged):
    for name in ("beyond_drain", "drains_by_4"):
        forged.trace(name).unlink()
    assert forged.faults() == {}
    written = json.loads(forged.file.read_text())
    assert proved.load_result(forged.file, allow_code=True).data() == written


@pytest.mark.parametrize(("drain", "lemma", "fault"), [
    ("11/4", "long: progresses", "'long: progresses' holds at the better value"),
    ("3", "long: leads on", "'long: leads on' "), ("3", "drains by 4", "'drains by 4' does not limit it"),
])  # fmt: skip
def test_a_lost_window_that_never_was_is_refused(forged, drain, lemma, fault):
    forged.trace("beyond_drain").unlink()
    forged.edit(lambda data: data["constants"]["drain"].update(value=drain))
    forged.edit(lambda data: data["constants"]["drain"]["edge"].update(lemma=lemma))
    assert fault in forged.faults()["edge of drain"]


def test_an_edge_for_a_value_that_the_author_chose_is_refused(forged):
    forged.trace("beyond_short").write_bytes(forged.trace("beyond_drain").read_bytes())
    edge = {"lemma": "long: progresses", "verdict": "violated", "seconds": 0.1, "trace": "beyond_short.json"}
    forged.edit(lambda data: data["constants"]["short"].update(edge=edge))
    assert "expected none, chosen by the author" in forged.faults()["edge of short"]


def test_an_edge_that_is_not_known_is_said_not_to_be_checked(forged):
    forged.edit(lambda data: data["constants"]["drain"].update(
        edge={"lemma": "long: progresses", "verdict": "unknown", "seconds": 9.0}))  # fmt: skip
    assert forged.faults() == {} and "edge of drain" in forged.unchecked()


def test_the_edge_of_another_lemma_is_refused(forged):
    """The window breaks `drains by 4`, but the file says that it breaks a lemma that limits a constant."""
    forged.trace("beyond_drain").write_bytes(forged.trace("drains_by_4").read_bytes())
    assert "its window is for the property" in forged.faults()["edge of drain"]
    forged.edit(lambda data: data["constants"]["drain"]["edge"].update(lemma="drains by 4"))
    assert "'drains by 4' does not limit it" in forged.faults()["edge of drain"]


@pytest.mark.parametrize(("key", "value"), [
    ("horizon", "4"), ("buffer", "3"), ("jitter", "1"), ("model", "ccac"), ("delay", "published"),
    ("lemma", "long: leads on"), ("proof", "cc_qdel"), ("constants", "drain=9"), ("constants", "drain=13/4, short=2"),
])  # fmt: skip
def test_edges_of_another_query_are_refused(forged, key, value):
    def asked(query):
        inner = {**query["property"], key: value}
        return {**query, "property": inner} if key in query["property"] else {**query, key: value}

    forged.edit_trace("beyond_drain", query=asked)
    assert "its window is for the " in forged.faults()["edge of drain"]


def test_the_edge_of_another_controller_is_refused(forged):
    forged.edit_trace("beyond_drain", controller=lambda source: source.replace("MSS /", "MSS + 0 * MSS /"))
    assert "of another controller" in forged.faults()["edge of drain"]
    forged.restore()
    forged.edit_trace("beyond_drain", controller=lambda source: None)
    assert "of another controller" in forged.faults()["edge of drain"]


@pytest.mark.parametrize("front", [[], [["1", "3"]], [["1", "3"], ["5/2", "3"]], [["3", "3"], ["1", "3"]]])
def test_fronts_at_other_points_are_refused(forged, front):
    forged.edit(lambda data: data["constants"]["drain"].update(front=front))
    assert "its points are not those of the definition, 1, 3" in forged.faults()["front of drain"]


@pytest.mark.parametrize(("best", "why"), [
    ("13/4", "is violated"), ("11/4", "works too"), (None, "the better value 1/4 works too"),
    ("31/10", "not a value of its range"),
])  # fmt: skip
def test_invented_fronts_are_refused(forged, best, why):
    forged.edit(lambda data: data["constants"]["drain"].update(front=[["1", best], ["3", "3"]]))
    assert why in forged.faults()["drain where short is 1"]


def test_a_front_of_a_constant_that_trades_off_with_none_is_refused(forged):
    forged.edit(lambda data: data["constants"]["inflight"].update(front=[["3", "2"]]))
    assert "its points are not those of the definition, none" in forged.faults()["front of inflight"]


def test_a_window_of_lemmas_constants_told_twice_is_no_query(forged):
    kind = definitions.load("properties", "PROPERTY", "lemma")
    for constants in ("drain=1, drain=2", "drain=1/0", "drain"):
        with pytest.raises(InputError, match="expected such as"):
            kind.from_parameters({"proof": "cc_qdel", "lemma": "windows join", "constants": constants})._values()


# Certificates.


NO_CERTIFICATES = {
    "empty": b"",
    "not compressed": b"none",
    "cut short": gzip.compress(b"{}")[:-9],
    "damaged": gzip.compress(b"{}" * 99)[:14] + b"x" * 20,
    "nested too deep": gzip.compress(b"[" * 10**6),
    "too large": gzip.compress(bytes(proved.LARGEST + 1), 1),
    "a number too long": gzip.compress(b"[" + b"9" * 9999 + b"]"),
}


@pytest.mark.parametrize("content", NO_CERTIFICATES.values(), ids=NO_CERTIFICATES)
def test_files_that_are_no_certificate_are_refused(forged, content):
    forged.certificate("long_progresses").write_bytes(content)
    assert "no certificate" in forged.faults()["file"]


@pytest.mark.parametrize("steps", [[[]], [[0]], [[1, -1]], [[-1, 1], []], [[10**30]]])
def test_a_certificate_whose_steps_do_not_follow_is_refused(forged, steps):
    file = forged.certificate("long_progresses")
    data = json.loads(gzip.decompress(file.read_bytes()))
    file.write_bytes(gzip.compress(json.dumps({**data, "lemmas": [], "steps": steps}).encode()))
    assert "its certificate: " in forged.faults()["long: progresses"]


# Going on.


def test_a_proof_does_not_go_on_from_one_of_another_horizon_or_name(forged):
    prover = prove.Prover(str(forged.path), parse(SOURCE, "tardy"))
    for change in ({"horizon": 6}, {"controller": {"name": "swift", "source": SOURCE}}):
        forged.edit(lambda data, change=change: data.update(change))
        with pytest.raises(InputError, match="another version"):
            proved.begin_result(forged.folder, prover, str(forged.path))
        forged.restore()


def test_a_controller_that_reads_what_the_network_does_not_offer_is_refused(forged):
    source = "def rate(q_U):\n    return q_U\n"
    forged.edit(lambda data: data["controller"].update(source=source))
    assert "q_U" in forged.faults()["file"]
    assert json.loads(forged.file.read_text())["controller"]["source"] == source
