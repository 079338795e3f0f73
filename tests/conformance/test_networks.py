"""What each network has to meet: its packets obey its laws, planted faults break them, beliefs stay true, answers."""

import shutil

import pytest

import ccmatic as cm
from ccmatic.base import definitions
from ccmatic.contracts import PACKETS, load_definition, world
from ccmatic.networks.simulation import packets
from conformance.links import PACKETS as BY_RATE
from conformance.links import WINDOWS
from conformance.worlds import Cell, Disagreement, check
from support.believing import ANYONE
from support.machine import needs_compiler
from support.sampling import each_nth

#: A link with some losses in each run.
LOSES = "lossy:loss_rate=1/10,loss_burst=3"
#: The links on which packets meet senders by a rate or by a window, and how many runs of each are checked by default.
RUNS = [
    (Cell(BY_RATE, "lossy", "packets"), 30),
    (Cell(BY_RATE, LOSES, "packets"), 30),
    (Cell(BY_RATE, "lossy:loss_rate=1/3", "packets"), 30),
    (Cell(WINDOWS, "lossy_windows", "packets"), 20),
    (Cell(BY_RATE, "marking", "packets"), 90),
    (Cell(WINDOWS, "marking_windows", "packets"), 20),
    (Cell(BY_RATE, "policer", "packets"), 90),
    (Cell(WINDOWS, "policer_windows", "packets"), 10),
    (Cell(WINDOWS, "policed", "packets"), 20),
]


@needs_compiler
@pytest.mark.parametrize("cell, runs", RUNS, ids=str)
def test_runs_obey_the_laws(cell, runs):
    check(cell, 0, runs)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("cell, runs", RUNS, ids=str)
def test_a_hundred_times_as_many_runs_obey_the_laws(cell, runs):
    check(cell, 1, 100 * runs)


MARKED = "link->marked = backlog > (link->is.threshold + served) * link->is.period;"
FILLS = "if (link->full || link->tokens > room)"
TOKENS = "(link_wide)(now - link->at)"
SHARE = "(link_wide)size * numerator"
#: Faults of packets: the network, the network whose packets.h has it, the right and the wrong text.
FAULTS = {
    "loss above its share": ("lossy", "lossy", f"+= {SHARE}", f"+= 2 * {SHARE}"),
    "a longer burst": ("lossy", "lossy", "link->own[2] * denominator", "2 * link->own[2] * denominator"),
    "losses that no column counts": ("lossy", "lossy", ", link->lost += size;", ";"),
    "marks a packet early": ("marking", "marking", MARKED, MARKED.replace("backlog", "backlog + work")),
    "marks a packet late": ("marking", "marking", MARKED, MARKED.replace(";", " + work;")),
    "marks each packet": ("marking", "marking", MARKED, "link->marked = 1;"),
    "marks no packet": ("marking", "marking", MARKED, "link->marked = 0;"),
    "refills at once": ("policer", "policer", FILLS, "if (1)"),
    "never full": ("policer", "policer", FILLS, "if (link->full)"),
    "slow tokens": ("policer", "policer", f"+= {TOKENS}", "+= (link_wide)((now - link->at) / 2)"),
    "a policer that refills at once": ("policed", "policer", FILLS, "if (1)"),
    "a policer without tokens": ("policed", "policer", TOKENS, "0 * (now - link->at)"),
    "a policer that passes everything": (
        "policed",
        "policed",
        "if (!policer_offer(&link->policer, now, size, flow))",
        "if (0)",
    ),
    "a queue without end": ("policed", "cbr_delay", "link->is.buffer", "1000 * link->is.buffer"),
}
#: By network: the links that show its faults, and the names of the laws that break.
SHOWING = {
    "lossy": ({LOSES, "lossy_windows"}, "(chance_|overflows_when_full)"),
    "marking": ({"marking", "marking_windows"}, "marke"),
    "policer": ({"policer", "policer_windows"}, "policer"),
    "policed": ({"policed"}, ""),
}
PLANTED = [
    (cell, fault)
    for fault, (network, *_) in FAULTS.items()
    for cell, _ in RUNS
    if cell.definition in SHOWING[network][0]
]


def planted(fault, folder):
    """Return the packets.h of a network with a fault, in a folder that gets a copy of each packets.h."""
    network, file, right, wrong = FAULTS[fault]
    for name in (*SHOWING, "cbr_delay"):
        (folder / name).mkdir()
        shutil.copy(world(load_definition("models", "MODEL", name), PACKETS), folder / name)
    source = folder / file / "packets.h"
    assert right in source.read_text()
    source.write_text(source.read_text().replace(right, wrong))
    return folder / network / "packets.h"


