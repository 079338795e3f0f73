"""From the text of a link and its flows to the measures of a run."""

from fractions import Fraction
from io import BytesIO
from math import inf
from pathlib import Path

import msgspec
import numpy as np

from ccmatic import guarantees, questions, records
from ccmatic.base import InputError, shown, writable_folder, write_bytes, write_text
from ccmatic.emulation import link as links
from ccmatic.emulation import mm_log, picture
from ccmatic.emulation.kinds import timetable
from ccmatic.emulation.link import ENDLESS, SECOND
from ccmatic.emulation.machine import require
from ccmatic.emulation.measures import measures, warm_up
from ccmatic.emulation.monitor import Monitor
from ccmatic.emulation.run import emulate
from ccmatic.exporting import Export
from ccmatic.trace_export import Holds, Schedule
from ccmatic.traces import require as require_drawing

#: Seconds of a run that follows no schedule, and says nothing else.
SECONDS = 10


def measure_flows(link, flows, seconds=None, warmup=None, out=None, plot=None, expect=()):
    """Emulate flows on a link, and return the measures: a records.MeasuresFile.

    link: options by name, as link.of_texts takes them, or a `schedule`: a file of a schedule or of holds alone, or a
    link trace of mahimahi with what link.of_opportunities takes; or a path, `on`, as questions.describe reads it.
    flows: as kinds.timetable reads them, to which those are added beside which something is expected. seconds: as long
    as the schedule by default, else SECONDS, or as a link trace that is longer. warmup: seconds that are not measured,
    by default as measures.warm_up says. out: a folder, in which the log (packets.npy, see run.RECORD), the measures
    (measures.json) and the log as mm-link writes it (link.log) are kept. plot: a file to draw to. expect: expectations
    (docs/reference/expectations.md). Raises InputError.
    """
    flows = [*flows, *questions.beside(expect)]
    emulated = _link(flows=len(flows), **link)
    monitor = Monitor(emulated, expect)
    seconds = seconds or _seconds(emulated)
    if (warmup or 0) >= seconds:
        raise InputError(f"a warm-up of {warmup:g} s; expected less than the run, {seconds:g} s")
    if emulated.rates[-1][0] >= seconds * SECOND:
        raise InputError(f"the link's rate changes after the run, which lasts {seconds:g} s")
    if plot:
        require_drawing(plot)
    chosen = timetable(flows, seconds)
    if (emulated.schedule or emulated.holds) and any(request.rtt for request in chosen):
        raise InputError("a flow's rtt on a schedule, which says what is delivered when; expected none")
    # Beliefs that have not converged by half of a run do not make its warm-up longer.
    monitor.require(chosen, seconds - (seconds / 2 if warmup is None else warmup))
    require()
    folder = writable_folder(out) if out else None
    emulation = emulate(emulated, chosen, seconds)
    if warmup is None:
        warmup = warm_up(emulation)
    result = msgspec.structs.replace(measures(emulation, warmup), guarantees=list(proved(emulated, chosen)))
    if expect:
        result = msgspec.structs.replace(result, expectations=monitor.judged(emulation, warmup))
    if folder:
        _keep(folder, emulation, result)
    if plot:
        picture.draw(emulation, warmup, Path(plot))
    return result


def proved(link, flows):
    """Yield a records.GuaranteeLine for what is proved of a flow that is alone on a link of one rate.

    R_m is what the sender measures: the link's, and the time that the link takes for a packet.

    link: a links.Link. flows: the flows.FlowRequest of a run."""
    exports = [getattr(request.flow, "export", None) for request in flows]
    if len(flows) > 1 or not isinstance(exports[0], Export):
        return
    if link.schedule or link.holds or link.opportunities or len(link.rates) > 1:
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
        said = [name for name in ("schedule", *_OF_PATHS) if name in {**given, **({"schedule": 1} if schedule else {})}]
        if said:
            raise InputError(f"--on says what {_flags(said)} would; expected one or the other")
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
    return links.of_texts(**given, changes=changes)


#: What a path says, as options.
_OF_PATHS = ("rate", "rtt", "buffer", "jitter")


def _flags(names):
    return ", ".join(f"--{name}" for name in names)


def _path(description, flows):
    """The options of a path that a questions.NetworkDescription describes, for so many flows. Raises InputError."""
    size = description.buffer.removeprefix(">=").strip()
    size = "1 bdp" if size == "any" else size
    path = f"24 mbit, rtt 40 ms, buffer {size}"
    if description.rate is None:
        raise InputError(f"'{shown(description.text)}' is no path, which is emulated; expected such as '{path}'")
    if description.buffer != size:
        raise InputError(f"the buffer is '{shown(description.buffer)}'; expected that of one path, such as {size}")
    if description.packet != links.MTU:
        raise InputError(f"the packet is {description.packet} bytes; the emulator's packets have {links.MTU}")
    if description.flows not in (None, flows):
        raise InputError(f"the path has {description.flows} flows, and {flows} are given; expected as many of --flow")
    texts = {"rate": f"{description.rate * 8}bit", "rtt": f"{description.rtt}s", "buffer": description.buffer}
    return texts | ({"jitter": description.jitter} if description.jitter else {})


def _of_file(schedule, given):
    def refuse(said):
        if said:
            raise InputError(f"--schedule says what {_flags(said)} would; expected one or the other")

    refuse([name for name in ("rate", "change") if name in given])
    if Schedule.begins(schedule):
        refuse(given)
        return (links.of_holds if Holds.begins(schedule) else links.of_schedule)(schedule)
    if "rtt" not in given:
        raise InputError("--rtt missing; a link trace of mahimahi says nothing of propagation")
    return links.of_opportunities(schedule, **given)


def _keep(folder, emulation, result):
    content = BytesIO()
    np.save(content, emulation.log, allow_pickle=False)
    write_bytes(folder / "packets.npy", content.getvalue())
    write_text(folder / "measures.json", records.line(result) + "\n")
    write_text(folder / "link.log", mm_log.text(emulation))
