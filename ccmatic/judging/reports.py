"""The report of a finding: a folder with a page, a drawing, a qlog, the scenario, and a failing unit test."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from ccmatic import __version__, records
from ccmatic.base import read_text, writable_folder, write_text
from ccmatic.judging import subjects
from ccmatic.judging.recording import Recording
from ccmatic.judging.rules import RULES, Rule
from ccmatic.judging.rules.measures import arrivals, windows
from ccmatic.judging.rules.premises import spans
from ccmatic.judging.scenario import SECOND, Scenario, faults
from ccmatic.judging.verdicts import Source, Verdict, judge_run, opened, undisturbed
from ccmatic.judging.witnesses import load, rule_of, source_of
from ccmatic.judging.words import event_words, path_words
from ccmatic.networks import traces
from ccmatic.networks.traces import JITTER, LOSS, NETWORK, SENDER

#: The templates of unit tests: in the folder of an adaptor, and the one of all crates.
TESTS, CRATE_TEST = "regression_test.*", Path(__file__).parent / "adaptors" / "regression_test.rs"


def judge_report(file: str | Path, out: str | Path, *, allow_code: bool = False) -> list[Path]:
    """Run a witness again, and write the report of its finding.

    Args:
        file: The witness.
        out: The folder for the page, the drawing, the qlog and the unit tests.
        allow_code: As in `rerun_witness`.

    Returns:
        The written files.

    Raises:
        InputError: If the file is no witness, or its subject cannot be built or run.
    """
    folder, record = writable_folder(out), load(file, allow_code).record
    rule, source = rule_of(record), source_of(record)
    judged = judge_run(source, record.scenario, [rule])
    run, version, [verdict] = judged.run, judged.version, judged.verdicts
    usual = opened(source)[0].run(undisturbed(record.scenario)) if record.scenario.events else None
    title = f"{record.subject} ({version}): {rule.name}"
    at = verdict.measured.at if verdict.measured else None
    draw(run, folder / "run.svg", title, usual, at)
    write_text(folder / "run.qlog", qlog(run, record.subject, title))
    write_text(folder / "witness.json", records.line(record) + "\n")
    tests = unit_tests(record, version, folder)
    others = [*variants(record.scenario, rule, source)]
    write_text(folder / "report.md", _page(record, version, rule, verdict, others, tests))
    return [folder / name for name in ("report.md", "run.svg", "run.qlog", "witness.json")] + tests


#: The least spacings of arrivals in µs, the seeds, and the factors by which rates and buffers grow.
SPACINGS, SEEDS, SCALES = (10, 100, 200), (0, 1, 2, 3, 4), ((1, 2), (2, 1))


@dataclass(frozen=True)
class Variant:
    name: str  #: The difference from the original scenario, in words.
    verdict: str  #: `broken`, `kept` or `not applicable`.
    value: float | None  #: The measured value, or None.


def variants(scenario: Scenario, rule: Rule, source: Source) -> Iterator[Variant]:
    """Yield the verdict of a rule on each lawful variant of a scenario."""
    for name, variant in _variants(scenario):
        if next(faults(variant), None) is None:
            [verdict] = judge_run(source, variant, [rule]).verdicts
            value = verdict.measured.value if verdict.measured else None
            yield Variant(name, verdict.verdict, value)


def _variants(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    for spacing in SPACINGS:
        yield f"spacing {spacing} µs", replace(scenario, spacing=spacing * 1000)
    for seed in SEEDS:
        yield f"seed {seed}", replace(scenario, seed=seed)
    for over, under in SCALES:
        yield f"rate and buffer x{over}/{under}", _scaled(scenario, over, under)


def _scaled(scenario: Scenario, over: int, under: int) -> Scenario:
    """Return a scenario whose rates and sizes are multiplied by a factor. Times do not change."""

    def times(value: int) -> int:
        return value * over // under

    def event(one: records.Event) -> records.Event:
        fields = {name: times(getattr(one, name)) for name in ("bits", "bytes") if hasattr(one, name)}
        return replace(one, **fields)

    policer = scenario.policer and records.PolicerRecord(times(scenario.policer.bits), times(scenario.policer.bucket))
    return replace(
        scenario,
        rate=times(scenario.rate),
        buffer=times(scenario.buffer),
        threshold=None if scenario.threshold is None else times(scenario.threshold),
        policer=policer,
        events=tuple(map(event, scenario.events)),
    )


def _page(
    record: records.WitnessFile, version: str, rule: Rule, verdict: Verdict, others: list[Variant], tests: list[Path]
) -> str:
    scenario, measured = record.scenario, verdict.measured
    value = "no value" if measured is None else f"{measured.value:.4g} (margin {measured.margin:.3g})"
    events = [f"- {event_words(event)}" for event in scenario.events] or ["- no event"]
    notes = subjects.subject(record.subject).program.notes
    lines = [
        f"# {record.subject}, {rule.name}",
        "",
        f"Version: {version}. {'; '.join(notes)}",
        "",
        "## Rule",
        "",
        f"{rule.definition}",
        "",
        f"- threshold: {rule.threshold}",
        f"- measured: {value}" + (f", at {measured.at / 1e9:.3f} s" if measured and measured.at is not None else ""),
        f"- source: {rule.source}",
        "",
        "## Scenario",
        "",
        f"{path_words(scenario)}; {scenario.duration / 1e9:g} s; {len(scenario.flows)} flow(s)",
        "",
        *events,
        "",
        "The scenario is lawful: packets stay in order, and the jitter box holds each packet for at most D.",
        "",
        "![Rate, window and delay; grey: without the events](run.svg)",
        "",
        "## Reproduction",
        "",
        "```",
        subjects.run_command(record.subject, "witness.json"),
        "```",
        "",
        *(f"A unit test that fails today: [{test.name}]({test.name})" for test in tests),
        "",
        "## Sensitivity",
        "",
        "| variant | verdict | value |",
        "|---|---|---|",
        *(f"| {v.name} | {v.verdict} | {'' if v.value is None else f'{v.value:.4g}'} |" for v in others),
        "",
        "This page reports a measurement. It makes no statement about the cause, or about other networks.",
        "",
    ]
    return "\n".join(lines)


def unit_tests(record: records.WitnessFile, version: str, out: Path) -> list[Path]:
    """Write the unit tests of a witness for which there is a template, and return their files."""
    fields = {
        "name": "".join(c if c.isalnum() else "_" for c in record.rule),
        "option": "--rule" if record.rule in RULES else "--expect",
        "rule": record.rule,
        "threshold": record.threshold,
        "value": f"{record.value:.6g}",
        "scenario": records.line(record.scenario),
        "controller": record.subject.partition(":")[2] or record.subject,
        "subject": record.subject,
        "version": version,
        "crate": version.partition(" ")[0],
    }
    made = []
    folder = Path(inspect.getfile(type(subjects.subject(record.subject).adaptor))).parent
    for template in [*sorted(folder.glob(TESTS)), *[CRATE_TEST] * (folder / "Cargo.toml").is_file()]:
        text = read_text(template)
        for name, value in fields.items():
            text = text.replace(f"{{{{{name}}}}}", value)
        made.append(out / template.name)
        write_text(made[-1], text)
    return made


# ---- the drawing ----

#: The largest number of bins and of dots in a drawing; and the colours of flows.
BINS, POINTS, COLOURS = 200, 4000, (SENDER, "#E69F00", NETWORK, "#CC79A7")


def draw(
    run: Recording, path: str | Path, title: str, undisturbed: Recording | None = None, at: int | None = None
) -> None:
    painters = {"Arrivals (Mbit/s)": _rates, "Window (kB)": _windows, "Delay (ms)": _delays}
    with traces.figure(path, (8, 7)) as figure:
        figure.suptitle(title, fontsize=10, parse_math=False)
        panels = figure.subplots(len(painters), sharex=True)
        for axes, (name, painter) in zip(panels, painters.items(), strict=True):
            axes.set_title(name, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
            if undisturbed is not None:
                painter(axes, undisturbed, lambda number: "#bbbbbb")
            painter(axes, run, lambda number: COLOURS[number % len(COLOURS)])
            _events(axes, run)
            if at is not None:
                axes.axvline(at / SECOND, color=LOSS, linewidth=1, linestyle=":")
            axes.set_ylim(bottom=0)
        panels[-1].set_xlim(0, run.scenario.duration / SECOND)
        panels[-1].set_xlabel("time (s)")


def _events(axes: Any, run: Recording) -> None:
    for event in run.scenario.events:
        length = max(getattr(event, "length", 0), run.scenario.duration // 500)
        colour = LOSS if isinstance(event, records.LossEvent) else JITTER
        axes.axvspan(event.at / SECOND, (event.at + length) / SECOND, color=colour, alpha=0.25, linewidth=0)


def _rates(axes: Any, run: Recording, colour: Any) -> None:
    edges = np.linspace(0, run.scenario.duration, max(2, min(BINS, run.scenario.duration // run.scenario.rtt + 1)))
    for number in range(len(run.scenario.flows)):
        times, sizes = arrivals(run, number)
        got, _ = np.histogram(times, edges, weights=sizes)
        axes.plot((edges[1:] + edges[:-1]) / 2 / SECOND, got * 8e3 / np.diff(edges), color=colour(number))
    for begin, end, bits in spans(run.scenario):
        axes.plot([begin / SECOND, end / SECOND], [bits / 1e6] * 2, color="#000000", linestyle="--", linewidth=0.8)


def _windows(axes: Any, run: Recording, colour: Any) -> None:
    for number in range(len(run.scenario.flows)):
        times, values = windows(run, number)
        axes.plot(times / SECOND, values / 1000, color=colour(number), drawstyle="steps-post", linewidth=1)


def _delays(axes: Any, run: Recording, colour: Any) -> None:
    for number in range(len(run.scenario.flows)):
        kept = run.packets[(run.packets["released"] >= 0) & (run.packets["flow"] == number)]
        kept = kept[:: max(1, len(kept) // POINTS)]
        delays = (kept["released"] - kept["arrival"]) / 1e6
        axes.plot(kept["arrival"] / SECOND, delays, ".", markersize=2, color=colour(number))


# ---- the qlog ----

#: The bytes of the IPv4 and UDP headers, which qlog leaves out.
HEADERS = 28


def qlog(run: Recording, subject: str, title: str, flow: int = 0) -> str:
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
