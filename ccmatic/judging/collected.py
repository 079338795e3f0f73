"""What is known about a subject, in the order of RFC 9743: proofs, verdicts on models, played scenarios, and searches.

The facts come from the shipped results, and from lines that a search printed.
"""

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, counted, definitions, parse_json, read_text
from ccmatic.contracts import load_definition
from ccmatic.judging.subjects import subject as known
from ccmatic.judging.verdicts import measured_words


@dataclass(frozen=True)
class Section:
    part: str
    number: str  #: The number in RFC 9743, such as `5.1.1`.
    title: str
    rules: tuple[str, ...] = ()  #: The rules of judge that measure it.
    scenarios: tuple[str, ...] = ()  #: The scenarios that play it.
    constants: tuple[str, ...] = ()  #: The constants of proofs that bound it.
    measures: tuple[str, ...] = ()  #: The measures of models that are about it.
    networks: tuple[str, ...] = ()  #: The networks whose results belong here, whatever the measure.
    flows: str = ""  #: `same` for the results of two flows of one controller, `different` for those of two controllers.


_DATA: dict[str, Any] = tomllib.loads(read_text(Path(__file__).parent / "sections.toml"))

#: All sections in order, and for each table of results the units of its measures.
SECTIONS = tuple(Section(**data) for data in _DATA["section"])
UNITS: dict[str, dict[str, str]] = _DATA["units"]


def titles(**wanted: str) -> list[str]:
    """Return the titles of the sections that have one of these names in one of these fields."""
    return [section.title for section in SECTIONS if any(name in getattr(section, f) for f, name in wanted.items())]


#: The folders of shipped results.
PROOFS, TABLES = "results.proofs", "results.tables"


def judge_known(subject: str, judged: Sequence[str | Path] = ()) -> list[records.ExaminedLine]:
    """Collect what is known about a subject, in the order of RFC 9743.

    Args:
        subject: The name of the subject, such as `quinn:cubic` or `cc_qdel`.
        judged: Files with lines of `judge table --json`, besides the shipped results.

    Raises:
        InputError: If there is no such subject, or a file has other lines.
    """
    known(subject)
    facts = [
        *_proofs(subject),
        *_networks(subject),
        *_flows(subject),
        *_scenarios(subject),
        *_searches(subject, judged),
    ]
    lines = []
    for section in SECTIONS:
        found = [fact for title, fact in facts if title == section.title]
        for kind, what, result, source in found or [("not examined", "", "", "")]:
            lines.append(
                records.ExaminedLine(
                    subject=subject,
                    part=section.part,
                    section=section.title,
                    kind=kind,  # type: ignore[arg-type]
                    what=what,
                    result=result,
                    source=source,
                )
            )
    return lines


#: A fact: the title of its section; its kind, what it is about, its result, and its file.
_Fact = tuple[str, tuple[str, str, str, str]]


def _proofs(subject: str) -> Iterator[_Fact]:
    for name in definitions.shipped(PROOFS, ".json"):
        file = definitions.find_file([PROOFS], name, ".json")
        data = parse_json(read_text(file), str(file))
        if data["controller"]["name"] != subject:
            continue
        proof = load_definition("proofs", "PROOF", data["proof"])
        holds = sum(lemma["verdict"] == "holds" for lemma in data["lemmas"])
        about = f"{data['proof']} on {proof.model}, {counted(data['horizon'], 'step')}"
        lemmas = f"{holds} of {len(data['lemmas'])} lemmas hold"
        bounds = [one for one in proof.constants if data["constants"].get(one.name, {}).get("value") is not None]
        for one in bounds:
            result = f"{one.says}: {data['constants'][one.name]['value']}; {lemmas}"
            for title in titles(constants=one.name):
                yield title, ("proof", about, result, file.name)
        state = "a steady state" if holds == len(data["lemmas"]) else "not proved"
        if not bounds:
            yield SECTIONS[1].title, ("proof", about, f"{state}; {lemmas}", file.name)


def _table(name: str) -> list[Any]:
    file = definitions.find_file([TABLES], name, ".json")
    found: list[Any] = json.loads(read_text(file))
    return found


