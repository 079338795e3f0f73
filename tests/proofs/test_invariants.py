"""Inductive invariants: found in seconds, checked without the search, and refused if anything about them changes."""

import json
from dataclasses import replace
from fractions import Fraction
from time import process_time

import pytest

import ccmatic as cm
from benchmarks.studies import invariants as study
from ccmatic.base import InputError
from ccmatic.logic import Environment, equal, no, real
from ccmatic.logic.solving import UNSAT, Checker
from ccmatic.proving import expectations
from ccmatic.proving.expectations import unbounded
from ccmatic.proving.invariants import Answer, Claim, engine
from ccmatic.proving.invariants.claims import Problem, monitored
from ccmatic.proving.invariants.engine import clauses_of, facts
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.lasting import Window
from ccmatic.proving.invariants.proof import prove
from ccmatic.proving.invariants.saved import Invariant
from ccmatic.proving.invariants.transition import derive
from ccmatic.questions.query import Network, Query
from support.cli import run
from support.sampling import each_nth

#: AIMD's losses are detected a step later, and no timer fires before their detection.
ORACLE = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none"
PACKETS = "alpha == 1/10"


def query(model, buffer, start="informed", given="", **network):
    what = {"what": "queue <= 1 bdp", "start": start, "given": given}
    return Query(Network(model, buffer=buffer, horizon=4, **network), "expects", **what)


def proved(name, asked, claim, seconds=60):
    return prove(asked, asked.controller(name), claim, seconds, jobs=1)


def at_most(subject, amount):
    return Claim(subject, "<=", Fraction(amount))


@pytest.fixture(scope="module")
def in_flight():
    """The invariant that bounds the bytes in flight of cc_qdel."""
    return proved("cc_qdel", query("ccac", "infinite"), at_most("queue", 7)).invariant


def test_bytes_in_flight_of_cc_qdel_have_a_tight_bound(in_flight):
    assert in_flight.fault() is None
    assert proved("cc_qdel", query("ccac", "infinite"), at_most("queue", "13/2")).answer is Answer.REACHABLE


def test_the_window_of_aimd_has_a_tight_bound():
    asked = query(ORACLE, "1", given=PACKETS)
    assert proved("aimd_each_step", asked, at_most("window", "31/10")).answer is Answer.PROVED
    assert proved("aimd_each_step", asked, at_most("window", "61/20")).answer is Answer.REACHABLE


def test_cc_qdel_uses_its_link():
    claim = Claim("utilisation", ">=", Fraction(3, 4), Fraction(8))
    assert proved("cc_qdel", query("ccac", "infinite"), claim).invariant.fault() is None


def test_a_claim_that_allows_an_idle_link_for_long_is_unknown():
    claim = Claim("utilisation", ">=", Fraction(1, 2), Fraction(500))
    assert proved("cc_qdel", query("ccac", "infinite"), claim).answer is Answer.UNKNOWN


def test_a_saved_invariant_is_checked_again(in_flight, tmp_path):
    assert Invariant.load(in_flight.save(tmp_path, "cc_qdel")).fault() is None


def test_an_invariant_without_one_of_its_literals_is_refused(in_flight):
    for number, clause in enumerate(in_flight.clauses):
        for place in range(len(clause)):
            shorter = [*clause[:place], *clause[place + 1 :]]
            clauses = [*in_flight.clauses[:number], *([shorter] if shorter else []), *in_flight.clauses[number + 1 :]]
            assert replace(in_flight, clauses=clauses).fault()
            # Every literal is necessary, so no other certificates can prove the shorter clauses, either.
            assert Invariant.certified(in_flight.query, in_flight.controller, in_flight.claim, clauses) is None


def test_a_tighter_claim_is_refused(in_flight):
    assert replace(in_flight, claim=at_most("queue", "69/10")).fault()


def test_another_controller_is_refused(in_flight):
    source = in_flight.controller.source.replace("C_L / 2", "C_L / 3")
    other = in_flight.query.read_controller(source, "cc_qdel")
    assert source != in_flight.controller.source and replace(in_flight, controller=other).fault()


def test_a_weakened_law_is_refused(in_flight, monkeypatch):
    laws = Window.laws.func

    def weakened(window):
        return [law for law in laws(window) if law.name != "served_within_jitter"]

    monkeypatch.setattr(Window, "laws", property(weakened))
    assert in_flight.fault()


