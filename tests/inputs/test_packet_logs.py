"""Logs of packets: the accepted formats, and errors with the line of an invalid log."""

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.fitting import packet_log
from ccmatic.fitting.log import NEVER, UNKNOWN
from ccmatic.fitting.readers import read_log

HEAD = "sent,delivered,size\n"


def written(tmp_path, text):
    file = tmp_path / "log.csv"
    file.write_text(text)
    return file


def test_csv_is_seconds_and_bytes(tmp_path):
    log = read_log(written(tmp_path, HEAD + ",0.041,1500\n0.001,0.042000001,40\n0.002,,1500\n"))
    assert log.sent.tolist() == [NEVER, 1_000_000, 2_000_000]
    assert log.delivered.tolist() == [41_000_000, 42_000_001, NEVER]
    assert log.size.tolist() == [1500, 40, 1500] and log.lost.tolist() == [False, False, True]
    assert log.least_delay() == 41_000_001


def test_times_since_1970_are_exact(tmp_path):
    log = read_log(written(tmp_path, HEAD + "1764000000.000123457,1764000000.020123458,1500\n"))
    assert (log.sent.tolist(), log.delivered.tolist()) == ([1764000000000123457], [1764000000020123458])


def test_a_csv_may_begin_with_a_byte_order_mark(tmp_path):
    assert read_log(written(tmp_path, "\ufeff" + HEAD + "0,1,1500\n")).delivered.tolist() == [10**9]


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("", 2, "no packets"),
        ("0,1,1500\n1,nan,1500\n", 3, "delivered is 'nan'"),
        ("0,1,1500\n1,2,-1500\n", 3, "a packet of -1500 bytes"),
        ("0,1,1500\n1,2,0\n", 3, "a packet of 0 bytes"),
        ("0,1,1500\n1,2,1.5\n", 3, "size is '1.5'"),
        ("0,1,1500\n1,2\n", 3, "'1,2'; expected sent,delivered,size"),
        ("0,1,1500\n\n1,2,1500\n", 3, "''; expected sent,delivered,size"),
        ("0,1,1500\n1,2,1e9\n", 3, "size is '1e9'"),
        ("0,1,1500\n1e99,2,1500\n", 3, "sent is '1e99'"),
        ("0,1,1500\n-1e15,2,1500\n", 3, "sent is '-1e15'"),
        (f"0,1,1500\n1e-{10**19},2,1500\n", 3, "sent is '1e-10000"),
        ("0,1,1500\n0x1,2,1500\n", 3, "sent is '0x1'"),
        ("0,1,1500\n1_0,20,1500\n", 3, "sent is '1_0'"),
        ("0,1,1500\n3,2,1500\n", 3, "delivered 1000 ms before it was sent"),
        ("0,,1500\n", None, "no packet is delivered"),
        ("0,5,1500\n1,6,1500\n2,5.5,1500\n", 4, "delivered 500 ms before the packet of line 3"),
    ],
)
def test_a_csv_that_is_no_log_is_told_with_its_line(tmp_path, body, line, says):
    with pytest.raises(InputError) as told:
        read_log(written(tmp_path, HEAD + body))
    assert told.value.line == line and says in told.value.message and str(tmp_path) in told.value.file


MARKS = "sent,delivered,size,marked\n"


def test_a_csv_may_state_marks(tmp_path):
    log = read_log(written(tmp_path, MARKS + ",1,1500,1\n0.5,1.5,1500,0\n1,,1500,\n2,3,1500,\n"))
    assert log.marked.tolist() == [1, 0, UNKNOWN, UNKNOWN] and log.lost.tolist() == [False, False, True, False]
    assert read_log(written(tmp_path, HEAD + "0,1,1500\n")).marked.tolist() == [UNKNOWN]


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("0,1,1500,2\n", 2, "marked is '2'; expected 0, 1, or nothing"),
        ("0,1,1500,0\n1,2,1500\n", 3, "expected sent,delivered,size,marked"),
        ("0,1,,0\n", 2, "size is ''"),
        ("", 2, "no packets"),
    ],
)
def test_a_wrong_mark_is_told_with_its_line(tmp_path, body, line, says):
    with pytest.raises(InputError) as told:
        read_log(written(tmp_path, MARKS + body))
    assert told.value.line == line and says in told.value.message


