"""The reproduction of the paper's trade-off.

The function yields each result as data and as text, as soon as the result is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor
from pathlib import Path

from ccmatic import controllers
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge
from ccmatic.base import InputError, definitions, exact, shown, writable_folder, write_text
from ccmatic.contracts import load_definition
from ccmatic.networks import traces
from ccmatic.questions import query as queries
from ccmatic.records import (
    AllowanceLine,
    CounterexampleLine,
    FamilyLine,
    FileLine,
    PathLine,
    Record,
    RoundTripsLine,
    RuleLine,
    TableFileLine,
)
from ccmatic.tradeoffs import cycle, family, figures, statements
from ccmatic.tradeoffs.allowance import RULES, Allowance, RampPath
from ccmatic.tradeoffs.enclosure import compiled
from ccmatic.tradeoffs.growth import closed_form, inverse_class
from ccmatic.tradeoffs.least import least
from ccmatic.tradeoffs.probe_slow import LEAST_RATE

#: The default allowances of Figure 7.
DEFAULT = ("1", "log(C)", "sqrt(C)", "C/10", "C")

#: The largest number of round trips for the solver and for cc_probe_slow, and the solver's smaller limit for an
#: allowance that needs tangents.
MOST_ASKED, MOST_TANGENTS = 1000, 250

#: The fraction of a packet to which f(C) is rounded down for cc_probe_slow, given by its denominator.
PART = 1024

#: The controller of the counterexample in section 6.2, and the network for its verification: β = C·D.
ADDITIVE = "blind_additive"
NETWORK = {"buffer": "1", "horizon": "7"}


@dataclass(frozen=True)
class Outcome:
    """One outcome, as a record and as text.

    It is `good` if it agrees with the theorem; None if the solver timed out.
    """

    row: Record
    text: str
    good: bool | None = True


def read_allowances(allowances, buffer_time, start, end):
    """Return the Allowances in texts (by default DEFAULT), and the RampPath from C_0 (`start`) to C (`end`).

    Rates are in packets per R_m, and the buffer β_s as a time is in R_m.
    """
    path = RampPath(number(start, "C_0"), number(end, "C"), number(buffer_time, "β_s"))
    read = [Allowance.parse(text) for text in allowances or DEFAULT]
    for allowance in read:
        allowance.require(path)
    return read, path


def number(text, name):
    try:
        return exact(text, 300)
    except InputError:
        expected = "a number of at most 300 digits, such as 1000, 0.5 or 1/2"
        raise InputError(f"{name} is '{shown(text)}'; expected {expected}") from None


def reproduce_tradeoff(
    allowances: tuple[str, ...] = (),
    *,
    buffer_time: str = "1",
    start: str = "10",
    end: str = "1000",
    out: str | Path = "tradeoff",
) -> Iterator[Outcome]:
    """Reproduce the paper's trade-off between loss and convergence time, and check the steps of its proof.

    Args:
        allowances: The allowed losses in packets, as expressions in C. By default, the allowances are 1, log(C),
            sqrt(C), C/10 and C.
        buffer_time: The size of the buffer as a drain time, in R_m.
        start: The initial rate, in packets per R_m.
        end: The rate of the link, in packets per R_m.
        out: The folder for the figures, the tables, a trace and the proof's report.

    Yields:
        Each finding: Figure 7 with its table, the solver's answers, deployed controllers, the family of cc_probe_slow,
        Figure 8, Table 3, the counterexample, and the steps of the proof. Each finding has a record `row`, a `text` for
        people, and a flag `good`, which states whether the finding agrees with the theorem.

    Raises:
        InputError: If an expression or a number cannot be read, or the theorem excludes it.
    """
    traces.require()
    read, path = read_allowances(allowances, buffer_time, start, end)
    rates = table_rates(path)
    inverses = {allowance: allowance.inverse(path, rates) for allowance in read}
    probing = {rule: _probing(rule, path, rates) for rule in RULES}
    folder = writable_folder(out)
    yield from _convergence(inverses, probing, path, rates, folder)
    yield from _family(inverses, probing, path, folder)
    yield from _beliefs(folder)
    yield from _table_3(folder)
    yield from _counterexample(folder)
    yield from _proof(folder)


def _probing(rule, path, rates):
    allowance = rule.allowance(path)
    allowance.require(path)
    return allowance, allowance.inverse(path, rates)


def _convergence(inverses, probing, path, rates, folder):
    yield Outcome(
        PathLine(path.start, path.end, path.buffer_time),
        f"Round trips to ramp up from C_0 = {path.start}, in packets per R_m; β_s = {path.buffer_time} R_m",
    )
    columns, curves, ramps = {}, [], []
    for allowance, inverse in inverses.items():
        columns[allowance.text] = inverse
        curves.append((allowance.text, list(enumerate(_reached(allowance, path)))))
        yield _allowance(allowance, path, inverse)
    for rule, (allowance, inverse) in probing.items():
        columns[rule.name] = {rate: rule.round_trips(probes) for rate, probes in inverse.items()}
        reached = _reached(allowance, path)
        ramps.append((rule.name, [(rule.round_trips(probes), rate) for probes, rate in enumerate(reached)]))
        yield _rule(rule, allowance, path, columns[rule.name][path.end])
    counts = {name: {str(rate): n for rate, n in column.items()} for name, column in columns.items()}
    yield Outcome(RoundTripsLine(7, counts), table(rates, columns))
    file = folder / "figure_7.png"
    figures.draw_convergence(curves, ramps, path, file)
    yield _file(file, "Figure 7")


def table_rates(path):
    """Return the rates of the table: the last twelve of 1, 2, 5, 10, … between C_0 and C, and C itself."""
    series = (Fraction(digit) * Fraction(10) ** power for power in range(-300, 301) for digit in (1, 2, 5))
    return [*[rate for rate in series if path.start < rate < path.end][-12:], path.end]


def _reached(allowance, path):
    """Return F(0), F(1), …, up to the rate C."""
    return [min(low, path.end) for low, _ in allowance.ramp(path)]


def _allowance(allowance, path, inverse):
    form, grows, end = closed_form(allowance, path), inverse_class(allowance), inverse[path.end]
    most = MOST_ASKED if allowance.affine else MOST_TANGENTS
    rates = [rate for rate, n in inverse.items() if n is not None and n <= most]
    solver, good = _ask(allowance, path, inverse, rates)
    row = AllowanceLine(
        allowance=allowance.text,
        F=None if form is None else str(form),
        grows=grows,
        round_trips=end,
        time_rm=end and end * (1 + path.buffer_time),
        solver=solver,
    )
    text = f"f = {allowance.text:<8} F⁻¹({path.end}) = {_count(end)}"
    text += f", Θ({grows})" if grows and end is not None else ""
    text += f"; F(k) = {form}" if form is not None else ""
    return Outcome(row, f"{text}; {solver}", good)


def _ask(allowance, path, inverse, rates):
    """Compare the solver's number of round trips with F⁻¹. Return the result in words, and whether both agree."""
    if allowance.affine is None and not allowance.concave:
        return "solver not used: f is neither linear nor concave", True
    if not rates:
        never = inverse[path.end] is None
        return f"solver not used: {'F never gets there' if never else 'too many round trips'}", True
    reached = least(allowance, path, rates, MOST_ASKED)
    wrong = [rate for rate in rates if reached[rate] and reached[rate].steps != inverse[rate]]
    if wrong:
        return f"the solver finds {reached[wrong[0]].steps} for C = {wrong[0]}, not {inverse[wrong[0]]}", False
    if None in reached.values():
        return "the solver cannot tell", None
    return f"the solver's least k is the same for {len(rates)} of {len(inverse)} C's", True


