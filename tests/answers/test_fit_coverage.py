"""Which proofs cover the path of a log."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from ccmatic.base import InputError
from ccmatic.fitting import packet_log
from ccmatic.fitting.coverage import guarantees
from ccmatic.fitting.fit import fit
from ccmatic.fitting.log import NEVER
from ccmatic.proving.guarantees import text
from ccmatic.proving.guarantees import translation as results
from ccmatic.records import data
from support import ROOT
from support.json_schemas import validate

C, PACKET = 1_500_000, 1500


def log_of(packets, held, lost=()):
    """Of a link of 12 Mbit/s on which a queue of 0.1 s comes at once, and stands, with 40 ms of propagation; packet i
    is held for held(i) seconds. lost: packets that are sent, and dropped, in between."""
    left = np.arange(packets) * PACKET / C
    delivered = np.maximum.accumulate(left + 0.04 + np.array([held(i) for i in range(packets)]))
    came = np.maximum(0, left - 0.1)
    sent = [*came, *(came[i] for i in lost)]
    arrived = [*np.rint(delivered * 1e9), *(NEVER for _ in lost)]
    return packet_log("log", np.rint(np.array(sent) * 1e9), arrived, np.full(len(sent), PACKET))


def asked(controller, log):
    return list(guarantees(controller, fit(log, rtt="0.04")))


def test_a_proof_covers_any_jitter_with_long_enough_steps():
    """Steps of R_m, the jitter and a packet's ms; the inflight of 5·C(R_m + D), where R_m and D are a step each, is of
    ten steps."""
    lines = [line for line in asked("cc_qdel", log_of(3000, lambda i: 0.02 * (i % 50 == 49))) if line.covered]
    assert [line.proof for line in lines][:2] == ["cc_qdel_T10", "cc_qdel_T11"]
    first = lines[0]
    assert first.jitter == pytest.approx(0.02, abs=1e-3) and first.step == pytest.approx(0.061, abs=2e-3)
    assert first.inflight == pytest.approx(10 * first.rate * first.step)
    assert first.buffer == pytest.approx(6 * first.rate * first.step)
    assert first.lossless_buffer == pytest.approx(9 * first.rate * first.step)
    assert first.utilisation == pytest.approx(0.83 * 8 / 9) and "at least 73.77 % of C" in text([first])
    validate(data(first), "GuaranteeLine")


def test_a_proof_of_a_link_without_jitter_covers_no_path():
    (line,) = asked("g5_any_20", log_of(3000, lambda i: 0))
    assert not line.covered and line.proof is None and "g5_any_20" not in line.missing[0]


def by_hand(controller, log):
    """Return the result of the proof that was written for a controller, not of shapes."""
    return [line for line in asked(controller, log) if not line.proof.startswith(("link_rate", "probes"))]


def test_what_is_missing_is_said():
    lossy = log_of(3000, lambda i: 0, lost=range(100, 200))
    (line,) = by_hand("g1_t11_3", lossy)
    assert line.missing == ["a buffer that never overflows; 100 packets were lost"]
    assert "a buffer of" in asked("cc_qdel", lossy)[0].missing[0]
    assert asked("cc_probe_slow", lossy)[0].covered


def test_a_log_without_a_queue_does_not_tell_what_is_inflight():
    """A packet of 1500 bytes each ms, through a link of any rate above that."""
    sent = np.arange(3000) * 10**6
    log = packet_log("log", sent, sent + 15 * 10**6, np.full(3000, PACKET))
    lines = [line for name in ("cc_qdel", "cc_probe_slow") for line in asked(name, log) if line.step]
    assert len(lines) >= 3
    for line in lines:
        assert line.rate == pytest.approx(C, rel=1e-3)
        assert not line.covered and line.missing[-1].startswith(
            "a log that determines C, from a flow that fills the link"
        )


def test_of_an_infinite_buffer_what_it_has_to_hold_is_said():
    (line,) = by_hand("g1_t11_3", log_of(3000, lambda i: 0))
    assert line.covered and line.buffer == line.inflight > 0


def test_a_proof_of_an_infinite_buffer_has_to_bound_what_waits(monkeypatch):
    result = next(found for found in results.shipped() if found.definition == "g1_t11_3")
    kept = {name: found for name, found in result.constants.items() if name != "inflight"}
    monkeypatch.setattr(results, "shipped", lambda: [replace(result, constants=kept)])
    (line,) = asked("g1_t11_3", log_of(3000, lambda i: 0))
    assert line.missing == ["a bound on the waiting bytes, which the buffer has to hold"]


def test_what_bounds_nothing_is_not_told_of():
    proofs = {result.definition for result in results.shipped()}
    assert "cc_qdel_jitter2" in proofs and "cc_qdel_jitter4" not in proofs


def test_a_proof_of_a_rate_that_moves_says_what_the_buffer_has_to_hold():
    """That of a jitter of two steps takes half as long ones."""
    found = fit(log_of(3000, lambda i: 0.02 * (i % 50 == 49)), models=("ccac", "varying"), rtt="0.04")
    lines = {line.proof.split("-")[0]: line for line in guarantees("cc_qdel", found)}
    one, two, moving = (lines[name] for name in ("cc_qdel_T10", "cc_qdel_jitter2", "cc_qdel_varying"))
    assert moving.covered and moving.buffer == moving.inflight == pytest.approx(18 * moving.rate * moving.step)
    assert two.step == pytest.approx(one.step / 2)
    assert two.covered and two.buffer == two.inflight == pytest.approx(24 * two.rate * two.step)


def test_windows_of_a_path_whose_rate_changes_are_not_covered_by_a_constant_rate():
    """C doubles and halves each second, which takes much jitter to explain with one C."""
    rate = np.where(np.arange(12_000) // 1500 % 2, C, 2 * C)
    left = np.cumsum(PACKET / rate)
    log = packet_log("log", np.full(12_000, NEVER), np.rint(left * 1e9), np.full(12_000, PACKET))
    whole, most = by_hand("cc_probe_slow", log)
    assert whole.covered and whole.jitter > 0.15 and most.step < whole.step / 1.1
    assert not most.covered and "a constant C" in text([most])


def test_losses_that_are_not_by_overflow_are_none_of_the_models():
    """The queue of 0.1 s gets through; once it is gone, packets are lost at random."""
    sent = np.concatenate((np.zeros(100), 0.1 + np.arange(1000) * 0.002))
    left = np.maximum.accumulate(sent - np.arange(1100) * 0.001) + np.arange(1100) * 0.001
    delivered = np.rint((left + 0.04) * 1e9)
    delivered[500:520] = NEVER
    (line,) = by_hand("cc_probe_slow", packet_log("log", np.rint(sent * 1e9), delivered, np.full(1100, PACKET)))
    assert not line.covered and "losses by overflow only; 20 of 20" in line.missing[-1]


def test_a_proof_with_a_lemma_that_is_broken_covers_nothing(monkeypatch):
    result = next(found for found in results.shipped() if found.definition == "cc_probe_slow")
    name = "steady: uses the link"
    broken = replace(result, verdicts={**result.verdicts, name: "violated"})
    monkeypatch.setattr(results, "shipped", lambda: [broken])
    (line,) = asked("cc_probe_slow", log_of(3000, lambda i: 0))
    assert not line.covered and line.missing == ["the lemma 'steady: uses the link', which is violated"]
    monkeypatch.setattr(results, "shipped", lambda: [replace(result, verdicts={})])
    (line,) = asked("cc_probe_slow", log_of(3000, lambda i: 0))
    assert len(line.missing) > 20 and "which is not decided" in line.missing[0]


def test_a_controller_without_a_proof():
    (line,) = asked("always_double", log_of(100, lambda i: 0))
    said = " ".join(text([line]).split())
    assert not line.covered and "a proof of it; there are proofs of " in said and "cc_probe_slow, cc_qdel" in said
    validate(data(line), "GuaranteeLine")
    with pytest.raises(InputError, match="there is no 'nobody'"):
        asked("nobody", log_of(100, lambda i: 0))


def test_a_model_that_was_not_fitted():
    found = fit(log_of(1000, lambda i: 0), models=("cbr_delay",))
    missing = [line.missing for line in guarantees("cc_qdel", found) if line.model == "ccac"]
    assert missing[:2] == [["a fit of the model ccac"]] * 2


def test_guarantees_are_a_table_that_fits_a_terminal_with_the_best_first():
    """Ten sentences of up to 700 characters were printed."""
    lines = asked("cc_qdel", log_of(3000, lambda i: 0.02 * (i % 50 == 49)))
    said = text(lines)
    assert max(map(len, said.splitlines())) <= 80
    heading, heads, *rows = said.splitlines()
    assert heading == "cc_qdel, all of the log: covered, the best guarantee first:"
    assert heads.split() == ["proof", "D", "ms", "C", "used", "queue", "ms", "buffer", "kB"]
    table = [row.split() for row in rows[: sum(line.covered for line in lines)]]
    used = [float(row[2].rstrip("%")) for row in table]
    assert used == sorted(used, reverse=True) and table[0][0] == "cc_qdel_T11" and len({*used}) > 1
    for name, jitter, share, queueing, buffer in table:
        (line,) = (line for line in lines if line.proof == name and line.covered)
        assert 0 <= 1000 * line.jitter - float(jitter) < 0.1 and 0 <= 100 * line.utilisation - float(share[:-1]) < 0.1
        assert 0 <= float(queueing) - 1000 * line.inflight / line.rate < 1.01
        assert 0 <= float(buffer) - line.buffer / 1000 < 1.01


def test_a_row_of_a_table_states_what_is_missing_before_it():
    (whole, most) = asked("cc_probe_slow", log_of(3000, lambda i: 0))[:2]
    kept = structs.replace(whole, covered=False, missing=["a buffer of 12 BDP", "a constant C"])
    said = text([kept, structs.replace(most, covered=True, missing=[])]).splitlines()
    assert said[0].endswith("covered, the best guarantee first:") and said[1].endswith("lost/step")
    missing = said.index("- a buffer of 12 BDP")
    assert said[missing - 1].endswith("not covered; what is missing:") and said[missing + 1] == "- a constant C"
    assert said[missing + 3].startswith(whole.proof)


def test_other_files_of_prove_beside_the_shipped_results_are_no_proofs(monkeypatch):
    """`prove` in a clone writes invariants and counterexamples to the same folder."""
    proof = results.shipped()[0].file
    files = {"a_refuted": ROOT / "results/gallery/late_drain.json", proof.stem: proof}
    shipped, find = results.definitions.shipped, results.definitions.find_file
    names = {"results.proofs": [*files]}
    monkeypatch.setattr(
        results.definitions, "shipped", lambda kind, suffix=".py": names.get(kind) or shipped(kind, suffix)
    )
    monkeypatch.setattr(
        results.definitions, "find_file", lambda kinds, name, suffix: files.get(name) or find(kinds, name, suffix)
    )
    results.shipped.cache_clear()
    try:
        assert [made.file for made in results.shipped()] == [proof]
    finally:
        results.shipped.cache_clear()
