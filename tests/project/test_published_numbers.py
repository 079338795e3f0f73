"""One function translates a proof into statements about a path: all that is printed and published is its output."""

import json
import re
from fractions import Fraction
from math import inf

import pytest

import ccmatic as cm
from ccmatic.contracts import load_definition
from ccmatic.deployment import policies
from ccmatic.deployment.emulation import link, pipeline
from ccmatic.deployment.emulation.kinds import timetable
from ccmatic.deployment.exporting import header
from ccmatic.evaluation.runs import bounds
from ccmatic.proving import guarantees, load_result
from ccmatic.proving import report as reports
from ccmatic.proving.guarantees import DeployedPath, translation
from ccmatic.proving.prover import Prover
from ccmatic.proving.report import conditions
from support import ROOT
from support.policies import policy

#: The path of README and docs: a step, R_m + D, is 80 ms; a BDP, C·R_m, is 120,000 bytes.
PATH = {"rate": "24mbit", "rtt": "40ms", "jitter": "40ms", "mss": 1500}
PUBLISHED = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHIPPED = {result.file.stem: result for result in guarantees.shipped()}


def words(text):
    """A text on one line."""
    return " ".join(re.sub(r"^ \* ?", "", text, flags=re.MULTILINE).split())


def test_a_proof_is_translated_by_hand_the_same():
    """cc_qdel_T10: 83/100 of C(W - D) in windows of W = 9 steps, 5·C(R_m + D) in flight, a buffer of 3·C(R_m + D), and
    nothing lost from 4.5; a step is 40 + 40 ms, at 3000 bytes a ms, and C(R_m + D) two steps of it."""
    saved = json.loads((ROOT / "results" / "proofs" / "cc_qdel_T10.json").read_text())["constants"]
    share, most, lossless = (Fraction(saved[name]["value"]) for name in ("utilisation", "inflight", "lossless_buffer"))
    found = cm.guarantee(ROOT / "results" / "proofs" / "cc_qdel_T10.json", **PATH)
    assert found.utilisation == share * 8 / 9 and found.step == 2
    assert found.inflight * found.path.bdp == most * 2 * 80 * 3000
    assert found.lossless_buffer * found.path.bdp == lossless * 2 * 80 * 3000
    assert found.buffer * found.path.bdp == 6 * 80 * 3000 and not found.missing
    assert "at least 73.77 % of C" in found.bounds() and "2400000 bytes, 1600 packets" in found.bounds()
    assert "a packet queues for at most 800 ms" in found.bounds()


def test_what_a_path_lacks_is_said():
    small = cm.guarantee("cc_qdel_T10", **PATH, buffer="2bdp")
    assert small.missing == (
        "a buffer of 12 BDP (1440000 bytes, 960 packets); it holds 2 BDP (240000 bytes, 160 packets)",
    )
    assert cm.guarantee("cc_qdel_T10", **PATH, buffer="18bdp").lost_in_step == 0
    assert cm.guarantee("cc_qdel_T10", **PATH, buffer="17.9bdp").lost_in_step is None
    assert "more than five packets" in cm.guarantee("cc_qdel_T10", **{**PATH, "mss": 48_000}).missing[0]
    assert not cm.guarantee("g1_t11_3_T11", buffer="20bdp").missing
    assert cm.guarantee("g1_t11_3_T11", buffer="19bdp").missing
    assert cm.guarantee("cc_qdel_T10", buffer="infinite").path.buffer == inf


@pytest.mark.parametrize("asked, message", [
    ({"jitter": "40ms"}, "the jitter is '40ms' of an unknown R_m"),
    ({"rtt": "0ms"}, "the rtt is '0ms'; expected more than 0"),
    ({"buffer": "30000"}, "the buffer is '30000' of an unknown C·R_m"),
])  # fmt: skip
def test_a_path_that_is_none(asked, message):
    with pytest.raises(cm.InputError, match=message):
        cm.guarantee("cc_qdel_T10", **asked)


def test_a_network_without_jitter_is_no_path():
    with pytest.raises(cm.InputError, match="about a network without jitter"):
        cm.guarantee("ideal_link-g5_any_20_T8", **PATH)


def test_bounds_are_rounded_to_the_safe_side():
    """A share of 0.7377777… is not 73.78 %."""
    for name in SHIPPED:
        found = cm.guarantee(name, rate="23.7mbit", rtt="37ms", jitter="11ms")
        text = found.sentence()
        if found.utilisation:
            share = Fraction(re.search(r"at least ([\d.]+) % of C", text)[1]) / 100
            assert found.utilisation - Fraction(1, 1000) < share <= found.utilisation
        if found.inflight:
            most = Fraction(re.search(r"at most ([\d.]+) BDP", text)[1])
            assert found.inflight <= most < found.inflight * Fraction(1001, 1000)