@needs_compiler
@pytest.mark.parametrize("cell, fault", each_nth(3, PLANTED), ids=str)
def test_a_planted_fault_breaks_a_law(cell, fault, tmp_path, monkeypatch):
    header = planted(fault, tmp_path)
    monkeypatch.setattr(packets, "world", lambda model, name: header)
    with pytest.raises(Disagreement, match=f"broken laws is .*{SHOWING[FAULTS[fault][0]][1]}"):
        check(cell, 0, 60)


#: Beliefs of senders by a window that are never false, whatever is sent.
BELIEFS = [
    ("lossy_windows", "1", "C_L", "C_L_f[0][T-1] > C"),
    ("lossy_windows", "4", "C_L", "C_L_f[0][T-1] > C"),
    ("lossy_windows", "1", "C_U", "C_U_f[0][T-1] < C"),
    ("lossy_windows", "4", "C_U", "C_U_f[0][T-1] < C"),
    ("policer_windows", "1", "C_L", "C_L_f[0][T-1] > C + buf / (1 + D)"),
    ("policer_windows", "1", "C_U", "C_U_f[0][T-1] < C"),
]
#: What may come true of a belief, by network.
LEARNED = [
    ("lossy_windows", "4", "C_U", "C_U_f[0][T-1] < 2 * C"),
    ("policer_windows", "1", "C_L", "C_L_f[0][T-1] > C"),
    ("policer_windows", "1", "C_U", "C_U_f[0][T-1] > C"),
]


@pytest.mark.parametrize(
    "model, room, belief, false, verdict",
    [*((*case, "holds") for case in BELIEFS), *((*case, "violated") for case in LEARNED)],
)
def test_what_a_sender_by_a_window_may_believe(model, room, belief, false, verdict):
    query = cm.Query(cm.Network(model, room, 6, delay="executions"), "avoids", what=false)
    assert cm.verify(query.read_controller(ANYONE.format(believed=belief)), query).verdict == verdict


LOSSY = "lossy, buffer 1 bdp, loss 1%, jitter 1 rtt"
POLICER = "policer, bucket 1 bdp, jitter 1 rtt"
MARKING = "marking, buffer 1 bdp, threshold 1/2 bdp"
CONVERGED = {"start": "converged"}
SHORT = {"horizon": 5}


@pytest.mark.parametrize(
    "controller, on, options, expect, verdict",
    [
        ("cc_qdel", LOSSY, CONVERGED, "queue <= 4 bdp", "holds"),
        ("cc_qdel", LOSSY, CONVERGED, "loss <= 10%", "violated"),
        ("always_c_u", LOSSY, CONVERGED, "queue <= 4 bdp", "holds"),  # reads C_U
        ("aimd", LOSSY, CONVERGED, "delay <= 2 rtt", "holds"),
        ("aimd", LOSSY, CONVERGED, "utilisation >= 50%", "violated"),
        ("dctcp", f"{MARKING.replace('1/2', '1/4')}, jitter 0 rtt", SHORT, "marked <= 0%", "violated"),
        ("prague", MARKING.replace("buffer 1", "buffer 2"), SHORT, "delay <= 2 rtt", "violated"),
        ("prague", MARKING, SHORT, "delay <= 2 rtt", "holds"),
        ("cc_qdel", MARKING, SHORT, "delay <= 2 rtt", "holds"),
        ("cc_qdel", MARKING, SHORT, "marked <= 0%", "violated"),
        ("cc_qdel", POLICER, CONVERGED, "delay <= 1 rtt", "holds"),
        ("cc_qdel", POLICER, CONVERGED, "loss <= 10%", "violated"),
        ("aimd", POLICER, CONVERGED, "delay <= 1 rtt", "holds"),
        ("aimd", POLICER, CONVERGED, "utilisation >= 50%", "violated"),
        ("aimd", "policed, buffer 1 bdp, jitter 1 rtt", {}, "delay <= 2 rtt", "holds"),
        ("aimd", "policed, buffer 1 bdp, jitter 1 rtt", {}, "queue <= 2 bdp", "holds"),
        ("aimd", "policed, buffer 1 bdp, jitter 1 rtt", {}, "loss <= 1%", "violated"),
    ],
)
def test_questions(controller, on, options, expect, verdict):
    question = cm.ask(controller, on, expect, **options)
    answered = cm.answer(question)
    assert answered.verdict == verdict
    assert {LOSSY: "loss_rate=1/100", POLICER: "bucket 1 bdp"}.get(on, "") in question.where
    if verdict == "violated":
        assert cm.replay(answered.trace).outcome.value == "breaks"


@pytest.mark.parametrize("name, kept", [("marking", "threshold"), ("policer", "store"), ("lossy", "loses_by_chance")])
def test_a_network_has_a_counterpart_for_windows(name, kept):
    counterpart = load_definition("models", "MODEL", definitions.chosen("models", "BY_WINDOW")[name])
    assert getattr(counterpart, kept) == getattr(load_definition("models", "MODEL", name), kept)
