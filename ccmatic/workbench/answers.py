"""Answers to the requests of a page, as JSON data: the verdict, and the counterexample with its steps.

The text of a page may come from an untrusted source. Only the parser of ccmatic's language reads this text, and either
accepts or rejects it. The command line also accepts paths, and reads or runs the files at these paths. The workbench
accepts only the names of definitions that ccmatic ships.

`python -m ccmatic.workbench.answers SECONDS` answers requests of pages, one after another. Each line of standard input
is a request. The answer is a series of JSON lines on standard output, and an empty line ends it. To stop a request, the
server kills the process, so this code does not need to handle interrupts.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from ccmatic import questions, records
from ccmatic.answers import explanation, verification
from ccmatic.answers.verification import Judgement, Outcome, Report
from ccmatic.base import (
    Disagreement,
    InputError,
    OutOfTime,
    SolverEnded,
    definitions,
    parse_json,
    shown,
    suggest,
    syntax_tree,
)
from ccmatic.controllers import each_of
from ccmatic.language import observation_of
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions import Question
from ccmatic.questions.query import left_out_of_trace
from ccmatic.records import WorkbenchFile, WorkbenchQuestion, convert

#: The pattern of valid names of controllers.
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,80}", re.ASCII)

#: The largest number of expectations in one request.
_MOST = 20

#: An expectation that makes sense for any network and any controller.
_PLAIN = "utilisation >= 0%"


class FieldError(InputError):
    """A mistake in one field of the page. `field` is its id in workbench.html."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def verify(request: WorkbenchFile, solver: SolverOptions) -> Iterator[dict[str, Any]]:
    """Verify a controller against each expectation of a page, within the timeout of the solver for each.

    Yield for each expectation first its text, and then the answer. The function ignores traces in the request. The file
    and line in an InputError refer to the controller's text.
    """
    with _file_of(request) as file:
        for question in [_question(request, each.expect, file) for each in _expectations(request)]:
            yield {"deciding": question.text}
            judgement = verification.answer(question, solver=solver)
            yield {"answer": _answer(question, judgement)}


def reopen(request: WorkbenchFile) -> Iterator[dict[str, Any]]:
    """Replay the counterexamples of a shared file, which is not trusted, and yield them like `verify`.

    Raise InputError if a trace does not violate its expectation.
    """
    with _file_of(request) as file:
        for each in _expectations(request):
            if isinstance(each.trace, records.Absent):
                continue
            yield {"deciding": each.expect}
            question = _question(request, each.expect, file)
            query = question.query.of_small_packets()
            trace = Trace.from_json(json.dumps(records.data(each.trace)))
            if (
                trace.controller is None
                or query.read_controller(trace.controller).meaning != question.controller.meaning
            ):
                raise InputError(f"the trace of '{shown(each.expect)}' is of another controller; press Verify instead")
            report = verification.check_trace(query, trace)
            if report.outcome is not Outcome.BREAKS:
                why = report.reason or "it keeps the expectation"
                faults = f": {'; '.join(report.faults[:3])}" if report.faults else ""
                message = f"the trace of '{shown(each.expect)}' shows nothing, {why}{faults}; press Verify instead"
                raise InputError(message)
            about = _about(question, "violated")
            about |= {
                "left_out": list(map(str, left_out_of_trace(question.controller))),
                "advice": question.advice(trace),
            }
            yield {"answer": {**about, **_counterexample(question, trace, report)}}


@contextmanager
def _file_of(request: WorkbenchFile) -> Iterator[Path]:
    """Write the controller to a temporary file, so that answers can use the controller's name.

    Errors name the file without its folder.
    """
    if not _NAME.fullmatch(request.name):
        message = f"the name is '{shown(request.name)}'; expected letters, digits and _, such as my_controller"
        raise FieldError(message, "name")
    with TemporaryDirectory(prefix="ccmatic-workbench-") as folder:
        file = Path(folder) / f"{request.name}.py"
        file.write_text(f"{request.controller.rstrip()}\n", encoding="utf-8")
        try:
            yield file
        except InputError as error:
            if error.file == str(file):
                error.file = file.name
            raise


def _expectations(request: WorkbenchFile) -> list[WorkbenchQuestion]:
    expectations = [question for question in request.questions if question.expect.strip()]
    if not expectations or len(expectations) > _MOST:
        message = f"found {len(expectations)} expectations; expected 1 to {_MOST}, one a line, such as 'queue <= 4 bdp'"
        raise FieldError(message, "expect")
    return expectations