@pytest.mark.parametrize(
    "kept", [{"sends", "service_grows"}, {"sends", "tokens_come_at_link_rate"}, {"service_grows"}, set()]
)
def test_without_laws_that_relate_counts_a_claim_about_their_difference_is_refused(kept):
    """Counts with an origin each look small, because a state has no value for them."""
    asked, claim = query("ccac", "infinite"), at_most("queue", "1/2")
    controller = asked.controller("cc_qdel")
    names = {law.name for law in Window(asked, controller, 3, 2).laws} - kept
    try:
        assert Invariant.certified(asked, controller, claim, [], tuple(sorted(names))) is None
    except InputError as problem:
        assert "relate" in str(problem)


def test_other_networks_are_refused(in_flight):
    assert replace(in_flight, query=query("ccac", "infinite", jitter=2)).fault()
    assert replace(in_flight, query=query("ccac", "infinite", start="any")).fault()


@pytest.fixture(scope="module", params=["copa", pytest.param("vegas", marks=pytest.mark.slow)])
def waiting(request):
    """The invariant that bounds the bytes in flight of a controller by delay."""
    return proved(request.param, query("ccac_windows", "infinite", given=PACKETS), at_most("queue", 8)).invariant


def test_controllers_by_delay_have_bounds(waiting):
    assert waiting.fault() is None
    assert replace(waiting, claim=at_most("queue", 7)).fault()


def test_an_invariant_about_delays_needs_its_clauses(waiting):
    fewer = [clause for clause in waiting.clauses if not any(part.relation in ("holds", "fails") for part in clause)]
    assert len(fewer) < len(waiting.clauses)
    assert Invariant.certified(waiting.query, waiting.controller, waiting.claim, fewer) is None


@pytest.mark.parametrize("name", ["served_within_jitter", "delay_is_time_since_sent"])
def test_a_law_that_a_bound_by_delay_needs_is_missed(waiting, name, monkeypatch):
    laws = Window.laws.func
    monkeypatch.setattr(Window, "laws", property(lambda window: [law for law in laws(window) if law.name != name]))
    assert waiting.fault()


def test_a_smaller_k_is_refused():
    claim = Claim("utilisation", ">=", Fraction(1, 2), Fraction(8))
    invariant = proved("cc_qdel", query("ccac", "infinite"), claim).invariant
    assert invariant.fault() is None
    assert replace(invariant, claim=replace(claim, within=Fraction(1))).fault()


def test_a_certificate_of_something_else_is_refused(in_flight):
    certificates = [in_flight.certificates[0]] * len(in_flight.certificates)
    assert replace(in_flight, certificates=certificates).fault()


@pytest.mark.parametrize("horizon", each_nth(3, [3, 4, 5]))
@pytest.mark.parametrize(
    "name, model, buffer, more",
    [
        ("cc_qdel", "ccac", "infinite", {}),
        ("cc_qdel", "ccac", "infinite", {"jitter": 2}),
        ("cc_qdel", "ccac", "1", {}),
        ("cc_qdel", "ideal", "infinite", {}),
        ("cc_qdel", "cbr_delay", "infinite", {}),
        ("cc_probe_slow", "cbr_delay", "any", {}),
        ("aimd_each_step", ORACLE, "1", {"given": PACKETS}),
        ("aimd_each_step", ORACLE, "infinite", {}),
        ("copa", "ccac_windows", "infinite", {}),
        ("copa_stalls", "ideal_windows", "1", {}),
        ("vegas", "ccac_windows", "infinite", {}),
        ("lp", "cbr_delay_windows", "1", {}),
        ("illinois", "ccac_windows", "1", {}),
        ("cc_qdel_sender", "ccac_windows", "infinite", {}),
        ("bbr_v1", "ccac_windows", "1", {}),
    ],
)
def test_each_step_of_an_execution_is_a_step_of_the_system(name, model, buffer, more, horizon):
    """The solver finds no execution with a step that the transition system lacks."""
    with Environment():
        asked = query(model, buffer, **more)
        controller = asked.controller(name)
        system = derive(asked, controller)
        window = Window(asked, controller, system.now + horizon, system.now + 1)
        checker = Checker()
        for law in _laws(asked, controller, window):
            checker.add(law)
        for begin in range(window.x.horizon - system.x.horizon + 1):
            for condition in system.lasting:
                checker.push()
                checker.add(no(_later(system, window, condition, begin)))
                assert checker.check() == UNSAT, (begin, str(condition))
                checker.pop()


