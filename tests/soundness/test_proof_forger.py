"""A forger edits proofs, their windows, certificates and definition thousands of times. Accepted claims are true.

The truth is known without a solver. Let a sender send m packets per R_m, each less than C·R_m/5. A queue that stays
long drains by more than (T-1)·(1 - m/5)·C·R_m in a window, and this bound is tight. A short queue never grows.
"""

import gzip
import json
from fractions import Fraction
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ccmatic.base import InputError
from ccmatic.logic.certificates.clauses import Clauses
from ccmatic.proving.prover import Prover
from support.forgery import DRAINS, SOURCE, Forgery

TWO = "def rate(R_m, MSS):\n    return 2 * MSS / R_m\n"
PACKETS = {SOURCE: 1, TWO: 2, "def rate(R_m, MSS):\n    return MSS / R_m / 2\n": 1}
NAMES = ("tardy", "two", "one_packet", "cc_qdel")
LEMMAS = ("windows join", "long: leads on", "long: progresses", "short: bounds inflight", "drains by 2", "drains by 4")
CONSTANTS = ("short", "drain", "inflight")
WINDOWS = ("beyond_drain", "beyond_inflight", "drains_by_4")
CERTIFICATES = ("long_progresses", "long_is_bounded", "short_bounds_inflight", "drains_by_4", "drains_by_2")

#: Changes of the definition that make a claim of it false, or say nothing, whatever the lemmas.
UNSOUND = {
    "unit=lambda x: x.C,": ("unit=lambda x: 0,", "unit=lambda x: -x.C,", "unit=lambda x: x.A[0],"),
    'lambda x: 0, "0"': ('lambda x: x.S[0] - x.A[0], "0"', 'lambda x: x.queue(-1), "0"'),
    "lambda x, t: x.queue(t),": ("lambda x, t: x.queue(t) - t,", "lambda x, t: x.queue(t - 1) + 0 * t,"),
    '("short",), (QUEUE,)': ('("long",), (QUEUE,)', '("short",), ()'),
    "states=(LONG, SHORT)": ("states=(SHORT,)", "states=(LONG, SHORT, SHORT)", "states=(SHORT, LONG)"),
    "drains_by(4))": ("drains_by(4), drains_by(4))",),
}
#: Changes of it after which what was proved is true as it was.
SOUND = {"a short queue": ("a queue that is short",), "drained in a window": ("drained",)}


@pytest.fixture(scope="module")
def proofs(tmp_path_factory):
    """Three proofs of one definition, to forge and to take windows from."""
    folder = tmp_path_factory.mktemp("forger")
    made = [Forgery(folder), Forgery(folder, horizon=4), Forgery(folder, TWO, "two")]
    kept = {file: content for forgery in made for file, content in forgery.kept.items()}
    for forgery in made:
        forgery.kept = kept
    return made


numbers = st.builds(Fraction, st.integers(-2, 22), st.sampled_from([1, 4, 4, 4, 5])).map(str)
verdicts = st.sampled_from(["holds", "violated", "unknown"])
indices = st.integers(0, 9)


def put(*path):
    """An edit of the data of the proof's file: sets what is at a path of keys."""

    def edit(forgery, _, value):
        def change(data):
            place = data
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value

        forgery.edit(change)

    return edit


def swap_data(forgery, other, key):
    forgery.edit(lambda data: data.update({key: json.loads(other.kept[other.file])[key]}))


def lemma_data(forgery, _, choice):
    index, change = choice
    forgery.edit(lambda data: change(data["lemmas"], index))


def edge_data(forgery, _, choice):
    name, change = choice
    forgery.edit(lambda data: data["constants"][name].update(edge=change(data["constants"])))


def swap_window(forgery, other, choice):
    here, there = choice
    forgery.trace(here).parent.mkdir(exist_ok=True)
    forgery.trace(here).write_bytes(other.kept[other.trace(there)])


def edit_window(forgery, _, choice):
    name, (key, value) = choice
    forgery.edit_trace(name, **{key: value})


def edit_certificate(forgery, _, choice):
    name, change = choice
    file = forgery.certificate("long_progresses")
    data = json.loads(gzip.decompress(file.read_bytes()))
    change(data)
    forgery.certificate(name).write_bytes(gzip.compress(json.dumps(data).encode()))


