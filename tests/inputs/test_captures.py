"""Captures as logs of packets: one end's view of its own packets, and the view of both ends."""

import struct

import dpkt
import pytest

from ccmatic.base import InputError
from ccmatic.fitting.log import NEVER, UNKNOWN
from ccmatic.fitting.readers import read_log
from support.cli import run

A, B = b"\x0a\0\0\1", b"\x0a\0\0\2"
ETHERNET, RAW, SLL = 1, 101, 113
#: Bytes of the headers before data, with no options.
AROUND = 40
SACK = 5


def tcp(source, target, seq=0, ack=0, length=0, flags=dpkt.tcp.TH_ACK, options=b"", identity=0, ports=(5, 80)):
    options += b"\0" * (-len(options) % 4)
    if source == B:
        ports = ports[::-1]
    segment = dpkt.tcp.TCP(
        sport=ports[0], dport=ports[1], seq=seq % 2**32, ack=ack % 2**32, flags=flags, opts=options, data=b"x" * length,
        off=5 + len(options) // 4,
    )  # fmt: skip
    return ip(source, target, segment, 6, identity)


def ip(source, target, data, protocol, identity=0):
    packet = dpkt.ip.IP(src=source, dst=target, p=protocol, id=identity, data=data)
    packet.len = len(packet)
    return bytes(packet)


def sack(*ranges):
    return bytes([1, 1, SACK, 2 + 8 * len(ranges)]) + b"".join(
        struct.pack(">II", first % 2**32, end % 2**32) for first, end in ranges
    )


def framed(packet, link):
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\0"
    return {ETHERNET: b"\0" * 12 + kind, RAW: b"", SLL: b"\0" * 14 + kind}[link] + packet


def capture(file, rows, link=ETHERNET, ng=False, snap=65535):
    """A file of (ms, packet) rows."""
    with open(file, "wb") as out:
        if ng:
            block = dpkt.pcapng.InterfaceDescriptionBlockLE(linktype=link)
            writer = dpkt.pcapng.Writer(out, idb=block)
        else:
            writer = dpkt.pcap.Writer(out, linktype=link, nano=True)
        for ms, packet in rows:
            writer.writepkt(framed(packet, link)[:snap], ts=ms / 1000)
    return file


def ms(rows):
    """(sent, delivered, size) of a log, instants in ms, None if lost."""
    return [
        (round(sent / 1e6, 3), None if delivered == NEVER else round(delivered / 1e6, 3), size)
        for sent, delivered, size in zip(rows.sent.tolist(), rows.delivered.tolist(), rows.size.tolist(), strict=True)
    ]


#: Four segments; the second is lost, sent again and acknowledged; a fifth is on its way. The numbers pass 2^32.
ORIGIN = 2**32 - 150
TRANSFER = [
    *((now, tcp(A, B, ORIGIN + 100 * now, length=100)) for now in range(4)),
    (40, tcp(B, A, ack=ORIGIN + 100)),
    (42, tcp(B, A, ack=ORIGIN + 100, options=sack((ORIGIN + 200, ORIGIN + 300)))),
    (43, tcp(B, A, ack=ORIGIN + 100, options=sack((ORIGIN + 200, ORIGIN + 400)))),
    (44, tcp(A, B, ORIGIN + 100, length=100)),
    (45, tcp(A, B, ORIGIN + 400, length=100)),
    (84, tcp(B, A, ack=ORIGIN + 400)),
]
SEEN = [(0, 40, 140), (1, None, 140), (2, 42, 140), (3, 43, 140), (44, 84, 140)]


@pytest.mark.parametrize(("link", "ng", "snap"), [(ETHERNET, False, 65535), (RAW, True, 65535), (SLL, False, 96)])
def test_a_sender_hears_what_arrived(tmp_path, link, ng, snap):
    log = read_log(capture(tmp_path / "a.pcap", TRANSFER, link, ng, snap))
    assert ms(log) == SEEN
    assert log.line.tolist() == [1, 2, 3, 4, 8] and not log.two_clocks
    assert "captured at the sender" in log.notes[0] and "acknowledgements" in log.notes[0]


@pytest.mark.parametrize("ng", [False, True])
def test_times_since_1970_are_exact(tmp_path, ng):
    """The writers of dpkt take floats, so the test writes the records."""
    rows = [(123457, tcp(A, B, 100, length=100)), (163458, tcp(B, A, ack=200))]
    capture(tmp_path / "a.pcap", [], RAW, ng)
    with open(tmp_path / "a.pcap", "r+b" if ng else "wb") as file:
        if ng:
            file.seek(0, 2)
        else:
            dpkt.pcap.Writer(file, linktype=RAW)
        for micros, packet in rows:
            ticks = 1764000000 * 10**6 + micros
            if ng:
                high, low, size = ticks >> 32, ticks % 2**32, len(packet)
                block = dpkt.pcapng.EnhancedPacketBlockLE(
                    ts_high=high, ts_low=low, caplen=size, pkt_len=size, pkt_data=packet
                )
                file.write(bytes(block))
            else:
                file.write(struct.pack("<IIII", *divmod(ticks, 10**6), len(packet), len(packet)) + packet)
    log = read_log(tmp_path / "a.pcap")
    assert (log.sent.tolist(), log.delivered.tolist()) == ([1764000000123457000], [1764000000163458000])