def _laws(asked, controller, window):
    """Return the laws of executions, without the consequences that the derivation adds."""
    x, model = window.x, asked.model
    read = model.closure(set(controller.parameters) & {belief.name for belief in model.beliefs})
    yield from (law.formula for law in (*model.laws(x), *model.belief_laws(x, read)))
    for flow in x.flows:
        yield from (formula for _, _, formula in controller.laws(flow))
        yield from (equal(real(f"time_{t}"), t) for t in range(x.horizon))
    for column, number in window.older.items():
        yield from (equal(real(f"{column}_{t}"), number) for t in range(x.horizon))


def _later(system, window, condition, steps):
    return Replaced(window.later([condition], steps)).condition(condition)


#: A window of at most twice the bytes acknowledged in the last R_m, and two packets.
LIMITED = """window: bytes = above(0)


def update(window, lost, acked, MSS, R_m, step):
    if lost > lost[step]:
        window = max(MSS, window / 2)
    else:
        window = min(window + MSS, 2 * (acked - acked[R_m]) + 2 * MSS)


def send(window):
    return window
"""
TWO = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere, buffer 1 bdp, flows 2"


def test_a_claim_about_the_window_of_several_flows_is_about_each_one():
    asked = cm.ask(LIMITED, TWO, "window <= 9 bdp", start="informed")
    query = asked.query.of_small_packets()
    found = prove(query, asked.controller, at_most("window", 9), 60, jobs=1)
    assert found.answer is Answer.PROVED and found.invariant.fault() is None
    assert replace(found.invariant, claim=at_most("window", 1)).fault()
    assert prove(query, asked.controller, at_most("window", 1), 60, jobs=1).answer is Answer.REACHABLE


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_claim_about_each_window_is_not_about_one_window_alone(number):
    """If only one of two flows has a small window, the claim does not hold."""
    with Environment():
        asked = cm.ask(LIMITED, TWO, "window <= 9 bdp", start="informed")
        system = derive(asked.query.of_small_packets(), asked.controller)
        about = monitored(at_most("window", 1), system)
        checker = Checker()
        for each in (*system.current, about.holds):
            checker.add(each)
        checker.add(real(f"window{number}_{system.now}") > 1)
        assert checker.check() == UNSAT


def test_prove_takes_a_controller_with_state(tmp_path):
    asked = (
        "--on",
        "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none, buffer 1 bdp",
    )
    code, out, complaint = run("prove", "aimd_each_step", *asked, "--expect", "window <= 1/2 bdp", "--out", tmp_path)
    assert code in (1, 3) and not complaint and "window <= 1/2 bdp" in out


def test_prove_writes_what_check_accepts_and_refuses_a_forgery(tmp_path):
    network = "ccac, buffer infinite, jitter 1 rtt"
    code, out, _ = run("prove", "cc_qdel", "--on", network, "--expect", "queue <= 7 bdp", "--json", cwd=tmp_path)
    line = json.loads(out)
    assert (code, line["verdict"], line["start"]) == (0, "proved", "informed")
    file = tmp_path / line["result"]
    code, out, _ = run("check", str(file), cwd=tmp_path)
    assert code == 0 and "queue <= 7" in out
    data = json.loads(file.read_text())
    data["claim"]["amount"] = "6"
    file.write_text(json.dumps(data))
    code, out, _ = run("check", str(file), cwd=tmp_path)
    assert code == 1 and "another question" in out


def test_the_start_that_a_user_names_is_the_start_of_the_claim(tmp_path):
    asked = "--from", "any", "--on", "ccac, buffer infinite, jitter 1 rtt", "--expect", "queue <= 7 bdp", "--json"
    code, out, _ = run("prove", "cc_qdel", *asked, cwd=tmp_path)
    line = json.loads(out)
    assert (code, line["verdict"], line["start"]) == (1, "refuted", "any")


ASSUMES = """
window: bytes = above(0)


def update(window, MSS):
    assume(window <= 5 * MSS)
    window = window + MSS


def send(window):
    return window
"""


