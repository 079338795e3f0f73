"""Repeat the queries of CCAC's published tool on the model `ccac2021`, and compare the verdicts.

    python -m benchmarks.peers.ccac [--executions] FILE…

A file maps names to queries with their cases, as in tests/peer_verdicts/ccac (see docs/reference/stateful.md). A case
is sat if some execution satisfies `property` and everything in `assume`. These texts are parsed and never run. If no
execution satisfies `assume`, every case is unsat, and the verdicts carry no information. The command reports such
queries. Seconds are processor time. CCAC's seconds come from the file and include only the solver, while the seconds of
ccmatic include all work. The last line counts the verdicts that differ. If any verdict differs, the exit code is 1.

With --executions, the command replaces the published conditions by conditions that are true of real executions. Bytes
present at the beginning may have any delay, undetected losses cause timeouts, and Copa's acknowledgements may stall.
The differences then show which published verdicts depend on the published conditions.
"""

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import process_time

from ccmatic.models.ccac2021 import (
    CCAC2021,
    DelayMeasurement,
    InitialBytes,
    Loss,
    LossDetection,
    Slack,
    Start,
    Timer,
    Waste,
)
from ccmatic.properties.avoids import Expressions, periodic

from ccmatic.answers.verification import choices
from ccmatic.base import InputError, exact, parse_json, read_text
from ccmatic.contracts import load_definition
from ccmatic.logic import Environment, equal
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.questions.query import Network, Query

CONTROLLERS = {"const": "constant_window", "aimd": "aimd", "copa": "copa", "bbr": "bbr", "any": None}
SLACK = {
    "zero": Slack.NONE,
    "lt_alpha": Slack.LESS_THAN_PACKET,
    "lt_half_alpha": Slack.LESS_THAN_HALF_PACKET,
    "gt_alpha": Slack.MORE_THAN_PACKET,
}
ENCODINGS = {
    "main": {},
    "prefix": {"before": InitialBytes.SENT},
    "fork": {"delay": DelayMeasurement.CONSISTENT, "begins": Start.ANYWHERE},
}
EXECUTIONS = {"delay": DelayMeasurement.OPEN_AT_FIRST, "timer": Timer.UNDETECTED_LOSS}
#: The meaning of this token in a query: the service of each flow grows by at least a packet, or not at all.
QUANTUM = "ALLT(1, T, lambda t: Or(S_f[{n}][t] == S_f[{n}][t-1], S_f[{n}][t] >= S_f[{n}][t-1] + alpha))"


def network(settings, law):
    """Return the Network of a query. `law` has the query's choices among the encodings of laws."""
    laws = {"flows": settings["N"], "R": settings["R"], "slack": SLACK[settings["epsilon"]], **law}
    laws["waste"] = Waste.COMPOSING if settings["compose"] else Waste.NON_COMPOSING
    if settings["cca"] != "copa" and settings["N"] == 1:
        laws["delay"] = DelayMeasurement.UNMEASURED
    if settings["cca"] != "aimd":
        laws["dupacks"] = None
    if settings.get("loss_oracle"):
        laws["detection"] = LossDetection.ORACLE
    if settings.get("deterministic_loss"):
        laws["loss"] = Loss.DETERMINISTIC
    buffer = {None: "infinite", "free": "any"}.get(settings["buf_min"], settings["buf_min"])
    if settings["buf_max"] != settings["buf_min"]:
        laws["most_queue"] = "any" if settings["buf_max"] is None else exact(settings["buf_max"])
    model = CCAC2021(**laws)
    return Network(model, buffer, settings["T"], settings["D"], model_name="ccac2021")


def controller(settings, query, executions):
    """Return the controller of a query, or None if the query has none."""
    if settings["C"] != 1 or settings["cca"] not in CONTROLLERS:
        found = ", ".join(f"{name} {settings[name]}" for name in ("C", "cca"))
        raise InputError(f"found {found}; expected C 1, and a cca of {', '.join(CONTROLLERS)}")
    name = CONTROLLERS[settings["cca"]]
    if settings["cca"] == "aimd" and settings["aimd_incr_irrespective"]:
        name = "aimd_each_step"
    if settings["cca"] == "const" and settings["pacing"]:
        name = "constant_window_paced"
    if settings["cca"] == "copa" and executions:
        name = "copa_stalls"
    found = name and query.controller(name)
    if settings["cca"] == "aimd" and settings["pacing"]:
        begin, _, _ = found.source.partition("def send")
        return query.read_controller(f"{begin}def send(window, R_m):\n    return window, window / R_m\n")
    return found


