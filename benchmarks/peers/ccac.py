"""Asks again what CCAC's published tool was asked, on the model `ccac2021`, and compares.

    python -m benchmarks.peers.ccac [--executions] FILE…

A file maps names to queries with their cases, as tests/peer_verdicts/ccac has them; docs/stateful.md says what they
mean. A case is sat if some execution is as all of `assume`, and `property`, say; these are parsed, and never run.
Where no execution is as `assume` says, all that is asked is unsat, which says nothing, and which is told.
Seconds are of processor time: CCAC's those in the file, which are the solver's alone, ours of all that is done here.
The last line counts the verdicts that differ; if any does, the exit code is 1.

With --executions it asks of what is true of executions in place of what is published: any delay of what was there at
first, timeouts for losses that were not found, and a Copa whose acknowledgements may stall. So what differs is what the
published verdicts owe to these.
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

from ccmatic.base import InputError, exact, parse_json, read_text
from ccmatic.contracts import load_definition
from ccmatic.logic import Environment, equal
from ccmatic.query import Network, Query
from ccmatic.solving import SAT, UNSAT, Checker
from ccmatic.verification import choices

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
#: What the token stands for: of each flow, service grows by a packet at least.
QUANTUM = "ALLT(1, T, lambda t: Or(S_f[{n}][t] == S_f[{n}][t-1], S_f[{n}][t] >= S_f[{n}][t-1] + alpha))"


def network(asked, law):
    """The Network that a query is about. law: the choices that its encoding makes."""
    laws = {"flows": asked["N"], "R": asked["R"], "slack": SLACK[asked["epsilon"]], **law}
    laws["waste"] = Waste.COMPOSING if asked["compose"] else Waste.NON_COMPOSING
    if asked["cca"] != "copa" and asked["N"] == 1:
        laws["delay"] = DelayMeasurement.UNMEASURED
    if asked["cca"] != "aimd":
        laws["dupacks"] = None
    if asked.get("loss_oracle"):
        laws["detection"] = LossDetection.ORACLE
    if asked.get("deterministic_loss"):
        laws["loss"] = Loss.DETERMINISTIC
    buffer = {None: "infinite", "free": "any"}.get(asked["buf_min"], asked["buf_min"])
    if asked["buf_max"] != asked["buf_min"]:
        laws["most_queue"] = "any" if asked["buf_max"] is None else exact(asked["buf_max"])
    model = CCAC2021(**laws)
    return Network(model, buffer, asked["T"], asked["D"], model_name="ccac2021")


def controller(asked, query, executions):
    """What decides, or None."""
    if asked["C"] != 1 or asked["cca"] not in CONTROLLERS:
        found = ", ".join(f"{name} {asked[name]}" for name in ("C", "cca"))
        raise InputError(f"found {found}; expected C 1, and a cca of {', '.join(CONTROLLERS)}")
    name = CONTROLLERS[asked["cca"]]
    if asked["cca"] == "aimd" and asked["aimd_incr_irrespective"]:
        name = "aimd_each_step"
    if asked["cca"] == "const" and asked["pacing"]:
        name = "constant_window_paced"
    if asked["cca"] == "copa" and executions:
        name = "copa_stalls"
    found = name and query.controller(name)
    if asked["cca"] == "aimd" and asked["pacing"]:
        begin, _, _ = found.source.partition("def send")
        return query.read_controller(f"{begin}def send(window, R_m):\n    return window, window / R_m\n")
    return found


class Case:
    """One query of a file, put to a solver; `ask` then asks each of its cases."""

    def __init__(self, asked, encoding, executions=False):
        property = load_definition("properties", "PROPERTY", "avoids")(what="T > 0")
        law = ENCODINGS[encoding] | (EXECUTIONS if executions else {})
        query = Query(network(asked, law), property, names={"property": "avoids"})
        decides = controller(asked, query, executions)
        self.model, self.checker = query.model, Checker()
        self.x = query.execution(state=decides.state if decides else ())
        reads = decides.parameters if decides else ()
        for law in (*query.laws(self.x), *query.model.belief_laws(self.x, reads)):
            self.checker.add(law.formula)
        if decides:
            self.checker.add(choices(self.x, decides))
        for condition in self.given(asked):
            self.checker.add(condition)

    def given(self, asked):
        """What is assumed."""
        says = Expressions(self.x, self.model, Fraction(0))
        for text in asked["assume"]:
            flows = range(asked["N"])
            texts = [QUANTUM.format(n=n) for n in flows] if text == "min_send_quantum" else [text]
            yield from map(says.condition, texts)
        if asked["alpha"] is not None:
            yield equal(self.x.alpha, exact(asked["alpha"]))
        if asked["dupacks"] is not None:
            yield equal(self.x.constants.get("dupacks", 3 * self.x.alpha), exact(asked["dupacks"]))
        if asked["periodic"]:
            yield periodic(self.model, self.x, asked["periodic"])

    def ask(self, case):
        """`sat` or `unsat`."""
        threshold = exact("0" if case["threshold"] is None else str(case["threshold"]))
        self.checker.push()
        self.checker.add(Expressions(self.x, self.model, threshold).condition(case["property"]))
        answer = self.checker.check()
        self.checker.pop()
        return answer

    def is_empty(self):
        """Whether no execution is as is assumed."""
        return self.checker.check() == UNSAT


@dataclass
class Asked:
    """A query, asked. differing: a line for each case whose verdict here is another. empty: no execution is as is
    assumed."""

    differing: list[str]
    empty: bool


def ask(name, entry, executions=False):
    """The Asked of a query."""
    with Environment():
        case = Case(entry["query"], entry["encoding"], executions)
        answers = [case.ask(each) for each in entry["cases"]]
        return Asked(list(_differing(name, entry["cases"], answers)), SAT not in answers and case.is_empty())


def _differing(name, cases, answers):
    for each, answer in zip(cases, answers, strict=True):
        if answer != each["verdict"]:
            yield f"{name}: {each['property']}, x = {each['threshold']}: {each['verdict']}, here {answer}"


def main():
    """Print each verdict that differs, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", action="store_true")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    count = theirs = differ = empty = 0
    begin = process_time()
    for file in given.files:
        for name, entry in parse_json(read_text(file), str(file)).items():
            asked = ask(name, entry, given.executions)
            for line in asked.differing:
                print(line, flush=True)
            if asked.empty:
                print(f"{name}: no execution is as assumed, so that each case is unsat", flush=True)
            differ += len(asked.differing)
            empty += len(entry["cases"]) if asked.empty else 0
            count += len(entry["cases"])
            theirs += sum(float(case.get("cpu_seconds") or case["seconds"] or 0) for case in entry["cases"])
    seconds = process_time() - begin
    print(f"CCAC: {theirs:.1f} s")
    print(f"{empty} verdicts are of no execution")
    print(f"{differ} of {count} verdicts differ, {seconds:.1f} s")
    sys.exit(1 if differ else 0)


def refuse(message):
    """Say what is wrong with a file, and end."""
    print(f"ccac.py: {message}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        refuse(error)
    except KeyError as error:
        refuse(f"a query or a case lacks {error}; expected the keys that tests/peer_verdicts/ccac has")