def _rule(rule, allowance, path, round_trips):
    least = float(compiled(allowance.f, 64)((path.end, path.end))[0])
    return Outcome(
        RuleLine(rule.name, rule.increase, rule.every, rule.source, round_trips, round(least, 3)),
        f"{rule.name}: {round_trips} round trips; to be surely as fast, a sender must risk f(C) = {least:.3g} "
        f"packets; {rule.source}",
    )


def table(rates, columns):
    lines = ["", f"| C | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    lines += [f"| {rate} | {' | '.join(_count(column[rate]) for column in columns.values())} |" for rate in rates]
    return "\n".join([*lines, ""])


def _count(n):
    return "never" if n is None else str(n)


def _family(inverses, probing, path, folder):
    """Yield the results of cc_probe_slow_k for each allowance and three values of T*, and draw the figure.

    The figure also shows the bound of the theorem, and the controllers.
    """
    if path.start < LEAST_RATE:
        yield Outcome(FamilyLine(None), f"cc_probe_slow left out: it needs C_0 of at least {LEAST_RATE}")
        return
    exact = {
        allowance.text: partial(_allowed, compiled(allowance.f, 64))
        for allowance, inverse in inverses.items()
        if inverse[path.end] and inverse[path.end] <= MOST_ASKED
    }
    points = []
    for point in family.points(exact, rate=path.end, start=path.start, buffer=path.buffer_time):
        points.append(point)
        good = point.convergence >= point.bound and point.loss <= 2 * point.allowed
        yield Outcome(point, "", good)
    others = [
        (
            rule.name,
            compiled(allowance.f, 64)((path.end, path.end))[0],
            rule.round_trips(inverse[path.end]) * (1 + path.buffer_time),
        )
        for rule, (allowance, inverse) in probing.items()
    ]
    file = folder / "family.png"
    figures.draw_family(points, file, others)
    yield Outcome(
        FileLine(str(file), "the family cc_probe_slow_k"),
        f"\ncc_probe_slow_k, by exact executions\n\n{family.markdown(points)}\ndrawn: {file}",
    )


def _allowed(f, rate):
    return Fraction(floor(f((rate, rate))[0] * PART), PART)


def _beliefs(folder):
    for row in figures.beliefs():
        yield Outcome(
            row,
            f"{row.path}: C = {row.C}, β = {row.buffer}; a probe over T* loses {row.lost_by_probe}, "
            f"one over T*/2 {row.lost_by_short_probe}",
        )
    file = folder / "figure_8.png"
    figures.draw_beliefs(file)
    yield _file(file, "Figure 8")


def _table_3(folder):
    made = cycle.table_3()
    text = cycle.markdown(made)
    for row in cycle.rows(made):
        yield Outcome(row, "")
    write_text(folder / "table_3.md", text)
    yield Outcome(TableFileLine(3, str(folder / "table_3.md")), f"\nTable 3\n\n{text}", made.same)


def _counterexample(folder):
    query = queries.make(definitions.chosen("models", "EMULATED"), **NETWORK, thresholds={"constrain_loss": "always"})
    judgement = Judge(query).judge(controllers.load(ADDITIVE, query.units()))
    if judgement.verdict != VIOLATED:
        yield Outcome(
            CounterexampleLine(ADDITIVE, judgement.verdict),
            f"{ADDITIVE}: {judgement.verdict}",
            False if judgement.verdict == HOLDS else None,
        )
        return
    trace, file = judgement.trace, folder / f"{ADDITIVE}.json"
    trace.save(file)
    traces.draw_trace(trace, file.with_suffix(".png"))
    lost = trace.columns["L"][-1] - trace.columns["L"][0]
    sent = trace.columns["A"][-1] - trace.columns["A"][0]
    yield Outcome(
        CounterexampleLine(ADDITIVE, judgement.verdict, lost, sent, str(file)),
        f"{ADDITIVE} (section 6.2): violated; of {float(sent):.3g} C·R_m sent, {float(lost):.3g} are "
        f"lost; trace: {file}",
    )


def _proof(folder):
    proof = load_definition("proofs", "STEPS", definitions.chosen("proofs", "TRADEOFF"))
    checked = []
    for each in statements.check(proof):
        checked.append(each)
        yield Outcome(statements.row(each), statements.line(each), each.good if _decided(each) else None)
    write_text(folder / "proof.md", statements.markdown(checked))
    yield _file(folder / "proof.md", "the proof, step by step")


def _decided(checked):
    findings = (checked.finding, *(finding for *_, finding in checked.broken))
    return all(finding.verdict in (HOLDS, VIOLATED) for finding in findings)


def _file(file, what):
    return Outcome(FileLine(str(file), what), f"{what}: {file}")