def test_what_was_sent_again_in_vain_is_left_out(tmp_path):
    """The second acknowledgement comes sooner after the segment was sent again than any could."""
    rows = [
        (0, tcp(A, B, 1000, length=100)),
        (40, tcp(B, A, ack=1100)),
        (50, tcp(A, B, 1100, length=100)),
        (85, tcp(A, B, 1100, length=100)),
        (95, tcp(B, A, ack=1200)),
        (96, tcp(A, B, 1100, length=100)),
        (97, tcp(A, B, 1200, length=100)),
        (140, tcp(B, A, ack=1300)),
    ]
    assert ms(read_log(capture(tmp_path / "a.pcap", rows))) == [(0, 40, 140), (50, 95, 140), (97, 140, 140)]


def test_the_direction_with_most_data_counts_and_all_its_connections(tmp_path):
    rows = [
        (0, tcp(B, A, 9000, length=50)),
        (1, tcp(A, B, 500, length=700)),
        (2, tcp(A, B, 800, length=600, ports=(6, 80))),
        (30, tcp(A, B, 1200, ack=9050)),
        (41, tcp(B, A, 9050, ack=1200)),
        (42, tcp(B, A, 77, ack=1400, ports=(6, 80))),
    ]
    assert ms(read_log(capture(tmp_path / "a.pcap", rows))) == [(1, 41, 740), (2, 42, 640)]


def test_what_the_network_card_cuts_is_cut(tmp_path):
    """A capture sees 2500 bytes where segments of 1000, less 12 of options, are sent; the middle one again."""
    options = b"\1\1\x08\x0a" + bytes(8)
    largest = dpkt.tcp.TH_SYN, b"\x02\x04" + struct.pack(">H", 1000)
    rows = [
        (0, tcp(A, B, 99, flags=largest[0], options=largest[1])),
        (1, tcp(B, A, 0, 100, flags=largest[0] | dpkt.tcp.TH_ACK, options=b"\x02\x04\x05\xb4")),
        (2, tcp(A, B, 100, length=2500, options=options)),
        (40, tcp(B, A, ack=1088, options=sack((2076, 2600)))),
        (41, tcp(A, B, 1088, length=988, options=options)),
        (80, tcp(B, A, ack=2600)),
    ]
    assert ms(read_log(capture(tmp_path / "a.pcap", rows))) == [
        (2, 40, 1040), (2, None, 1040), (2, 40, 576), (41, 80, 1040)
    ]  # fmt: skip


def test_two_captures_tell_what_was_lost_and_when_the_rest_arrived(tmp_path):
    """The ends have two clocks, and the receiver's is behind. Identities distinguish a segment from its retransmission.
    Packets before the first common one, or after the last, may be missing.
    """
    datagrams = [ip(A, B, dpkt.udp.UDP(sport=7, dport=8, ulen=58, data=bytes([n]) * 50), 17) for n in range(3)]
    segments = [tcp(A, B, 100 * n, length=100, identity=7 + n) for n in range(4)]
    again = tcp(A, B, 200, length=100, identity=20)
    sent = [segments[0], datagrams[0], segments[1], datagrams[1], segments[2], again, datagrams[2], segments[3]]
    arrived = [datagrams[0], segments[1], again, datagrams[2]]
    first = capture(tmp_path / "a.pcap", [(1000 + now, packet) for now, packet in enumerate(sent)])
    second = capture(tmp_path / "b.pcap", [(500 + now, packet) for now, packet in enumerate(arrived)], RAW, ng=True)
    log = read_log(first, received=second)
    assert ms(log) == [
        (1001, 500, 78), (1002, 501, 140), (1003, None, 78), (1004, None, 140), (1005, 502, 140), (1006, 503, 78)
    ]  # fmt: skip
    assert log.two_clocks and log.source == str(first)
    with pytest.raises(InputError, match="none of the packets of .*a.pcap is in it") as told:
        read_log(first, received=capture(tmp_path / "c.pcap", [(0, tcp(B, A, 1, length=9))]))
    assert told.value.file == str(tmp_path / "c.pcap")


