"""The pipeline from the texts of a link and its flows to the measures of a run, and to its files."""

from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from math import inf
from pathlib import Path

import msgspec
import numpy as np

from ccmatic import questions, records
from ccmatic.base import InputError, counted, definitions, shown, writable_folder, write_bytes, write_text
from ccmatic.contracts import Model, load_definition
from ccmatic.deployment.emulation import link as links
from ccmatic.deployment.emulation import picture, replay
from ccmatic.deployment.emulation.kinds import timetable, with_competitors
from ccmatic.deployment.emulation.link import ENDLESS, MS, SECOND
from ccmatic.deployment.emulation.machine import require
from ccmatic.deployment.emulation.measures import measures, warm_up
from ccmatic.deployment.emulation.monitor import Monitor
from ccmatic.deployment.emulation.run import run_flows
from ccmatic.deployment.exporting import Export
from ccmatic.networks.trace_export import Holds, Schedule
from ccmatic.networks.traces import require as require_drawing
from ccmatic.proving import guarantees

#: The default length of a run without a schedule, in seconds.
SECONDS = 10


def emulate(
    flows: Sequence[str] = ("cubic",),
    *,
    on: str | None = None,
    expect: Sequence[str] = (),
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    jitter: str | None = None,
    pattern: str | None = None,
    changes: Sequence[str] = (),
    schedule: str | Path | None = None,
    seconds: float | None = None,
    warmup: float | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    plot: str | Path | None = None,
) -> records.MeasuresFile:
    """Run real flows over an emulated link, in network namespaces of this machine. Emulation needs root and Linux.

    `cm.emulate(["udp:cc_qdel"], on="24 mbit, rtt 40 ms, buffer 1 bdp").utilisation` is a share of the link.

    Args:
        flows: The senders, such as "cubic", "udp:cc_qdel" or "bpf:cc_qdel@10s-30s,rtt=80ms".
        on: The path, such as "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms", instead of rate, rtt, buffer and jitter.
        expect: Expectations by which the run is judged, such as "loss <= 1%" (docs/reference/expectations.md). An
            expectation with `beside` adds a flow to a single flow; of several flows, a later one has to be this flow.
        rate: C, such as "24mbit".
        rtt: R_m, such as "40ms".
        buffer: The buffer, such as "2bdp", "30000" (bytes) or "infinite"; a BDP is C·R_m.
        jitter: D, such as "40ms": the longest time for which jitter holds a packet. By default, there is no jitter.
        pattern: The pattern by which jitter holds packets: "uniform" or "aggregation".
        changes: Changes of the rate, such as "5s=48mbit".
        schedule: A file that replaces the link: a schedule or holds from `export_trace`, or a link trace of mahimahi.
        seconds: The length of the run. By default, the length of the schedule. Without a schedule, the default is 10 s,
            or the length of a longer link trace.
        warmup: The seconds at the start that are not measured. By default, until beliefs have converged, or a third of
            the run.
        seed: The seed of the random jitter.
        out: A folder for the packet log and the measurements.
        plot: A file for a drawing of the run.

    Returns:
        The measurements. `valid` states whether the emulated link behaved as requested. `guarantees` has the proved
        guarantees of a single flow. `expectations` states which expectations are met.

    Raises:
        InputError: If a text cannot be read, if no run can show an expected quantity, or if the machine cannot emulate
            a link.
    """
    if not flows:
        raise InputError("no flow is given; expected such as cubic")
    where = {"on": on, "rate": rate, "rtt": rtt, "buffer": buffer, "jitter": jitter, "pattern": pattern, "seed": seed,
             "changes": changes, "schedule": schedule}  # fmt: skip
    flows = with_competitors(flows, questions.beside(expect))
    emulated = _link(flows=len(flows), **where)
    monitor = Monitor(emulated, expect)
    seconds = seconds or _seconds(emulated)
    if (warmup or 0) >= seconds:
        raise InputError(f"a warm-up of {warmup:g} s; expected less than the run, {seconds:g} s")
    if emulated.rates[-1][0] >= seconds * SECOND:
        raise InputError(f"the link changes after the run, which lasts {seconds:g} s; expected an earlier change")
    if plot:
        require_drawing(plot)
    chosen = timetable(flows, seconds)
    if (emulated.schedule or emulated.holds) and any(request.rtt for request in chosen):
        raise InputError("a flow's rtt on a schedule, which determines all delays; expected none")
    # If the warm-up lasts until beliefs converge, the warm-up ends in the first half of the run.
    monitor.require(chosen, seconds - (seconds / 2 if warmup is None else warmup))
    require(chosen)
    folder = writable_folder(out) if out else None
    emulation = run_flows(emulated, chosen, seconds)
    if warmup is None:
        warmup = warm_up(emulation)
    result = msgspec.structs.replace(measures(emulation, warmup), guarantees=list(proved(emulated, chosen)))
    if expect:
        judged = monitor.judged(emulation, warmup)
        if not result.valid:
            judged = [each.withheld("the run is not valid") for each in judged]
        result = msgspec.structs.replace(result, expectations=judged)
    if folder:
        _keep(folder, emulation, result)
    if plot:
        picture.draw(emulation, warmup, Path(plot))
    return result


