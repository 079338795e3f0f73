"""Read the qlog of a QUIC sender (draft-ietf-quic-qlog-main-schema, -quic-events), in JSON or JSON-SEQ.

- `packet_sent` gives a packet's time and size.
- The first `packet_received` event with an ACK frame for the packet gives the time of its acknowledgement. This time
  counts as its delivery.
- `packet_lost` reports a packet as lost.

The PacketLog leaves out packets without any such report.
"""

from bisect import bisect_left, bisect_right
from decimal import Decimal

from ccmatic.base import InputError, parse_json, read_text, shown
from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.fitting.readers.tables import BIGGEST, LARGEST, LATEST

#: The character before each record of JSON-SEQ (RFC 7464).
SEPARATOR = "\x1e"

#: The bytes of the IPv4 and UDP headers, which qlog does not include in a packet's size.
HEADERS = 28

NOTES = (
    "a packet counts as delivered when its acknowledgement is received: the delay of acknowledgements, and that of the "
    "receiver until it sends them, is part of D",
    f"a packet loads the link with its bytes in the qlog and {HEADERS} of IPv4 and UDP",
)

#: The packet number space of each packet type that has one.
_SPACES = {"initial": "initial", "handshake": "handshake", "0rtt": "application", "1rtt": "application"}


def read_log(path, two_clocks=False):
    """Return the PacketLog of a qlog. If the qlog has several traces, use the trace that sends the most bytes."""
    text = read_text(path, LARGEST)
    traces = _sequence(text, path) if text.startswith(SEPARATOR) else _document(text, path)
    logs = [_Trace(path, fields) for fields, _ in traces]
    for log, (_, events) in zip(logs, traces, strict=True):
        for number, event in events:
            log.event(number, event)
    log = max(logs, key=lambda log: sum(row[2] for row in log.rows), default=None)
    if log is None or not log.rows:
        raise InputError("no packet_sent in the qlog; expected the sender's", path)
    rows = [row for row in log.rows if row[1] is not None]
    sent, delivered, size, numbers = zip(*rows, strict=True) if rows else ((), (), (), ())
    return packet_log(path, sent, delivered, size, numbers, two_clocks, NOTES)


def _sequence(text, path):
    """Return [(common fields of the trace, events with the numbers of their records)] of a JSON-SEQ text."""
    head, *records = (_object(part, path, number) for number, part in enumerate(text.split(SEPARATOR)[1:], 1))
    return [(_within(_within(head, "trace"), "common_fields"), list(enumerate(records, 2)))]


def _document(text, path):
    """Return the result of `_sequence` for a JSON document. The events of each trace are numbered from 1."""
    traces = _object(text, path, None).get("traces")
    if not isinstance(traces, list) or not all(isinstance(trace, dict) for trace in traces):
        raise InputError("a qlog without a list of traces; expected `traces`", path)
    return [(_within(trace, "common_fields"), list(enumerate(_events(trace, path), 1))) for trace in traces]


def _events(trace, path):
    """Yield the events of a trace as objects. The first drafts store events as lists, in the order of event_fields."""
    events, names = trace.get("events"), trace.get("event_fields")
    if not isinstance(events, list):
        raise InputError("a trace of the qlog without events; expected a list of them", path)
    for event in events:
        if isinstance(event, list) and isinstance(names, list):
            event = dict(zip(map(str, names), event, strict=False))
            event = {**event, "name": event.get("event"), "time": event.get("relative_time", event.get("time"))}
        yield event


def _object(text, path, number):
    try:
        record = parse_json(text, number=Decimal)  # a float of ms since 1970 would lose hundreds of ns
    except InputError as error:
        raise InputError(error.message, path, number or error.line) from None
    if not isinstance(record, dict):
        raise InputError("a qlog record that is no object; expected { … }", path, number)
    return record


def _within(fields, name):
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


class _Trace:
    """The state of a reader of one qlog trace.

    Attributes:
        rows: A list [sent, delivered, size, number of the event] for each packet. `delivered` is NEVER for a lost
            packet, and None for a packet whose fate is not yet known.
        out: The unacknowledged packets of each pair (connection, number space): their numbers, in order, and their
            rows.
    """

    def __init__(self, path, fields):
        self.path, self.rows, self.out, self.now = path, [], {}, 0
        self.adds = fields.get("time_format") in ("delta", "relative_to_previous_event")

    def event(self, number, event):
        """Read an event. Only three event types matter. Raise InputError if the event cannot be read."""
        if not isinstance(event, dict) or not isinstance(event.get("time"), int | float | Decimal):
            raise InputError("an event without a time; expected `time`, in ms", self.path, number)
        time = event["time"]
        self.now = time + self.now if self.adds and abs(time) < 1000 * LATEST else time
        if not abs(self.now) < 1000 * LATEST:
            shown_time = shown(str(self.now))
            raise InputError(f"an event at {shown_time} ms; expected below {1000 * LATEST}", self.path, number)
        name = str(event.get("name")).rpartition(":")[2]
        if name in ("packet_sent", "packet_received", "packet_lost"):
            # Some logs store fields beside the header although the drafts store these fields inside the header.
            data = _within(event, "data")
            packet = {**data, **_within(data, "header")}
            space = _SPACES.get(str(packet.get("packet_type", packet.get("type"))).lower())
            if space:
                getattr(self, f"_{name}")(number, packet, (repr(event.get("group_id")), space))

    def _packet_sent(self, number, data, space):
        size = _within(data, "raw").get("length", data.get("packet_size"))
        if not isinstance(size, int) or abs(size) >= BIGGEST:
            problem = f"a packet_sent without its size; expected `raw` with `length`, in bytes, below {BIGGEST}"
            raise InputError(problem, self.path, number)
        row = [round(self.now * 10**6), None, size + HEADERS, number]
        packet = self._number(number, data)
        numbers, rows = self.out.setdefault(space, ([], {}))
        if numbers and packet <= numbers[-1]:
            problem = f"packet {packet} is sent after packet {numbers[-1]}; expected numbers that grow"
            raise InputError(problem, self.path, number)
        self.rows.append(row)
        numbers.append(packet)
        rows[packet] = row

    def _packet_lost(self, number, data, space):
        row = self.out.get(space, ([], {}))[1].get(self._number(number, data))
        if row:
            row[1] = NEVER

    def _packet_received(self, number, data, space):
        frames = data.get("frames")
        for frame in frames if isinstance(frames, list) else ():
            if isinstance(frame, dict) and frame.get("frame_type") == "ack":
                self._acknowledge(number, frame, space)

    def _acknowledge(self, number, frame, space):
        try:
            ranges = [(int(first), int(last)) for first, *_, last in ([*r, r[-1]] for r in frame["acked_ranges"])]
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            problem = "an ACK frame without ranges; expected `acked_ranges`, such as [[0, 7], [9]]"
            raise InputError(problem, self.path, number) from None
        numbers, rows = self.out.get(space, ([], {}))
        for first, last in ranges:
            begin, end = bisect_left(numbers, first), bisect_right(numbers, last)
            for packet in numbers[begin:end]:
                rows.pop(packet)[1] = round(self.now * 10**6)
            del numbers[begin:end]

    def _number(self, number, data):
        packet_number = data.get("packet_number")
        if (
            not isinstance(packet_number, int | str)
            or not str(packet_number).isdecimal()
            or len(str(packet_number)) > 20
        ):
            raise InputError("a packet without a number; expected `packet_number` in its header", self.path, number)
        return int(packet_number)