def test_fit_prints_the_same():
    lines = cm.fit(ROOT / "examples/links/cellular.mahimahi", rtt="40ms", controllers=["cc_probe_slow", "cc_qdel"])[1]
    assert len(lines) > 5
    for line in lines:
        rtt = line.step * SHIPPED[line.proof].proof.jitter - line.jitter
        path = DeployedPath(line.jitter / rtt, rtt, line.rate, 1500)
        assert line.says == guarantees.translate(SHIPPED[line.proof], path).bounds()


#: The same on the emulator: 40 ms are propagation, and the link takes half a millisecond for a packet.
MEASURED = {**PATH, "rtt": "40.5ms", "jitter": "40.5ms"}


def emulated(flow, buffer="20bdp", jitter="40ms", **more):
    """Return the text that is printed about a flow on a link."""
    on = link.of_texts("24mbit", "40ms", buffer, jitter, **more)
    return list(pipeline.proved(on, timetable([flow], 10)))


def test_emulate_prints_the_same():
    (line,) = emulated("udp:cc_qdel")
    assert line.covered and line.says == cm.guarantee("cc_qdel_T10", **MEASURED, buffer="20bdp").bounds()
    (small,) = emulated("udp:cc_qdel", "240000")
    assert small.missing == list(cm.guarantee("cc_qdel_T10", **MEASURED, buffer="240000").missing)
    assert emulated("udp:cc_qdel", "1458000")[0].covered and not emulated("udp:cc_qdel", "1457999")[0].covered
    (late,) = emulated("udp:cc_qdel", jitter="50ms")
    assert late.missing == ["a jitter of 40.5 ms at most; it is of 50 ms"]
    assert [line.controller for line in emulated("udp:cc_probe_slow")] == [
        "udp:cc_probe_slow",
        "udp:cc_probe_slow at its start",
    ]


def test_emulate_prints_nothing_where_nothing_is_proved():
    assert not emulated("udp:copa") and not emulated("udp:always_half")
    assert not emulated("udp:cc_qdel", changes=["5s=48mbit"])
    flows = timetable(["udp:cc_qdel", "udp:cc_qdel"], 10)
    assert not list(pipeline.proved(link.of_texts("24mbit", "40ms", "20bdp"), flows))


def test_exported_headers_say_the_same():
    text = words(header.make("cc_probe_slow").header())
    assert cm.guarantee("cc_probe_slow_T10").sentence() in text and cm.guarantee("cc_qdel_T10").sentence() in text
    assert "No shipped proof is about cc_qdel in windows of 4 steps." in words(
        header.make("cc_qdel", horizon=5).header()
    )
    wide = header.make("cc_qdel_wide", horizon=11, guarding=True)
    assert cm.guarantee("cc_qdel-cc_qdel_wide_T11").sentence() in words(wide.header())


def test_policy_files_say_the_same(tmp_path):
    """A policy in an envelope with intervals of two R_m has steps as long, and so a jitter of R_m."""
    made = policy(tmp_path / "inside.json", act="envelope:cc_qdel_wide", interval="2")
    (said,) = policies.with_guarantees(made.file).guarantees
    sentence = cm.guarantee("cc_qdel-cc_qdel_wide_T11").sentence()
    assert said.endswith(sentence) and sentence in words(policies.exported(made).header())
    free = policy(tmp_path / "free.json").file
    assert policies.with_guarantees(free) == free


def test_evaluate_compares_with_the_same():
    found = cm.guarantee("cc_qdel_T10", buffer="12bdp")
    assert bounds("cc_qdel", 12).utilisation == float(found.utilisation)
    assert bounds("cc_qdel", 12).inflight_bdp == float(found.inflight)


def test_readme_prints_what_is_proved():
    text = words((ROOT / "README.md").read_text())
    for name in ("cc_qdel_T10", "cc_probe_slow_T10"):
        assert cm.guarantee(name, **PATH).bounds() in text
    needed = re.search(r"the buffer holds at least [^;]*", cm.guarantee("cc_qdel_T10", **PATH).conditions())[0]
    assert needed in text


def row(name):
    """The row of docs/reference/guarantees.md about a result, for D = R_m, from the words of its guarantee."""
    found = cm.guarantee(name)
    text = f"{found.bounds()}; {found.conditions()}"

    def said(pattern):
        match = re.search(pattern, text)
        return match[1] if match else None

    lossless = said(r"no packet is lost if the buffer holds ([\d.]+ BDP)")
    cells = [
        f"[{name}](../../results/proofs/{name}.json)",
        str(found.window),
        said(r"the buffer holds at least ([\d.]+ BDP)") or "any",
        said(r"at least ([\d.]+ %) of C"),
        said(r"at most ([\d.]+ BDP)") or "–",
        said(r"at most (\d+ packets) are lost in a step") or (f"none from {lossless} of buffer" if lossless else "–"),
    ]
    return f"| {' | '.join(cells)} |"


def test_the_table_of_guarantees():
    table = (ROOT / "docs" / "reference" / "guarantees.md").read_text()
    rows = [row(name) for name, result in SHIPPED.items() if not guarantees.translate(result, DeployedPath()).missing]
    assert len(rows) > 20 and re.findall(r"^\| \[.*\|$", table, re.MULTILINE) == rows, "\n".join(rows)


