"""Logs of mm-link and of QUIC as logs of packets."""

import json

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.deployment.emulation import link, pipeline, run
from ccmatic.fitting.log import NEVER
from ccmatic.fitting.readers import read_log
from support import ROOT
from support.emulations import emulation

MS = 10**6


def in_ms(log):
    return [
        (sent / MS, None if delivered == NEVER else delivered / MS, size)
        for sent, delivered, size in zip(log.sent.tolist(), log.delivered.tolist(), log.size.tolist(), strict=True)
    ]


HEAD = """\
# mahimahi mm-link (Uplink) [cell.up] > up.log
# command line: 'mm-link' 'cell.up' 'cell.down' '--uplink-log=up.log'
# queue: {queue}
# init timestamp: 1795315413445
# base timestamp: 61
"""


def mm_link_log(tmp_path, body, queue="droptail [bytes=3008]"):
    file = tmp_path / "up.log"
    file.write_text(HEAD.format(queue=queue) + body)
    return file


def test_mm_links_log(tmp_path):
    """The last packet still waits."""
    body = "70 + 1504\n70 + 1504\n70 + 52\n70 d 1 52\n75 # 1504\n75 - 1504 5\n80 + 52\n91 # 1504\n91 - 1504 21\n"
    log = read_log(mm_link_log(tmp_path, body))
    assert in_ms(log) == [(70, 75, 1504), (70, 91, 1504), (70, None, 52)] and log.line.tolist() == [6, 7, 8]
    assert "D is off by as much" in log.notes[0]


def test_what_mm_link_itself_wrote():
    file = ROOT / "tests" / "saved" / "mm_link_uplink.log"
    log, lines = read_log(file), [line.split() for line in file.read_text().splitlines()]
    delays = [int(line[3]) for line in lines if line[1] == "-"]
    assert (len(log.sent), log.lost.sum()) == (40, 13)
    assert ((log.delivered - log.sent)[~log.lost] // MS).tolist() == delays
    assert log.size.tolist() == [int(line[2]) for line in lines if line[1] == "+"]


@pytest.mark.parametrize(
    ("queue", "first", "second"), [("drophead [packets=2]", None, 20), ("droptail [packets=2]", 20, None)]
)
def test_a_queue_drops_at_its_head_or_tail(tmp_path, queue, first, second):
    body = f"0 + 100\n5 + 100\n5 d 1 100\n20 - 100 {15 if second else 20}\n"
    assert in_ms(read_log(mm_link_log(tmp_path, body, queue))) == [(0, first, 100), (5, second, 100)]


def test_what_codel_drops_is_not_in_its_log(tmp_path):
    body = "0 + 100\n5 + 100\n5 + 60\n20 - 60 15\n"
    found = in_ms(read_log(mm_link_log(tmp_path, body, "codel [packets=9]")))
    assert found == [(0, None, 100), (5, None, 100), (5, 20, 60)]


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("0 + 100\nfive - 100 5\n", 7, "'five - 100 5'; expected MS + BYTES, MS - BYTES DELAY"),
        ("0 + 100\n5 - 100\n", 7, "expected MS + BYTES"),
        ("0 + 100\n5 ? 100\n", 7, "expected MS + BYTES"),
        ("0 + 100\n5 - 100 -5\n", 7, "expected MS + BYTES"),
        ("0 + 99999999\n", 6, "packets below 16777216 bytes"),
        (f"{10**30} + 100\n", 6, "expected MS + BYTES"),
        ("0 + 100\n\n", 7, "''; expected MS + BYTES"),
        ("0 + 100\n5 - 100 4\n", 7, "a packet of 100 bytes leaves that arrived at 1 ms; no such arrival"),
        ("0 + 100\n0 d 2 200\n", 7, "2 packets are dropped where 1 wait"),
        ("0 + 0\n5 - 0 5\n", 6, "a packet of 0 bytes"),
        ("0 + 100\n", None, "no packet is delivered"),
        ("", None, "no packet is delivered"),
    ],
)
def test_a_log_of_mm_link_that_is_none_is_told_with_its_line(tmp_path, body, line, says):
    with pytest.raises(InputError) as told:
        read_log(mm_link_log(tmp_path, body))
    assert told.value.line == line and says in told.value.message and told.value.file == str(tmp_path / "up.log")


