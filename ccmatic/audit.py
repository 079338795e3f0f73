"""The check of a proof that trusts nothing that `prove` computed: states, measures, every lemma, every edge."""

import gzip
import json
import re
from dataclasses import dataclass

from ccmatic import certificate, replay
from ccmatic.certify import certify
from ccmatic.errors import InputError, Unreadable
from ccmatic.files import write_bytes
from ccmatic.prove import Prover
from ccmatic.verify import HOLDS


@dataclass(frozen=True)
class Finding:
    """about: a lemma, a constant's edge, or the whole. fault: what is wrong, or None. how: it was checked."""

    about: str
    fault: str | None
    how: str = ""


def make_certificates(result, prover, names):
    """Write a certificate of each of these lemmas that holds, is not the paper's and has none yet; yields its name."""
    for name in names:
        lemma, file = prover.lemmas[name], _certificate_file(result, name)
        if result.answers[name].verdict == HOLDS and not lemma.paper and not file.exists():
            made = certify(prover.question(lemma, result.values))
            write_bytes(file, gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
            yield name


def audit(result, **options):
    """Check a Result; yields a Finding for each thing that must be so. A lemma with a certificate is checked by that,
    any other by the solvers of `options` (see `solve.Checker`)."""
    prover = Prover(result.proof, result.controller, result.horizon, **options)
    declared = [constant.name for constant in prover.proof.constants]
    missing = [name for name in declared if name not in result.constants]
    if missing:
        yield Finding("constants", f"not all are known: {', '.join(missing)} missing")
        return
    faults = list(prover.proof.faults(result.values))
    yield Finding("progress adds up", "; ".join(faults) or None, "order of the states and steps of their measures")
    for lemma in prover.lemmas.values():
        if not lemma.paper:
            yield _lemma(result, prover, lemma)
    for constant in prover.proof.constants:
        edge = result.constants[constant.name].edge
        if edge and edge.trace:
            yield _edge(result, prover, constant, edge)
    for name, answer in result.answers.items():
        if name in prover.lemmas and prover.lemmas[name].paper and answer.trace:
            yield Finding(f"{name}: fails", _replays(answer.trace, result.allow_code), "its window replayed")


def _lemma(result, prover, lemma):
    file = _certificate_file(result, lemma.name)
    if file.exists():
        outcome = certificate.check(prover.question(lemma, result.values), _read(file))
        how = f"certificate of {outcome.lemmas} inequalities and {outcome.steps} steps"
        return Finding(lemma.name, outcome.fault and f"its certificate: {outcome.fault}", how)
    answer = prover.ask(lemma, result.values)
    fault = None if answer.verdict == HOLDS else f"the lemma is {answer.verdict}"
    return Finding(lemma.name, fault, f"asked anew, {answer.seconds:.1f} s")


def _edge(result, prover, constant, edge):
    """The next better value fails: on a window that replays."""
    about, how = f"edge of {constant.name}", "the window beyond it replayed"
    grid = constant.grid()
    place = grid.index(result.constants[constant.name].value) if result.constants[constant.name].value in grid else None
    if place is None or place + 1 == len(grid):
        value = result.constants[constant.name].value
        return Finding(about, f"{value} is not a value of its range with a better one", how)
    asked = edge.trace.query["property"]
    expected = str(grid[place + 1])
    given = dict(pair.split("=") for pair in asked.get("constants", "").split(", ") if pair)
    if given.get(constant.name) != expected:
        return Finding(about, f"its window is for {given.get(constant.name)}; expected the next value, {expected}", how)
    for name, value in given.items():
        if name != constant.name and value != str(result.values.get(name)):
            return Finding(about, f"its window is for another {name}, {value}", how)
    return Finding(about, _replays(edge.trace, result.allow_code), how)


def _replays(trace, allow_code):
    try:
        report = replay.replay(trace, allow_code=allow_code)
    except InputError as error:
        return error.message
    if report.faults:
        return f"its window breaks {report.faults[0]}"
    if report.outcome is replay.Outcome.BREAKS:
        return None
    return "its window does not break the lemma" if report.reason is None else f"its window: {report.reason}"


def _certificate_file(result, lemma):
    folder = result.file.with_name(f"{result.file.stem}-certificates")
    return folder / f"{re.sub('[^A-Za-z0-9]+', '_', lemma)}.json.gz"


def _read(file):
    try:
        return json.loads(gzip.decompress(file.read_bytes()))
    except OSError as error:
        raise Unreadable(f"cannot read: {error}", str(file)) from None
    except (ValueError, EOFError) as error:
        raise InputError(f"no certificate: {error}", str(file)) from None