def _question(request: WorkbenchFile, expect: str, file: Path) -> Question:
    horizon = None if isinstance(request.horizon, records.Absent) else request.horizon

    def ask(expect: str = expect, start: str = request.start, horizon: int | None = None) -> Question:
        _require_shipped(request, expect, file)
        return questions.ask(file, request.on, expect, start=start, horizon=horizon)

    # For each field: a variant of the question without the expectation's text and without the texts of the earlier
    # fields in this list.
    without: dict[str, Callable[[], Question]] = {
        "steps": ask,
        "start": partial(ask, start="any"),
        "expect": partial(ask, _PLAIN, "any"),
    }
    try:
        return ask(horizon=horizon)
    except InputError as error:
        if error.file:
            raise  # This is a mistake in the controller.
        raise FieldError(error.message, next((field for field, ask in without.items() if _passes(ask)), "on")) from None


def _passes(ask: Callable[[], Question]) -> bool:
    try:
        ask()
    except InputError:
        return False
    return True


def _require_shipped(request: WorkbenchFile, expect: str, file: Path) -> None:
    """Raise InputError for each definition that is given by a path, or that ccmatic does not ship."""
    model = questions.describe(request.on).model
    base, _ = definitions.split("models", model) if model else (None, {})
    if base is not None and base not in definitions.shipped("models"):
        raise InputError(
            f"'{shown(base)}' is no model that ccmatic ships; {suggest(base, definitions.shipped('models'))}"
        )
    for name in questions.beside([expect]):
        if definitions.is_path(name):
            raise InputError(
                f"'{shown(name)}' is a path; expected a controller that ccmatic ships, such as 'beside cubic'"
            )
    try:
        statements = syntax_tree(request.controller).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # The parser reports this error, with its line.
    for statement in statements:
        observation = observation_of(statement)
        if observation and definitions.is_path(observation[1]):
            problem = f"'{shown(observation[1])}' is a path; expected an observation that ccmatic ships"
            raise InputError(problem, str(file), statement.lineno)


def _answer(question: Question, judgement: Judgement) -> dict[str, Any]:
    about = _about(question, judgement.verdict)
    about |= {"left_out": list(map(str, judgement.left_out)), "advice": list(judgement.advice)}
    about["seconds"] = round(judgement.seconds, 2)
    if judgement.trace and judgement.report:
        about["advice"] += question.advice(judgement.trace)
        about |= _counterexample(question, judgement.trace, judgement.report)
    return about


def _about(question: Question, verdict: str) -> dict[str, Any]:
    return {
        "expect": question.text,
        "verdict": verdict,
        "where": question.where,
        "notes": list(question.notes),
        "left_out": [],
        "advice": [],
    }


def _counterexample(question: Question, trace: Trace, report: Report) -> dict[str, Any]:
    """Return the data with which a page steps through a counterexample.

    `lines` has the lines of the edited text that the first flow executes.
    """
    shown = explanation.view(trace, report)
    x = report.query.numbers(trace, report.controller)
    return {
        "measured": question.measured(trace),
        "body": shown.body,
        "data": shown.data,
        "lines": each_of(question.controller)[0].lines_run(x.flows[0]),
        "trace": json.loads(trace.to_json()),
    }


def main() -> None:
    """Answer requests until standard input ends. Then exit at once, even if a request is still in progress."""
    solver = SolverOptions(timeout=float(sys.argv[1]))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests: SimpleQueue[str] = SimpleQueue()
    os.dup2(2, 1)  # Solvers may print to standard output, so answers go only to `out`.
    Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        for part in _parts(requests.get(), solver):
            out.write(f"{json.dumps(part)}\n")
            out.flush()
        out.write("\n")
        out.flush()


def _listen(requests: SimpleQueue[str]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line.decode())
    os._exit(0)


def _parts(text: str, solver: SolverOptions) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of an answer. If the request fails, the last object describes the error."""
    try:
        request = parse_json(text)
        question = convert(request["question"], WorkbenchFile)
        yield from verify(question, solver) if request["verify"] else reopen(question)
    except FieldError as error:
        yield {"refused": {"message": error.message, "file": None, "line": None, "field": error.field}}
    except InputError as error:
        yield {"refused": {"message": error.message, "file": error.file, "line": error.line}}
    except (Disagreement, OutOfTime, SolverEnded) as error:
        yield {"refused": {"message": str(error), "file": None, "line": None}}
    except Exception as error:
        message = f"a fault of ccmatic itself, please report it: {type(error).__name__}: {error}"
        yield {"refused": {"message": message, "file": None, "line": None}}


if __name__ == "__main__":
    main()