def proved(link, flows):
    """Yield a GuaranteeLine for each guarantee of a flow that is the only flow on a link of constant rate.

    For these guarantees, R_m is the value that the sender measures: the link's R_m plus the time that the link needs to
    serve a packet.
    """
    exports = [getattr(request.flow, "export", None) for request in flows]
    if len(flows) > 1 or not isinstance(exports[0], Export):
        return
    if link.schedule or link.holds or link.opportunities or link.model or len(link.rates) > 1 or link.change:
        return
    (request,), (export,) = flows, exports
    rate = Fraction(link.rates[0][1], 8)
    rtt = Fraction(link.rtt_of(0), SECOND) + link.mtu / rate
    buffer = inf if link.buffer == ENDLESS else Fraction(link.buffer) / (rate * rtt)
    path = guarantees.DeployedPath(export.jitter, rtt, rate, link.mtu, buffer)
    for where, guarantee in export.guarantees(path):
        line = guarantee.record(f"{request.name}{where}", "the link as asked for")
        if Fraction(link.jitter, SECOND) > export.jitter * rtt:
            most = float(1000 * export.jitter * rtt)
            line.missing.append(f"a jitter of {most:.4g} ms at most; it is of {link.jitter * 1000 / SECOND:g} ms")
        yield msgspec.structs.replace(line, covered=not line.missing)


def _seconds(link):
    if link.schedule:
        return link.schedule.duration / SECOND
    return max(SECONDS, link.opportunities.period / 1000) if link.opportunities else SECONDS


def _link(schedule=None, changes=(), on=None, flows=1, **options):
    given = {name: value for name, value in {**options, "change": changes or None}.items() if value is not None}
    if on:
        both = [name for name in ("schedule", *_OF_PATHS) if name in {**given, **({"schedule": 1} if schedule else {})}]
        if both:
            raise InputError(f"--on says what {_flags(both)} would; expected one or the other")
        given |= _path(questions.describe(on), flows)
    if schedule:
        return _of_file(schedule, given)
    missing = [f"--{name}" for name in ("rate", "rtt", "buffer") if name not in given]
    if missing:
        raise InputError(
            f"{', '.join(missing)} missing; expected --on '24 mbit, rtt 40 ms, buffer 1 bdp', "
            "or --rate, --rtt and --buffer, or --schedule"
        )
    given.pop("change", None)
    link = links.of_texts(**given, changes=changes)
    if link.model:
        replay.decisions(link, [], [])  # raises InputError for a link that no emulator runs
    return link


#: The options that a path replaces.
_OF_PATHS = ("rate", "rtt", "buffer", "jitter")


def _flags(names):
    return ", ".join(f"--{name}" for name in names)