def test_the_emulators_log_is_the_same_as_mm_links(tmp_path):
    """link.log says of a run what packets.npy says, but for what is behind the ms and for propagation."""
    rng = np.random.default_rng(1)
    arrivals = np.sort(rng.integers(0, 90 * MS, 60))
    log = np.zeros(60, run.RECORD)
    log["arrival"], log["size"], log["released"] = arrivals, 1500, -1
    log["lost"] = rng.random(60) < 0.3
    kept = log["lost"] == 0
    log["released"][kept] = np.maximum.accumulate(arrivals[kept] + rng.integers(0, 9 * MS, kept.sum())) + 40 * MS
    made = emulation(link.of_texts("12mbit", "40ms", "9kb"), ("cubic",), log, 100 * MS)
    (tmp_path / "link.log").write_text(pipeline.link_log(made))
    np.save(tmp_path / "packets.npy", log)
    theirs, ours = read_log(tmp_path / "link.log"), read_log(tmp_path / "packets.npy")
    assert (theirs.sent // MS == ours.sent // MS).all() and (theirs.lost == ours.lost).all() and theirs.lost.any()
    left = ours.delivered[~ours.lost] - 40 * MS
    assert (theirs.delivered[~ours.lost] // MS == left // MS).all()


def test_a_link_trace_is_a_link_on_which_something_always_waits(tmp_path):
    (tmp_path / "cell.up").write_text("3\n3\n9\n")
    log = read_log(tmp_path / "cell.up")
    assert log.sent.tolist() == [NEVER] * 3 and log.size.tolist() == [1500] * 3
    assert log.delivered.tolist() == [3 * MS, 3 * MS, 9 * MS]
    (tmp_path / "cell.up").write_text("3\n2\n")
    with pytest.raises(InputError, match="2 ms comes after 3 ms") as told:
        read_log(tmp_path / "cell.up")
    assert told.value.line == 2


def sent(time, number, size=1200, kind="1RTT"):
    data = {"header": {"packet_type": kind, "packet_number": number}, "raw": {"length": size}}
    return {"time": time, "name": "transport:packet_sent", "data": data}


def acknowledged(time, *ranges, kind="1RTT"):
    frames = [{"frame_type": "padding"}, {"frame_type": "ack", "ack_delay": 1.5, "acked_ranges": ranges}]
    return {"time": time, "name": "quic:packet_received", "data": {"header": {"packet_type": kind}, "frames": frames}}


def lost(time, number):
    data = {"header": {"packet_type": "1RTT", "packet_number": number}}
    return {"time": time, "name": "recovery:packet_lost", "data": data}


#: 2 is lost; 3 was told to be, and was not; 6 is on its way. The handshake has numbers of its own.
EVENTS = [
    sent(0, 0, kind="initial"),
    *(sent(number, number) for number in range(1, 5)),
    acknowledged(40, [0, 0], kind="initial"),
    {"time": 40.5, "name": "recovery:metrics_updated", "data": {}},
    acknowledged(41, [1]),
    lost(44, 2),
    lost(44, 3),
    sent(45, 5, size=600),
    acknowledged(46, [3, 4], [1]),
    sent(46, 6),
    acknowledged(85.25, [3, 5], [1]),
]
SEEN = [(0, 40, 1228), (1, 41, 1228), (2, None, 1228), (3, 46, 1228), (4, 46, 1228), (45, 85.25, 628)]


def document(events, **common):
    return json.dumps({"qlog_version": "0.4", "traces": [{"common_fields": common, "events": events}]})


def sequence(events, **common):
    head = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {"common_fields": common}}
    return "".join(f"\x1e{json.dumps(record)}\n" for record in [head, *events])


def differences(events):
    times = [0, *(event["time"] for event in events)]
    return [{**event, "time": event["time"] - before} for event, before in zip(events, times, strict=False)]


def first_draft(events):
    fields = ["relative_time", "category", "event", "data"]
    rows = [[event["time"], *event["name"].split(":"), event["data"]] for event in events]
    return json.dumps({"qlog_version": "draft-01", "traces": [{"event_fields": fields, "events": rows}]})


@pytest.mark.parametrize(
    "text",
    [
        document(EVENTS),
        sequence(EVENTS),
        document(differences(EVENTS), time_format="delta"),
        sequence(differences(EVENTS), time_format="relative_to_previous_event"),
        first_draft(EVENTS),
    ],
)
def test_a_qlog_of_the_sender(tmp_path, text):
    (tmp_path / "a.qlog").write_text(text)
    log = read_log(tmp_path / "a.qlog")
    assert in_ms(log) == SEEN and "acknowledgement" in log.notes[0]


def test_a_qlogs_times_since_1970_are_exact(tmp_path):
    (tmp_path / "a.qlog").write_text(document([sent(1764000000000.123, 0), acknowledged(1764000000040.457, [0])]))
    log = read_log(tmp_path / "a.qlog")
    assert (log.sent.tolist(), log.delivered.tolist()) == ([1764000000000123000], [1764000000040457000])


def test_packets_are_named_beside_the_header_or_in_it(tmp_path):
    """As in picoquic, and in aioquic for lost packets. A packet for a new version of QUIC has no number."""
    old = {"packet_type": "1RTT", "header": {"packet_number": "7", "packet_size": 90}}
    received = {"packet_type": "1RTT", "frames": acknowledged(40, [8])["data"]["frames"]}
    events = [
        {"time": 0, "name": "transport:packet_sent", "data": {"header": {"packet_type": "retry"}}},
        {"time": 1, "name": "transport:packet_sent", "data": old},
        sent(2, 8),
        {"time": 30, "name": "recovery:packet_lost", "data": {"type": "1RTT", "packet_number": 7}},
        {"time": 40, "name": "transport:packet_received", "data": received},
    ]
    (tmp_path / "a.qlog").write_text(document(events))
    assert in_ms(read_log(tmp_path / "a.qlog")) == [(1, None, 118), (2, 40, 1228)]


def test_connections_are_told_apart_by_whatever_names_them(tmp_path):
    """group_id is any value of JSON."""
    events = [{**event, "group_id": [1, {}]} for event in EVENTS]
    (tmp_path / "a.qlog").write_text(document(events))
    assert in_ms(read_log(tmp_path / "a.qlog")) == SEEN


def test_of_several_traces_the_one_that_sends_most(tmp_path):
    traces = [{"events": [sent(0, 0, 99), acknowledged(9, [0])]}, {"events": EVENTS}]
    (tmp_path / "a.qlog").write_text(json.dumps({"traces": traces}))
    assert in_ms(read_log(tmp_path / "a.qlog")) == SEEN


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (document([sent(0, 0), sent(1, 1, None)]), 2, "a packet_sent without its size; expected `raw` with `length`"),
        (document([sent(0, 0), sent(1, None)]), 2, "a packet without a number"),
        (document([sent(0, 3), sent(1, 3)]), 2, "packet 3 is sent after packet 3; expected numbers that grow"),
        (document([sent(0, 0), acknowledged(9, ["a"])]), 2, "an ACK frame without ranges"),
        (document([sent(0, 0), acknowledged(9, [])]), 2, "an ACK frame without ranges"),
        (document([sent(0, 0), sent(float("nan"), 1)]), 2, "an event at nan ms"),
        (document([sent(0, 0), sent(1e300, 1)]), 2, "an event at 1E+300 ms"),
        (document([sent(0, 0), sent(10**400, 1)]), 2, "an event at 1000000000"),
        (document([sent(0, 0), sent(10**400, 1)], time_format="delta"), 2, "an event at 1000000000"),
        (document([sent(0, 0), acknowledged(9, [float("inf")])]), 2, "an ACK frame without ranges"),
        (document([sent(0, 0), sent(1, 1, 10**30)]), 2, "in bytes, below 16777216"),
        (document([sent(0, 0), sent("1", 1)]), 2, "an event without a time"),
        (document([sent(5, 0), acknowledged(4, [0])]), 1, "delivered 1 ms before it was sent"),
        (sequence([sent(0, 0), sent(1, 1, None)]), 3, "a packet_sent without its size"),
        (sequence([sent(0, 0)]) + "\x1e{", 3, "not JSON"),
        (sequence([]), None, "no packet_sent"),
        (document([acknowledged(9, [0])]), None, "no packet_sent in the qlog"),
        (document([sent(0, 0)]), None, "no packet is delivered"),
        ("{}", None, "a qlog without a list of traces"),
        ('{"traces": [{}]}', None, "a trace of the qlog without events"),
        (f'{{"traces": 1e{10**18}}}', None, "an exponent of more than 18 digits"),
        ("{", 1, "not JSON"),
        ("\x1e[]", 1, "a qlog record that is no object"),
    ],
)
def test_a_qlog_that_is_no_log_is_told(tmp_path, text, line, says):
    (tmp_path / "a.qlog").write_text(text)
    with pytest.raises(InputError) as told:
        read_log(tmp_path / "a.qlog")
    assert (told.value.line, told.value.file) == (line, str(tmp_path / "a.qlog")) and says in told.value.message