def test_the_receivers_capture_tells_marks(tmp_path):
    def with_ecn(packet, ecn):
        return packet[:1] + bytes([packet[1] & ~3 | ecn]) + packet[2:]

    segments = [tcp(A, B, 100 * n, length=100, identity=7 + n) for n in range(5)]
    sent = [with_ecn(segment, 2) for segment in segments[:4]] + segments[4:]
    arrived = [with_ecn(segment, ecn) for segment, ecn in zip(segments, (2, 3, 1, 3, 0), strict=True)]
    first = capture(tmp_path / "a.pcap", enumerate(sent))
    second = capture(tmp_path / "b.pcap", enumerate([*arrived[:3], arrived[4]]))
    assert read_log(first, received=second).marked.tolist() == [0, 1, 0, UNKNOWN, UNKNOWN]


def test_the_clocks_of_two_captures_are_said(tmp_path):
    """What left at 500 ms by the sender's clock arrived 40 ms later, at 0 by the receiver's."""
    segments = [tcp(A, B, 100 * n, length=100, identity=7 + n) for n in range(9)]
    first = capture(tmp_path / "a.pcap", [(500 + now, packet) for now, packet in enumerate(segments)])
    second = capture(tmp_path / "b.pcap", list(enumerate(segments)))
    code, out, err = run("fit", first, "--received", second, "--rtt", "40ms")
    assert (code, err) == (0, "")
    assert "the receiver's is 540 ms behind" in out and "captured at both ends" in out
    code, out, err = run("fit", first, "--received", second)
    assert (code, out) == (2, "") and "--rtt is missing" in err


def test_two_files_are_two_captures(tmp_path):
    (tmp_path / "log.csv").write_text("sent,delivered,size\n0,1,1500\n")
    both = tmp_path / "log.csv", capture(tmp_path / "a.pcap", TRANSFER)
    for first, second in (both, both[::-1]):
        with pytest.raises(InputError, match="no capture; expected pcap") as told:
            read_log(first, received=second)
        assert told.value.file == str(both[0])


def test_ipv6_is_read_log(tmp_path):
    def over(source, target, **fields):
        segment = dpkt.tcp.TCP(sport=5 if source == A else 80, dport=80 if source == A else 5, **fields)
        return bytes(dpkt.ip6.IP6(src=source * 4, dst=target * 4, nxt=6, plen=len(segment), data=segment))

    rows = [(0, over(A, B, seq=5, data=b"x" * 100)), (40, over(B, A, ack=105))]
    assert ms(read_log(capture(tmp_path / "a.pcap", rows))) == [(0, 40, 160)]


BEGIN, RECORD = 24, 16 + 14 + 140


@pytest.mark.parametrize(
    ("size", "line"),
    [(4, 1), (BEGIN - 1, 1), (BEGIN + 7, 1), (BEGIN + 16, 1), (BEGIN + RECORD + 16, 2), (BEGIN + 2 * RECORD - 1, 2)],
)
@pytest.mark.parametrize("ng", [False, True])
def test_a_capture_that_is_cut_off_is_told_with_its_record(tmp_path, size, line, ng):
    whole = capture(tmp_path / "whole.pcap", TRANSFER, ng=ng).read_bytes()
    if ng:
        begin, record = (len(capture(tmp_path / "n", TRANSFER[:n], ng=True).read_bytes()) for n in (0, 1))
        size += (begin - BEGIN) + (line - 1) * (record - begin - RECORD) if size > BEGIN else 0
    (tmp_path / "cut.pcap").write_bytes(whole[:size])
    with pytest.raises(InputError, match=f"cut off, or damaged, in record {line}") as told:
        read_log(tmp_path / "cut.pcap")
    assert (told.value.file, told.value.line) == (str(tmp_path / "cut.pcap"), line)


@pytest.mark.parametrize(
    ("rows", "link", "line", "says"),
    [
        (
            [*TRANSFER[:3], (1.5, TRANSFER[3][1])],
            ETHERNET,
            4,
            "record 4 was captured 0.5 ms before the record before it",
        ),
        ([], ETHERNET, None, "a capture without packets"),
        (TRANSFER[:4], ETHERNET, None, "no acknowledged TCP data"),
        (TRANSFER[4:7], ETHERNET, None, "no acknowledged TCP data"),
        ([(0, b"\x45" + bytes(40))], ETHERNET, None, "no acknowledged TCP data"),
        ([(0, b"\0")], RAW, None, "no acknowledged TCP data"),
    ],
)
def test_a_capture_that_is_no_log_is_told(tmp_path, rows, link, line, says):
    file = capture(tmp_path / "a.pcap", rows, link)
    with pytest.raises(InputError, match=says) as told:
        read_log(file)
    assert (told.value.file, told.value.line) == (str(file), line)


def test_links_that_are_unknown_are_told(tmp_path):
    with open(tmp_path / "a.pcap", "wb") as file:
        dpkt.pcap.Writer(file, linktype=105).writepkt(b"\0" * 80, ts=0)
    with pytest.raises(InputError, match="links of type 105; expected one of 0, 1, 12"):
        read_log(tmp_path / "a.pcap")