def certificate_for(forgery, _, choice):
    """One that fits the question of another lemma, but for its proof."""
    name, lemma = choice
    try:
        prover = Prover(str(forgery.path), forgery.controller, forgery.horizon)
    except InputError:
        return  # the definition as it is edited by now
    values = {name: Fraction(2) for name in CONSTANTS}
    question = Clauses(prover.question(prover.lemmas[lemma], values)).digest()
    edit_certificate(forgery, None, (name, lambda data: data.update(question=question)))


def define(forgery, _, choice):
    old, new = choice
    if old in forgery.path.read_text():
        forgery.define(old, new)


def scaled(columns):
    return {name: tuple(2 * value for value in column) for name, column in columns.items()}


def told(**about):
    return lambda query: {**query, "property": {**query["property"], **about}}


def texts(table):
    return st.sampled_from([(old, new) for old, others in table.items() for new in others])


EDITS = st.one_of(
    st.tuples(st.just(put("constants", "drain", "value")), numbers),
    st.tuples(st.just(put("constants", "inflight", "value")), numbers),
    st.tuples(st.just(put("constants", "short", "value")), numbers),
    st.tuples(st.just(put("constants", "drain", "front")), st.lists(
        st.lists(st.sampled_from(["1", "3", "3", None, "9/4", "13/4"]), min_size=2, max_size=2), max_size=3)),
    st.tuples(st.just(put("constants", "drain", "front", 0, 1)), numbers | st.none()),
    st.tuples(st.just(put("controller", "name")), st.sampled_from(NAMES)),
    st.tuples(st.just(put("controller", "source")), st.sampled_from(list(PACKETS))),
    st.tuples(st.just(put("horizon")), st.integers(3, 6)),
    st.tuples(st.just(put("definition")), st.sampled_from(["0" * 64, sha256(DRAINS.read_bytes()).hexdigest()])),
    st.tuples(st.just(put("proof")), st.just("cc_qdel")),
    st.tuples(st.just(put("constants", "drain", "edge", "verdict")), verdicts),
    st.tuples(st.just(put("constants", "drain", "edge", "lemma")), st.sampled_from(LEMMAS)),
    st.tuples(st.just(swap_data), st.sampled_from(["constants", "lemmas", "controller", "horizon"])),
    st.tuples(st.just(lemma_data), st.tuples(indices, st.one_of(
        verdicts.map(lambda verdict: lambda lemmas, i: lemmas[i % len(lemmas)].update(verdict=verdict)),
        st.just(lambda lemmas, i: lemmas.pop(i % len(lemmas))),
        st.just(lambda lemmas, i: lemmas[i % len(lemmas)].pop("trace", None)),
        st.just(lambda lemmas, i: lemmas.append(lemmas[i % len(lemmas)])),
        st.sampled_from(LEMMAS).map(lambda name: lambda lemmas, i: lemmas[i % len(lemmas)].update(lemma=name)),
        st.just(lambda lemmas, i: lemmas.reverse()),
    ))),
    st.tuples(st.just(edge_data), st.tuples(st.sampled_from(CONSTANTS), st.one_of(
        st.just(lambda constants: None),
        st.just(lambda constants: {"lemma": "long: progresses", "verdict": "unknown", "seconds": 1.0}),
        st.just(lambda constants: constants["inflight"]["edge"]), st.just(lambda constants: constants["drain"]["edge"]),
    ))),
    st.tuples(st.just(swap_window), st.tuples(st.sampled_from(WINDOWS), st.sampled_from(WINDOWS))),
    st.tuples(st.just(edit_window), st.tuples(st.sampled_from(WINDOWS), st.sampled_from([
        ("query", told(constants="short=2, drain=13/4")), ("query", told(constants="short=2, drain=2")),
        ("query", told(lemma="long: progresses")), ("query", lambda query: {**query, "horizon": "4"}),
        ("controller", lambda _: TWO), ("controller", lambda _: None), ("columns", scaled),
    ]))),
    st.tuples(st.just(edit_certificate), st.tuples(st.sampled_from(CERTIFICATES), st.sampled_from([
        lambda data: data["lemmas"].clear(), lambda data: data["steps"].clear(), lambda data: data["steps"].reverse(),
        lambda data: data["lemmas"].extend(data["lemmas"]), lambda data: data["lemmas"].append([[-1, 1], [1, 1]]),
        lambda data: data["lemmas"].append([]), lambda data: data["steps"].insert(0, []),
        lambda data: data["steps"].append([10**30]), lambda data: data["lemmas"].insert(0, [[0, 1]]),
        lambda data: data["lemmas"][0][0].__setitem__(1, 0), lambda data: data["lemmas"][0][0].__setitem__(1, -1),
        lambda data: data["lemmas"][0][0].__setitem__(0, 10**30), lambda data: data["lemmas"].append([[-2, 1]]),
        lambda data: [pair.__setitem__(1, pair[1] * 10**50) for pair in data["lemmas"][0]],
    ]))),
    st.tuples(st.just(certificate_for), st.tuples(st.sampled_from(CERTIFICATES), st.sampled_from(LEMMAS))),
    st.tuples(st.just(define), texts(UNSOUND)),
    st.tuples(st.just(define), texts(SOUND)),
)  # fmt: skip


