"""A run as qlog (draft-ietf-quic-qlog-main-schema), which qvis and other tools show."""

import json
from typing import Any

from ccmatic import __version__
from ccmatic.judging.rules import Run

#: The bytes of the IPv4 and UDP headers, which qlog leaves out.
HEADERS = 28


def qlog(run: Run, subject: str, title: str, flow: int = 0) -> str:
    """Return the run of a flow as one qlog document, from the side of its sender.

    Times are in ms. Each packet that reaches the receiver counts as acknowledged at that instant, since the path's
    replies need no time.
    """
    events: list[tuple[int, str, dict[str, Any]]] = []
    packets = run.packets[run.packets["flow"] == flow]
    columns = (packets[name].tolist() for name in ("arrival", "released", "size", "lost"))
    for number, (arrival, released, size, lost) in enumerate(zip(*columns, strict=True)):
        header = {"packet_type": "1RTT", "packet_number": number}
        raw = {"length": size - HEADERS}
        events.append((arrival, "transport:packet_sent", {"header": header, "raw": raw}))
        if lost:
            events.append((arrival, "recovery:packet_lost", {"header": header, "trigger": "reordering_threshold"}))
        elif released >= 0:
            frame = {"frame_type": "ack", "acked_ranges": [[number, number]]}
            answer = {"header": {"packet_type": "1RTT", "packet_number": number}, "frames": [frame]}
            events.append((released, "transport:packet_received", answer))
    for sample in run.samples[run.samples["flow"] == flow].tolist():
        time, window, in_flight, rtt, *_ = sample
        known = {"congestion_window": window, "bytes_in_flight": in_flight, "latest_rtt": rtt / 1e6}
        numbers = {name: value for name, value in known.items() if value >= 0}
        events.append((time, "recovery:metrics_updated", numbers))
    events.sort(key=lambda event: event[0])
    trace = {
        "title": title,
        "vantage_point": {"type": "client", "name": subject},
        "common_fields": {"ODCID": "00", "time_format": "absolute", "reference_time": 0},
        "events": [{"time": at / 1e6, "name": name, "data": data} for at, name, data in events],
    }
    whole = {"qlog_version": "0.3", "qlog_format": "JSON", "title": f"ccmatic {__version__}", "traces": [trace]}
    return json.dumps(whole) + "\n"