def _path(description, flows):
    """Return the link options for the path that a NetworkDescription describes, with this number of flows."""
    size = description.buffer.removeprefix(">=").strip()
    size = "1 bdp" if size == "any" else size
    path = f"24 mbit, rtt 40 ms, {description.store} {size}"
    if description.rate is None:
        raise InputError(f"'{shown(description.text)}' is no path; the emulator needs one, such as '{path}'")
    if description.buffer != size:
        problem = f"the {description.store} is '{shown(description.buffer)}'"
        raise InputError(f"{problem}; expected a single size, such as {size}")
    if description.packet != links.MTU:
        raise InputError(f"the packet is {description.packet} bytes; the emulator's packets have {links.MTU}")
    if description.pauses:
        message = f"the application pauses in '{shown(description.text)}'"
        raise InputError(f"{message}; the emulator's applications always send, expected no such part")
    if description.flows not in (None, flows):
        raise InputError(
            f"the path has {counted(description.flows, 'flow')}, and {flows} are requested; expected as many --flow"
        )
    texts = {"rate": f"{description.rate * 8}bit", "rtt": f"{description.rtt}s", "buffer": description.buffer}
    name = questions.named_model(description, description.model or definitions.chosen("models", "EMULATED"))
    model = load_definition("models", "MODEL", name, allow_code=True) if description.model else None
    questions.require_store(description, model or Model)
    questions.require_threshold(description, model or Model())
    threshold = description.threshold
    if threshold is None and model and model.threshold is not None:
        threshold = f"{model.threshold} bdp"
    texts |= {"threshold": threshold} if threshold else {}
    texts |= {"model": model, "path_change": description.change}
    return texts | ({"jitter": description.jitter} if description.jitter else {})


def _of_file(schedule, given):
    def refuse(options):
        if options:
            raise InputError(f"--schedule says what {_flags(options)} would; expected one or the other")

    refuse([name for name in ("rate", "change") if name in given])
    if Schedule.begins(schedule):
        refuse(given)
        return (links.of_holds if Holds.begins(schedule) else links.of_schedule)(schedule)
    if "rtt" not in given:
        raise InputError("--rtt missing; a mahimahi link trace has no propagation delay")
    return links.of_opportunities(schedule, **given)


def _keep(folder, emulation, result):
    content = BytesIO()
    np.save(content, emulation.log, allow_pickle=False)
    write_bytes(folder / "packets.npy", content.getvalue())
    write_text(folder / "measures.json", records.line(result) + "\n")
    write_text(folder / "link.log", link_log(emulation))


def link_log(emulation):
    """Return a run's log in the format of mahimahi's mm-link, for readers such as `mm-delay-graph` and `ccmatic fit`.

    - `MS + BYTES`: a packet arrives.
    - `MS d 1 BYTES`, after the line of a packet's arrival: the link drops this packet.
    - `MS - BYTES DELAY`: a packet leaves after a delay of DELAY ms.
    - `MS # BYTES`: the link could carry this many bytes.

    Bytes are counted with the headers of IP. Because mm-link has no propagation delay, a packet leaves one propagation
    delay before its release. Times are rounded down to ms.
    """
    events = sorted([*_capacity(emulation), *_packets(emulation)], key=lambda event: event[:2])
    head = ["# mahimahi mm-link (ccmatic emulate)", f"# queue: {_queue(emulation.link)}", "# base timestamp: 0"]
    return "\n".join([*head, *(f"{now // MS} {event}" for now, _, event in events)]) + "\n"


#: The order of events that happen at the same instant, as in mm-link.
CAPACITY, DEPARTURE, ARRIVAL = range(3)


def _queue(link):
    return "infinite" if link.buffer == ENDLESS else f"droptail [bytes={link.buffer}]"


def _capacity(emulation):
    """Yield, for each ms in which the link could carry bytes, the number of these bytes."""
    instants = range(0, emulation.duration + 1, MS)
    carried = [emulation.link.capacity(0, now) // (8 * SECOND) for now in instants]
    for now, (before, after) in zip(instants[1:], pairwise(carried), strict=True):
        if after > before:
            yield now, CAPACITY, f"# {after - before}"


def _packets(emulation):
    rows = emulation.log[["arrival", "released", "size", "lost"]].tolist()
    for (now, released, size, lost), delay in zip(
        rows, emulation.link.propagations(emulation.log).tolist(), strict=True
    ):
        yield now, ARRIVAL, f"+ {size}"
        if lost:
            yield now, ARRIVAL, f"d 1 {size}"
        if released >= 0:
            left = released - delay
            yield left, DEPARTURE, f"- {size} {left // MS - now // MS}"
