"""The file that describes a widening, and the check of its folder.

The check needs a solver only if it verifies envelopes again.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ccmatic import __version__, records
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome, check_trace
from ccmatic.base import InputError, located, parse_json, read_text
from ccmatic.controllers import parse
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries
from ccmatic.records import QueryRecord, WideningFile
from ccmatic.synthesis.widening.ends import Grid
from ccmatic.synthesis.widening.search import Checkpoint, as_wide, inside

#: The name of the file that describes the other files in the folder.
ABOUT = "widening.json"


def envelope_name(widening, number):
    """Return the name of a maximal envelope by its number, which starts at 1."""
    return f"{widening.grid.controller.name}_wider_{number}"


def trace_name(number):
    """Return the file name of a breaking trace by its number, which starts at 0."""
    return f"breaks_{number + 1}.json"


def envelope_docstring(widening, number):
    """Return the docstring of a maximal envelope."""
    around = f"{envelope_name(widening, number)}: around {widening.grid.controller.name}"
    return f"{around}, found by ccmatic {__version__} for the query {widening.query.name}."


def to_json(widening):
    """Return the text of the file ABOUT."""
    controller = widening.grid.controller
    made = WideningFile(
        made_by=f"ccmatic {__version__}",
        query=records.convert(widening.query.identity(), QueryRecord),
        controller=controller.name,
        source=controller.source,
        step=widening.grid.step,
        most=widening.grid.most,
        envelopes={
            f"{envelope_name(widening, n)}.py": list(point) for n, point in enumerate(widening.maximal, start=1)
        },
        breaking=[trace_name(number) for number in range(len(widening.breaking))],
    )
    return json.dumps(records.data(made), indent=1) + "\n"


def unfinished(folder, query, grid):
    """Return the Checkpoint that an interrupted search left in a folder.

    If the folder has no interrupted search, or a search with another query or grid, the Checkpoint is empty.
    """
    file = Path(folder) / ABOUT
    if not file.exists():
        return Checkpoint()
    with located(str(file)):
        about = records.convert(parse_json(read_text(file)), WideningFile, str(file), "not a whole widening")
        expected = records.convert(query.identity(), QueryRecord), grid.controller.source, grid.step, grid.most
        if (about.query, about.source, about.step, about.most) != expected:
            return Checkpoint()
        traces = tuple(Trace.load(file.with_name(Path(name).name)) for name in about.breaking)
    for trace in traces:
        if check_trace(query, trace).outcome is not Outcome.BREAKS:
            raise InputError("it breaks nothing; remove the folder", str(folder))
    return Checkpoint(tuple(map(tuple, about.envelopes.values())), traces)


@dataclass(frozen=True)
class WideningReport:
    """The result of checking the folder of a widening.

    Attributes:
        envelopes: The number of envelopes in the folder.
        traces: The number of traces in the folder.
        grid: The number of envelopes on the grid.
        faults: The mistakes in the folder, as sentences.
        uncovered: The Python text of an envelope about which no file decides, or None.
        verified: Whether the envelopes in the folder were verified again.
        undecided: The files of envelopes whose verification timed out.
    """

    envelopes: int
    traces: int
    grid: int
    faults: tuple[str, ...]
    uncovered: str | None
    verified: bool
    undecided: tuple[str, ...] = ()

    @property
    def complete(self):
        """Whether the folder contains all maximal envelopes, provided that its envelopes hold."""
        return not self.faults and self.uncovered is None


def check_widening(folder, allow_code=False, verify=None) -> WideningReport:
    """Check a folder of `ccmatic widen`: replayed traces must break every envelope outside the maximal ones.

    Args:
        folder: The folder.
        allow_code: Whether to run the files that the query names.
        verify: The SolverOptions for verifying each maximal envelope again. By default, the envelopes are trusted.

    Raises:
        InputError: If the folder contains no widening, or names code that may not be run.
    """
    folder = Path(folder)
    file = folder / ABOUT
    with located(str(file)):
        about = records.convert(parse_json(read_text(file)), WideningFile, str(file), "not a whole widening")
        query = queries.from_record(about.query, allow_code)
        query.require_unchanged(about.query)
        controller = parse(about.source, about.controller, str(file), query.units())
        grid = Grid(controller, query.units(), about.step, about.most)
    check = _Check(folder, query, grid)
    for name in about.breaking:
        check.check_file(name, check.breaks)
    for name, point in about.envelopes.items():
        check.check_file(name, lambda path, point=tuple(point): check.holds(path, point, verify))
    left = np.argwhere(~(check.good | check.bad))
    uncovered = grid.source(tuple(left[0].tolist()), "nothing decides whether this holds") if len(left) else None
    sizes = len(about.envelopes), len(about.breaking), int(check.good.size)
    return WideningReport(*sizes, tuple(check.faults), uncovered, verify is not None, tuple(check.undecided))


class _Check:
    """The envelopes of a grid that the files in a folder decide."""

    def __init__(self, folder, query, grid):
        self._folder, self._query, self._grid = folder, query, grid
        self.good, self.bad = np.zeros(grid.shape, bool), np.zeros(grid.shape, bool)
        self.faults, self.undecided = [], []

    def check_file(self, name, take):
        """Check a file, and record a mistake if the file has one."""
        try:
            if Path(name).name != name:
                raise InputError("expected a file in the folder")
            take(self._folder / name)
        except InputError as error:
            self.faults.append(f"{name}: {error.message}")

    def breaks(self, path):
        """Record a trace. The trace breaks all envelopes that allow its rates."""
        trace = Trace.load(path)
        report = check_trace(self._query, trace)
        if report.outcome is not Outcome.BREAKS:
            raise InputError(f"expected a trace that breaks the property; {report}")
        self.bad[as_wide(self._grid.least(trace))] = True

    def holds(self, path, point, verify):
        """Record an envelope.

        The envelope must equal the grid's envelope at its point. If a trace of the file breaks the envelope, or the
        verification refutes it, the method raises InputError.
        """
        shape = self._grid.shape
        if len(point) != len(shape) or any(not 0 <= i < n for i, n in zip(point, shape, strict=True)):
            raise InputError(f"its point is {list(point)}; expected one of the grid's, {shape}")
        envelope, there = self._grid.envelope(point), self._query.read_controller(read_text(path))
        if envelope.body != there.body:
            raise InputError("it is not the envelope at its point")
        if self.bad[point]:
            raise InputError("a trace breaks it")
        verdict = HOLDS if verify is None else Judge(self._query, verify).judge(envelope).verdict
        if verdict == VIOLATED:
            raise InputError("the verifier finds a trace that breaks it")
        if verdict != HOLDS:
            self.undecided.append(path.name)
        self.good[inside(point)] = True