def test_what_pages_say_of_proofs_is_what_the_function_says():
    """Each share of C, with the steps of its window, is that of a shipped proof."""
    said = r"at least ([\d.]+) % of C is used in each window of (\d+) steps"
    known = {re.search(said, text).groups() for name in SHIPPED if (text := cm.guarantee(name).bounds())}
    known.add(("70", "8"))  # of the proof that docs/tutorial.md makes, which its slow example prints
    found = [(page.name, pair) for page in PUBLISHED for pair in re.findall(said, words(page.read_text()))]
    assert {"README.md", "guarantees.md", "jitter.md"} <= {page for page, _ in found}
    assert not [(page, pair) for page, pair in found if pair not in known]


def test_pages_state_the_numbers_of_the_proofs():
    """Buffers are in BDP of the path, for a sender whose D is R_m."""
    needed, lossless = (getattr(cm.guarantee("cc_qdel_T10"), name) for name in ("buffer", "lossless_buffer"))
    wide = cm.guarantee("cc_qdel-cc_qdel_wide_T11")
    stated = {
        "emulation.md": [f"{needed} BDP"],
        "reports/paths.md": [f"{needed} BDP"],
        "reports/adversaries.md": [f"{float(100 * wide.utilisation):g} % of"],
        "reports/envelopes.md": [f"{wide.buffer} BDP", f"{lossless} BDP"],
    }
    for page, numbers in stated.items():
        text = words((ROOT / "docs" / page).read_text())
        assert [number for number in numbers if number not in text] == [], page


def test_tables_in_the_units_of_the_models_say_so():
    """A row with a link to a result has its share of C(T - D). Its heading, or else the page, names this unit."""
    checked = 0
    for page in ("proofs", "envelopes"):
        reports = ROOT / "docs" / "reports"
        text = (reports / f"{page}.md").read_text()
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            heading, _, *rows = table.splitlines()
            for row in rows:
                for saved in re.findall(r"\]\(([^)]*(?:proofs|fronts)/[\w-]+)\.(?:md|json)\)", row):
                    share = re.search(r"(\d+) %", row)
                    constants = translation.read_result((reports / f"{saved}.json").resolve()).constants
                    if share and "utilisation" in constants:
                        assert "of C(T - D)" in heading or "Utilisation is a share of C(T - D)" in text, row
                        assert Fraction(share[1]) == 100 * constants["utilisation"], row
                        checked += 1
    assert checked > 25


def report(name):
    """The report on a shipped proof."""
    result = load_result(ROOT / "results" / "proofs" / f"{name}.json")
    return "\n".join(reports._report(result, Prover(result.proof, result.controller, result.horizon), "picture.svg"))


def test_the_units_of_proofs_are_in_their_reports():
    for name, result in SHIPPED.items():
        says = {each.name: each.says for each in result.proof.constants}
        assert "of C(T - D)" in says["utilisation"]
        assert f"| {says['utilisation']} |" in report(name)


def test_reports_of_proofs_say_what_their_symbols_mean():
    """R_m is the step of a model of beliefs, which a path's R_m is not."""
    for name, result in SHIPPED.items():
        text = report(name)
        model = load_definition("models", "MODEL", result.proof.model)
        assert conditions(model) in text
        assert ("R_m is a step of the model." in text) is not model.windows


def test_the_home_page_and_the_shipped_trace_agree():
    """docs/index.md describes late_drain's trace: the queue, and the delay that the sender can be sure of."""
    columns = cm.Trace.load(str(ROOT / "results/gallery/late_drain.json")).columns
    text = words((ROOT / "docs" / "index.md").read_text())
    begin = re.search(r"begins with a queue of (\d+)", text)
    assert columns["A"][0] - columns["K"][0] == int(begin[1])
    told = re.search(
        r"At t = 1, 3 and 4 the queue .*? between ([\d.]+) and (\d+) .*? a delay of only (\d) or (\d) round trips",
        text,
    )
    queues = [columns["A"][t] - columns["K"][t] for t in (1, 3, 4)]
    assert [min(queues), max(queues)] == [Fraction(told[1]), Fraction(told[2])]
    assert {columns["qdel_L"][t] for t in (1, 3, 4)} == {int(told[3]), int(told[4])}
    assert all(columns["r"][t + 1] == 2 * columns["C_L"][t] for t in (1, 3, 4))


def test_every_page_counts_the_published_laws_alike():
    """docs/reference/encoding.md, section 5: delay grows by a step a step, and fits the buffer at once."""
    network = cm.Network("cbr_delay", "1", 5)
    x = cm.Query(network).execution()
    laws = {law.name.removeprefix("Q_").removeprefix("F_") for law in network.model.assumptions(x)}
    assert laws == {"grows_by_one_a_step", "fits_buffer_at_once"}
    for page in PUBLISHED:
        assert not re.search(r"\bone law\b[^.]*\b(break|not a law)", words(page.read_text())), page
    assert "two laws that real networks break" in words((ROOT / "README.md").read_text())
