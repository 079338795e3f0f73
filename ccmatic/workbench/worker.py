"""A process that answers requests of pages, one after another: `python -m ccmatic.workbench.worker SECONDS`.

Each line of standard input is a request. The answer is a series of JSON lines on standard output, and an empty line
ends it. To stop a request, the server kills the process, so this code does not need to handle interrupts.
"""

import json
import os
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

from ccmatic.base import Disagreement, InputError, OutOfTime, SolverEnded, parse_json
from ccmatic.logic.solving import SolverOptions
from ccmatic.records import WorkbenchFile, convert
from ccmatic.workbench import answers


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
        yield from answers.verify(question, solver) if request["verify"] else answers.reopen(question)
    except answers.FieldError as error:
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