def untrue(forgery):
    """Return the false claims of a proof's file. Claims that `check` reports as not checked do not count."""
    data = json.loads(forgery.file.read_text())
    packets, steps = PACKETS[data["controller"]["source"]], data["horizon"] - 1
    most = steps * (1 - Fraction(packets, 5))
    best = Fraction(4 * most // 1, 4)
    text = forgery.path.read_text()
    values = {name: Fraction(about["value"]) for name, about in data["constants"].items()}
    edges = {name: about["edge"] for name, about in data["constants"].items() if about["edge"]}
    known = {name: edge["lemma"] for name, edge in edges.items() if edge["verdict"] != "unknown"}
    verdicts = {about["lemma"]: about["verdict"] for about in data["lemmas"]}
    truth = {f"drains by {amount}": ("violated", "holds")[amount <= most] for amount in (2, 4)}
    named = ("leads on", "progresses", "nothing degrades", "is bounded")
    declared = dict.fromkeys(("windows join", "states cover everything", *(f"long: {name}" for name in named)), "holds")
    declared |= {"short: leads on": "holds", "short: bounds inflight": "holds"}
    if sha256(text.encode()).hexdigest() != data["definition"] or data["proof"] != str(forgery.path):
        yield "the definition"
    if any(new in text for others in UNSOUND.values() for new in others):
        yield "progress"
    if values.keys() != {"short", "drain", "inflight"} or values["short"] != 2:
        yield "the constants"
    if values["drain"] > best or ("drain" in known and values["drain"] != best):
        yield "drain"
    if values["inflight"] < 2 or ("inflight" in known and values["inflight"] != 2):
        yield "inflight"
    if not known.items() <= {"drain": "long: progresses", "inflight": "short: bounds inflight"}.items():
        yield "what limits a constant"
    if data["constants"]["drain"]["front"] != [["1", str(best)], ["3", str(best)]]:
        yield "the front"
    if any(about["front"] for name, about in data["constants"].items() if name != "drain"):
        yield "a front of nothing"
    if {**declared, **truth} != {name: truth.get(name) if v == "unknown" else v for name, v in verdicts.items()}:
        yield "the verdicts"
    if data["controller"]["name"] == "cc_qdel" or (data["controller"]["name"] == "one_packet" and packets != 1):
        yield "the controller's name"


def forge(proofs, examples):
    """Return the number of forgeries and of accepted ones. No accepted one makes a false claim."""
    count = {"edited": 0, "accepted, as still true": 0}

    @settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2), st.integers(0, 2), st.lists(EDITS, min_size=1, max_size=3))
    def forges(which, donor, edits):
        forgery = proofs[which]
        forgery.restore()
        for edit, value in edits:
            try:
                edit(forgery, proofs[donor], value)
            except (KeyError, IndexError, TypeError, AttributeError):
                continue  # an edit of what an earlier one took away
        changed = any(file.read_bytes() != content for file, content in forgery.kept.items())
        count["edited"] += changed
        if forgery.accepted():
            assert not list(untrue(forgery)), edits
            count["accepted, as still true"] += changed

    forges()
    for forgery in proofs:
        forgery.restore()
        assert forgery.accepted() and not list(untrue(forgery))
    print({**count, "refused": count["edited"] - count["accepted, as still true"]})
    return count


def test_no_forged_proof_is_accepted(proofs):
    count = forge(proofs, 20)
    assert 0 < count["accepted, as still true"] < count["edited"] / 2


@pytest.mark.slow
def test_no_forged_proof_of_thousands_is_accepted(proofs):
    count = forge(proofs, 4000)
    assert 0 < count["accepted, as still true"] < count["edited"] / 2