def test_a_condition_named_like_a_part_of_a_delay_is_refused(tmp_path):
    text = ASSUMES.replace("window: bytes", "big_1: condition = False\nwindow: bytes").replace(
        "(window,", "(big_1, window,"
    )
    (tmp_path / "named.py").write_text(text.replace("    assume", "    big_1 = window > MSS\n    assume"))
    code, _, complaint = run(
        "prove", tmp_path / "named.py", "--on", "ccac, buffer 1 bdp", "--expect", "window <= 4 bdp"
    )
    assert code == 2 and "named.py:2: the condition `big_1` ends in '_' and a number" in complaint


OLD = """
window: bytes = above(0)


def update(window, acked, R_m, MSS):
    window = acked[4 * R_m] + MSS


def send(window):
    return window
"""


def test_a_formula_with_quantifiers_has_no_clauses():
    with pytest.raises(ValueError, match="quantifiers"):
        [*clauses_of("(forall ((z Real)) (< v0 z))", [*real("a").coefficients])]


def test_a_claim_about_losses_of_an_infinite_buffer_is_refused():
    question = query("ccac", "infinite")
    with pytest.raises(InputError, match="loses no bytes"):
        proved("cc_qdel", question, at_most("loss", 1))


LAZY = "def rate(C_L):\n    return C_L\n"


def test_an_execution_that_refutes_a_rate_begins_like_the_claim(tmp_path):
    """From any start, C_L may stay small for ever. From an informed start, it is at least C/2."""
    (tmp_path / "lazy.py").write_text(LAZY)
    asked = tmp_path / "lazy.py", "ccac, buffer infinite, jitter 1 rtt", "utilisation >= 2/5 within 4 bdp"
    assert cm.prove_by_invariant(*asked, seconds=2, jobs=1).verdict != "refuted"
    assert cm.prove_by_invariant(*asked, start="any", seconds=20, jobs=1).period == 1


def test_a_false_utilisation_is_refuted_before_the_search_for_an_invariant(monkeypatch):
    def never(*_):
        raise AssertionError("the search for an invariant began")

    monkeypatch.setattr(expectations, "attempt", never)
    false, true = (("cc_probe_qdel", "ccac, buffer infinite", f"utilisation >= {share}") for share in ("3/4", "1/2"))
    decided = cm.prove_by_invariant(*false, seconds=20)
    assert (decided.verdict, decided.period) == ("refuted", 1)
    assert cm.replay(decided.trace).outcome.value == "breaks"
    with pytest.raises(AssertionError, match="began"):
        cm.prove_by_invariant(*true, seconds=20)


def test_a_proof_and_its_check_name_what_they_leave_out(tmp_path):
    (tmp_path / "assumes.py").write_text(ASSUMES)
    asked = "--on", "ccac, buffer 1 bdp", "--expect", "window <= 4 bdp", "--json"
    code, out, _ = run("prove", "assumes.py", *asked, cwd=tmp_path)
    line = json.loads(out)
    left_out = [each["name"] for each in line["left_out"]]
    assert (code, line["verdict"]) == (0, "proved") and "assumptions" in left_out
    code, out, _ = run("check", str(tmp_path / line["result"]), cwd=tmp_path)
    assert code == 0 and all(f"left out: {name}" in out for name in left_out)


def test_an_expectation_without_invariants_is_reported_with_the_reason(tmp_path):
    (tmp_path / "old.py").write_text(OLD)
    asked = "--on", "ccac, buffer infinite", "--expect", "utilisation >= 1/2 over every 10 rtt", "--json"
    code, out, _ = run("prove", "old.py", *asked, cwd=tmp_path)
    assert code == 3 and "no invariant proves" in json.loads(out.splitlines()[-1])["no_invariant"]


def test_no_text_of_a_file_imitates_a_claim(in_flight, tmp_path):
    data = json.loads(in_flight.save(tmp_path, "queue").read_text())
    data["query"]["property"]["what"] = "queue <= 1/100 bdp"
    file = tmp_path / "imitates.json"
    file.write_text(json.dumps(data))
    code, out, _ = run("check", str(file))
    assert code == 0 and "1/100" not in out
    data["controller"]["name"] = "cc\nok          loss <= 0"
    file.write_text(json.dumps(data))
    code, out, complaint = run("check", str(file))
    assert (code, out) == (2, "") and "characters that do not print" in complaint