def test_a_file_of_another_kind_is_none(tmp_path):
    with pytest.raises(InputError, match="begins 'time,size ', which is no known kind of log"):
        read_log(written(tmp_path, "time,size\n"))
    with pytest.raises(InputError, match="is empty; expected CSV with the header"):
        read_log(written(tmp_path, ""))
    with pytest.raises(InputError, match="cannot read"):
        read_log(tmp_path / "none.csv")


def test_the_emulators_log(tmp_path):
    record = [("arrival", "<i8"), ("admitted", "<i8"), ("planned", "<i8"), ("released", "<i8"), ("size", "<i4"),
              ("flow", "<i2"), ("lost", "<i2")]  # fmt: skip
    rows = [(0, 5, 9, 9, 1500, 0, 0), (1, -1, -1, -1, 1500, 0, 1), (2, 8, 12, -1, 1500, 0, 0)]
    file = tmp_path / "packets.npy"
    np.save(file, np.array(rows, record))
    log = read_log(file)
    assert (log.sent.tolist(), log.delivered.tolist()) == ([0, 1], [9, NEVER])
    assert log.marked.tolist() == [UNKNOWN, UNKNOWN]
    marked = [(*row[:3], 9 + number, 1500, 0, 0, number) for number, row in enumerate(rows)]
    np.save(file, np.array(marked, [*record, ("marked", "i1")]))
    assert read_log(file).marked.tolist() == [0, 1, UNKNOWN]
    np.save(file, np.zeros(3))
    with pytest.raises(InputError, match="expected its packets.npy"):
        read_log(file)
    whole = file.read_bytes()
    for damaged in (whole[:-5], whole.replace(b"{", b"(", 1), whole.replace(b"(", b" ", 1)):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="not a log"):
            read_log(file)


@pytest.mark.parametrize(
    ("name", "kind", "value", "says"),
    [
        ("arrival", "<i8", NEVER, f"arrival is {NEVER}; expected -1, or a whole number"),
        ("released", "<i8", 2**63 - 1, "released is 9223372036854775807"),
        ("size", "<i8", 2**62, "size is 4611686018427387904"),
        ("arrival", "<u8", 2**64 - 5, "arrival is 18446744073709551611"),
        ("arrival", "<f8", float("nan"), "arrival of type float64; expected whole numbers"),
        ("size", "S8", b"1500", "size of type |S8"),
        ("lost", "(2,)<i2", 0, "lost of type ('<i2', (2,))"),
    ],
)
def test_an_array_of_other_numbers_is_no_log_of_the_emulators(tmp_path, name, kind, value, says):
    record = {"arrival": "<i8", "released": "<i8", "size": "<i8", "lost": "<i2"} | {name: kind}
    log = np.zeros(3, list(record.items()))
    log["released"], log["size"] = 9, 1500
    log[name][1] = value
    np.save(tmp_path / "packets.npy", log)
    with pytest.raises(InputError) as told:
        read_log(tmp_path / "packets.npy")
    assert says in told.value.message


def test_packets_are_put_in_the_order_sent():
    log = packet_log("x", [5, 1], [9, 8], [1, 2])
    assert (log.sent.tolist(), log.size.tolist(), log.line.tolist()) == ([1, 5], [2, 1], [2, 1])
    log = packet_log("x", [5, NEVER], [9, 8], [1, 2])
    assert (log.sent.tolist(), log.delivered.tolist()) == ([NEVER, 5], [8, 9])
    with pytest.raises(InputError, match="delivered 1e-06 ms before the packet of line 2"):
        packet_log("x", [5, NEVER], [8, 9], [1, 2])


def test_clocks_of_two_machines_may_have_any_offset():
    assert packet_log("x", [100, 200], [50, 160], [1, 1], two_clocks=True).least_delay() == -50