def _edge(row: Any, unit: str) -> str:
    """Return the words for an edge: the bound that no execution breaks, and the value that an execution reaches."""
    bound = [] if row.get("none") is None else [f"no execution beyond {row['none']} {unit}".rstrip()]
    value = [] if row.get("some") is None else [f"an execution reaches {row['some']} {unit}".rstrip()]
    return "; ".join(bound + value) or row.get("verdict", "unknown")


def _networks(subject: str) -> Iterator[_Fact]:
    for row in _table("networks"):
        if row["controller"] == subject:
            about = f"worst {row['measure']} within 4 R_m, network {row['network']}"
            named = titles(networks=row["network"]) or titles(measures=row["measure"])
            for title in named:
                yield title, ("model", about, _edge(row, UNITS["networks"][row["measure"]]), "networks.json")
    for row in _table("worst"):
        if row["controller"] == subject:
            about = f"worst {row['of']}, {row['how']}, on {row['model']}, buffer {row['buffer']}"
            for title in titles(measures=row["of"]):
                yield title, ("model", about, _edge(row, UNITS["worst"][row["of"]]), "worst.json")


def _flows(subject: str) -> Iterator[_Fact]:
    for row in _table("flows"):
        if subject in (row["first"], row["second"]):
            [title] = titles(flows="same" if row["first"] == row["second"] else "different")
            about = f"least share, {row['first']} beside {row['second']}, {row['how']}"
            yield title, ("model", about, _edge(row, "of the bytes"), "flows.json")
    for row in _table("starve"):
        if "verdict" in row and subject in (row["controller"], row["beside"]):
            [title] = titles(flows="same" if row["controller"] == row["beside"] else "different")
            share = f", at most {row['share']} of the bytes" if row.get("share") is not None else ""
            about = f"starvation of {row['controller']} beside {row['beside']}, on {row.get('on', 'all networks')}"
            yield title, ("model", about, row["verdict"] + share, "starve.json")


def _scenarios(subject: str) -> Iterator[_Fact]:
    file = definitions.find_file([TABLES], "scenarios", ".jsonl")
    for line in read_text(file).splitlines():
        played = SimpleNamespace(**json.loads(line))
        world = "emulated" if subject.startswith("kernel:") else "simulated"
        if (played.sender, played.world) == (subject.removeprefix("kernel:"), world):
            measured = "; ".join(each["measured"] for each in played.expectations)
            for title in titles(scenarios=played.scenario):
                result = f"{played.verdict}: {measured or played.reason}"
                yield title, ("scenario", f"{played.scenario}, {world}", result, "scenarios.jsonl")


def _searches(subject: str, judged: Sequence[str | Path]) -> Iterator[_Fact]:
    shipped = definitions.find_file([TABLES], "judged", ".jsonl")
    seen: set[str] = set()
    for file in [*map(Path, judged), shipped]:
        for row in _searched(file):
            if row.subject == subject and row.rule not in seen and row.verdict != "not asked":
                seen.add(row.rule)
                about = f"rule {row.rule}, {row.version}, {counted(row.runs, 'run')}"
                value = "" if row.value is None else f": {measured_words(row)}"
                for title in titles(rules=row.rule):
                    yield title, ("search", about, f"{row.verdict}{value}; {row.threshold}", file.name)


def _searched(file: Path) -> Iterator[records.SearchedLine]:
    for number, line in enumerate(read_text(file).splitlines(), 1):
        data = parse_json(line, f"{file}:{number}")
        if not isinstance(data, dict) or "subject" not in data:
            raise InputError("no line of `judge table --json` or `judge search --json`", str(file), number)
        if "rule" in data:
            yield records.convert(data, records.SearchedLine, f"{file}:{number}")


def page(subject: str, lines: Sequence[records.ExaminedLine]) -> str:
    numbers = {each.title: each.number for each in SECTIONS}
    text, part, section = [f"# {subject}, in the order of RFC 9743"], "", ""
    for line in lines:
        if line.part != part:
            text += ["", f"## {line.part}"]
        if line.section != section:
            text += ["", f"### {numbers[line.section]} {line.section}", ""]
        part, section = line.part, line.section
        text.append("not examined" if line.kind == "not examined" else f"- {line.kind}: {line.what}: {line.result}")
    return "\n".join(text) + "\n"