def test_a_bound_is_refuted_by_an_execution_that_replays(tmp_path):
    network = "ccac, buffer infinite, jitter 1 rtt"
    code, out, _ = run("prove", "cc_qdel", "--on", network, "--expect", "queue <= 6.5 bdp", "--json", cwd=tmp_path)
    line = json.loads(out)
    assert (code, line["verdict"], line["clauses"]) == (1, "refuted", None)
    assert cm.replay(tmp_path / line["result"]).outcome.name == "BREAKS"


@pytest.mark.parametrize(
    "expect, expected",
    [
        ("queue <= 7 bdp within 8", "which only a least utilisation has"),
        ("utilisation >= 1/2 within 8 rtt", "is no amount of bytes"),
        ("utilisation >= 1/2 within -1 bdp", "expected an amount such as '8 bdp'"),
    ],
)
def test_a_k_that_has_no_meaning_is_refused(expect, expected):
    with pytest.raises(cm.InputError, match=expected):
        cm.ask("cc_qdel", "ccac, buffer infinite", expect)


def test_an_expectation_with_k_is_for_invariants_only():
    question = cm.ask("cc_qdel", "ccac, buffer infinite", "utilisation >= 1/2 within 8")
    with pytest.raises(cm.InputError, match="an invariant alone decides"):
        cm.answer(question)


SENDS = "\n\ndef send(window):\n    return window\n"


def test_a_controller_that_changes_after_a_long_time_has_no_bound_of_its_first_steps():
    asked = query(ORACLE, "infinite", given=PACKETS)
    window = "window = MSS if time < 50 * R_m else 30 * MSS"
    source = f"window: bytes = above(0)\n\ndef update(window, time, MSS, R_m):\n    {window}{SENDS}"
    bounds = {"2": Answer.REACHABLE, "3": Answer.PROVED}
    for bound, answer in bounds.items():
        controller = asked.read_controller(source)
        assert prove(asked, controller, at_most("window", bound), 30, jobs=1).answer is answer


@pytest.mark.parametrize("row", [row for row in study.ROWS if row.given], ids=lambda row: row.bounds[0])
def test_the_conditions_of_the_studys_rows_are_of_the_language(row):
    asked = cm.ask(row.names[0], row.on, row.bounds[0], start="informed").query
    given = replace(asked, property=replace(asked.property, given=row.given))
    assert derive(given, given.controller(row.names[0])).state


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(cm.InputError, match="the budget is 0 s; expected more"):
        proved("cc_qdel", query("ccac", "infinite"), at_most("queue", 7), 0)


def test_an_attempt_ends_when_its_cpu_seconds_are_spent():
    with Environment():
        asked = query("ccac", "infinite")
        claim = Claim("utilisation", ">=", Fraction(99, 100), Fraction(8))
        problem = Problem(derive(asked, asked.controller("cc_qdel")), claim)
        text = engine.horn_clauses(problem, facts(problem))
    begin = process_time()
    assert engine.attempt(text, {}, 0.2)[0] is Answer.UNKNOWN
    assert 0.2 <= process_time() - begin < 2


def test_a_read_of_long_ago_is_refused_by_name():
    asked = query("ccac_windows", "1")
    source = f"window: bytes = above(0)\n\ndef update(acked, R_m):\n    window = acked - acked[20 * R_m]{SENDS}"
    with pytest.raises(cm.InputError, match="decides by `acked` of more than 5 steps ago"):
        derive(asked, asked.read_controller(source))


def test_a_count_since_the_begin_is_refused_by_name():
    asked = query("ccac_windows", "1")
    source = f"window: bytes = above(0)\n\ndef update(window, acked):\n    window = max(acked / 2, window){SENDS}"
    with pytest.raises(
        cm.InputError, match="decides by `acked`, which is not bounded.*such as acked - acked"
    ) as raised:
        derive(asked, asked.read_controller(source))
    assert raised.value.line == 4


GROWS = "window = window + MSS if {} else MSS"