class Case:
    """One query of a file, given to a solver. The method `ask` then decides each of the query's cases."""

    def __init__(self, settings, encoding, executions=False):
        property = load_definition("properties", "PROPERTY", "avoids")(what="T > 0")
        law = ENCODINGS[encoding] | (EXECUTIONS if executions else {})
        query = Query(network(settings, law), property, names={"property": "avoids"})
        decides = controller(settings, query, executions)
        self.model, self.checker = query.model, Checker()
        self.x = query.execution(state=decides.state if decides else ())
        reads = decides.parameters if decides else ()
        for law in (*query.laws(self.x), *query.model.belief_laws(self.x, reads)):
            self.checker.add(law.formula)
        if decides:
            self.checker.add(choices(self.x, decides))
        for condition in self.given(settings):
            self.checker.add(condition)

    def given(self, settings):
        """Yield the assumptions of the query."""
        says = Expressions(self.x, self.model, Fraction(0))
        for text in settings["assume"]:
            flows = range(settings["N"])
            texts = [QUANTUM.format(n=n) for n in flows] if text == "min_send_quantum" else [text]
            yield from map(says.condition, texts)
        if settings["alpha"] is not None:
            yield equal(self.x.alpha, exact(settings["alpha"]))
        if settings["dupacks"] is not None:
            yield equal(self.x.constants.get("dupacks", 3 * self.x.alpha), exact(settings["dupacks"]))
        if settings["periodic"]:
            yield periodic(self.model, self.x, settings["periodic"])

    def ask(self, case):
        """Decide a case: `sat` or `unsat`."""
        threshold = exact("0" if case["threshold"] is None else str(case["threshold"]))
        self.checker.push()
        self.checker.add(Expressions(self.x, self.model, threshold).condition(case["property"]))
        answer = self.checker.check()
        self.checker.pop()
        return answer

    def is_empty(self):
        """Return whether no execution satisfies the assumptions."""
        return self.checker.check() == UNSAT


@dataclass
class QueryResult:
    """The results of a query.

    Attributes:
        differing: A line for each case whose verdict in ccmatic differs.
        empty: Whether no execution satisfies the assumptions.
    """

    differing: list[str]
    empty: bool


def ask(name, entry, executions=False):
    """Decide all cases of a query, and return the results as an QueryResult."""
    with Environment():
        question = Case(entry["query"], entry["encoding"], executions)
        answers = [question.ask(case) for case in entry["cases"]]
        return QueryResult(list(_differing(name, entry["cases"], answers)), SAT not in answers and question.is_empty())


def _differing(name, cases, answers):
    for case, answer in zip(cases, answers, strict=True):
        if answer != case["verdict"]:
            yield f"{name}: {case['property']}, x = {case['threshold']}: {case['verdict']}, here {answer}"


def main():
    """Print each verdict that differs, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", action="store_true")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    count = theirs = differ = empty = 0
    begin = process_time()
    for file in given.files:
        for name, entry in parse_json(read_text(file), str(file)).items():
            outcome = ask(name, entry, given.executions)
            for line in outcome.differing:
                print(line, flush=True)
            if outcome.empty:
                print(f"{name}: no execution satisfies the assumptions, so each case is unsat", flush=True)
            differ += len(outcome.differing)
            empty += len(entry["cases"]) if outcome.empty else 0
            count += len(entry["cases"])
            theirs += sum(float(case.get("cpu_seconds") or case["seconds"] or 0) for case in entry["cases"])
    seconds = process_time() - begin
    print(f"CCAC: {theirs:.1f} s")
    print(f"{empty} verdicts have unsatisfiable assumptions")
    print(f"{differ} of {count} verdicts differ, {seconds:.1f} s")
    sys.exit(1 if differ else 0)


def refuse(message):
    """Print the mistake in a file, and exit."""
    print(f"ccac.py: {message}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        refuse(error)
    except KeyError as error:
        refuse(f"a query or a case lacks {error}; expected the keys that tests/peer_verdicts/ccac has")