@pytest.mark.parametrize(
    "state, update, expected",
    [
        ("count: number = 0", "count = count + 1; " + GROWS.format("count < 60"), ["`count` (line 2)"]),
        ("count: number = 0", "count = min(count + 1, 60); " + GROWS.format("count < 60"), []),
        ("count: number = 0", "count = 0 if count >= 60 else count + 1; " + GROWS.format("count < 60"), []),
        (
            "since: time = 0",
            "since = time if window <= MSS else since; " + GROWS.format("time - since < R_m"),
            ["`since` (line 2)", "`time` (line 5)"],
        ),
        ("count: bytes = 0", "count = count + MSS; " + GROWS.format("count < 60 * MSS"), ["`count` (line 2)"]),
        ("count: bytes = 0", "count = min(count + MSS, 60 * MSS); " + GROWS.format("count < 60 * MSS"), []),
        ("count: bytes = 0", "count = count + MSS if count < 60 * MSS else 0; " + GROWS.format("count < 9 * MSS"), []),
        ("count: bytes = 0", "count = max(count, window); " + GROWS.format("count < 60 * MSS"), []),
        ("since: time = 0", "since = min(since + step, 9 * R_m); " + GROWS.format("since < 9 * R_m"), []),
        ("since: time = 0", "since = step; " + GROWS.format("time < 60 * R_m"), ["`time` (line 6)"]),
    ],
)
def test_a_state_without_a_bound_is_named_with_its_line(state, update, expected):
    asked = query(ORACLE, "1", given=PACKETS)
    parameters = f"window, {state.partition(':')[0]}, time, MSS, R_m, step"
    source = f"window: bytes = above(0)\n{state}\n\ndef update({parameters}):\n    {update}{SENDS}"
    sentences = unbounded(asked, asked.read_controller(source.replace("; ", "\n    ")))
    assert [each.partition(" has no bound")[0] for each in sentences] == expected


@pytest.mark.parametrize("name", ["aimd_each_step", "bbr_v1", "cc_qdel_sender"])
def test_states_of_shipped_controllers_have_bounds(name):
    asked = query("ccac_windows", "1")
    assert unbounded(asked, asked.controller(name)) == []


def test_an_unknown_claim_about_a_controller_that_counts_says_how_to_write_it(tmp_path):
    counts = "window: bytes = above(0)\ncount: number = 0\n\ndef update(window, count, MSS):\n    count = count + 1\n"
    (tmp_path / "counts.py").write_text(f"{counts}    {GROWS.format('count < 60')}{SENDS}")
    asked = ["prove", "counts.py", "--on", "ccac, buffer 1 bdp", "--expect", "window <= 20 bdp", "--timeout", "0.5"]
    code, out, err = run(*asked, cwd=tmp_path)
    assert (code, err) == (3, "")
    assert "`count` (line 2) has no bound; expected a state that stops, such as `count = min(count + 1, 5)`" in out


def test_a_network_that_changes_has_no_transition_system():
    with pytest.raises(cm.InputError, match="has no transition system"):
        proved("aimd_each_step", query("changing_windows", "1"), at_most("window", 7))


def forged(invariant, tmp_path, change):
    """Return the file of an invariant after a change of its data."""
    file = invariant.save(tmp_path, "forged")
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    return file


def test_the_name_of_a_shipped_controller_belongs_to_its_text(in_flight, tmp_path):
    file = forged(in_flight, tmp_path, lambda data: data["controller"].update(name="cc_probe_qdel"))
    assert cm.check(file).verdict == "rejected"


@pytest.mark.parametrize(
    "about, expected",
    [
        ({"given": "A[0] < 0"}, "no execution begins like this"),
        ({"start": "queue <= 1 bdp and queue >= 2 bdp"}, "no execution begins like this"),
    ],
)
def test_a_start_of_no_execution_is_refused(about, expected):
    with pytest.raises(cm.InputError, match=expected):
        derive(query("ccac", "infinite", **about), query("ccac", "infinite").controller("cc_qdel"))


@pytest.mark.parametrize(
    "about", [{"repeats": "1"}, {"what": "queue <= 1 bdp while queue <= 1/2 bdp"}], ids=["repeats", "while"]
)
def test_executions_that_more_than_their_start_restricts_are_refused(in_flight, tmp_path, about):
    file = forged(in_flight, tmp_path, lambda data: data["query"]["property"].update(about))
    with pytest.raises(cm.InputError, match="expected all from a start"):
        cm.check(file)


def test_a_k_of_a_bound_is_refused(in_flight, tmp_path):
    file = forged(in_flight, tmp_path, lambda data: data["claim"].update(within="8"))
    with pytest.raises(cm.InputError, match="has a K, which only a utilisation has"):
        list(cm.check(file))


def test_a_file_of_many_clauses_is_refused_at_once(in_flight):
    many = replace(in_flight, clauses=[*in_flight.clauses] * 100_000)
    assert many.fault().startswith(f"it has {len(in_flight.certificates)} certificates")
