"""A trace: one execution of a controller on a network, step by step, in exact rational numbers."""

import csv
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ccmatic import __version__, records
from ccmatic.base import CONSTANTS, InputError, counted, markup, parse_json, read_text, write_text
from ccmatic.contracts import Model
from ccmatic.records import PathRecord, QueryRecord, TraceFile


@dataclass(frozen=True)
class Trace:
    """One execution, sampled once per step at t = 0 … horizon-1.

    Solvers and simulations produce traces; drawings and exports read them. One step lasts R_m, and the link's rate is
    C. Both C and R_m are 1 unless `constants` has other values. So times are in R_m, bytes in C·R_m, and rates in C.

    Attributes:
        horizon: The number of values in each column.
        constants: The values of `C`, `R_m`, `D`, `MSS`, and of `beta` unless the buffer is infinite.
        columns: The columns by name, each with `horizon` values. The columns of cumulative bytes are: `A` (bytes sent),
            `S` (bytes served), `L` (bytes lost), `Ld` (losses that the sender has detected), and `K` (tokens admitted).
            The column `r` is the sending rate over (t-1, t]. The column `Q` (or `F`) is the delay, in whole steps, of
            the last (or first) byte served; the value `horizon` stands for a delay of at least `horizon`. Beliefs have
            columns under their own names.
        query: The query behind the trace, as text: `model`, `buffer`, `jitter`, `property` and the property's
            parameters.
        controller: The source of the controller that chose the rates; None if no controller chose them.
        broken: The conditions of the property that the trace violates, in the words of the property.
        altered: Whether someone changed the file after the trace was saved.
        controller_name: The controller's name, for titles; None if it is unknown.
        path: The path in the question behind the trace, in the user's units; None if the question names no path.
    """

    horizon: int
    constants: dict[str, Fraction]
    columns: Mapping[str, Sequence[Fraction]]
    query: dict[str, Any]
    controller: str | None = None
    broken: tuple[str, ...] = ()
    altered: bool = False
    controller_name: str | None = None
    path: PathRecord | None = None

    def with_columns(self, **columns: Sequence[Any]) -> "Trace":
        """Return the same trace with additional or replaced columns, each with `horizon` Fractions."""
        return replace(self, columns={**self.columns, **columns})

    def tokens(self, model: Model | None) -> Sequence[Any]:
        """Return the cumulative tokens admitted by the end of each step.

        The tokens are the column K. A Model of windows computes the tokens from its own columns, because its column K
        may be a state of a controller.

        Raises:
            KeyError: If a column is missing; the error has the column's name.
        """
        if model is None or not model.windows:
            return self.columns["K"]
        view: Any = SimpleNamespace(**{**self.columns, "C": self.constants["C"], "constants": self.constants})
        try:
            return tuple(model.tokens(view, t) for t in range(self.horizon))
        except AttributeError as error:
            raise KeyError(error.name) from None

    def measuring(self, measures: Collection[str]) -> "Trace":
        """Return the same trace without the measured delays (Q and F) that `measures` does not name."""
        columns = {name: column for name, column in self.columns.items() if name in measures or name not in ("Q", "F")}
        return replace(self, columns=columns)

    def decisions(self, names: Collection[str]) -> Iterator[dict[str, Fraction]]:
        """Yield, for t = 1, 2 and so on, the values of these names. From these values, a sender chooses its rate r.

        These values are the constants, and the sender's beliefs of the previous step. The value of a constant never
        comes from a column.
        """
        for t in range(self.horizon - 1):
            yield {name: self.constants[name] if name in CONSTANTS else self.columns[name][t] for name in names}

    def allowed(self, controller: Any) -> list[Any]:
        """Return the rates that a controller allows at t = 1, 2, …; see `Controller.allowed`, also for errors.

        Raises:
            KeyError: If the trace lacks a belief that the controller reads.
        """
        inputs = self.decisions({*controller.parameters, "R_m", "MSS"})
        return [controller.allowed(values) for values in inputs]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a dict for each step, with `t` and the value of each column."""
        for t in range(self.horizon):
            yield {"t": t, **{name: column[t] for name, column in self.columns.items()}}

    def to_json(self) -> str:
        """Return the trace as JSON text. Every rational is a string such as "3/10"."""
        made = TraceFile(
            made_by=f"ccmatic {__version__}",
            query=records.convert(self.query, QueryRecord),
            horizon=self.horizon,
            broken=list(self.broken),
            constants=self.constants,
            columns={name: list(column) for name, column in self.columns.items()},
            controller=self.controller,
            controller_name=self.controller_name or records.ABSENT,
            path=self.path or records.ABSENT,
        )
        data = records.data(made)
        return json.dumps({**data, "digest": _digest(data)}, indent=1)

    @staticmethod
    def from_json(text: str, file: str | None = None) -> "Trace":
        """Read the trace that `to_json` wrote. If the text is no valid trace, raise InputError, which names `file`."""
        data = parse_json(text, file, "a trace (.json)")
        records.require_format(data, TraceFile, file)
        read = records.convert(data, TraceFile, file, "not a complete trace")
        trace = Trace(
            horizon=read.horizon,
            constants=read.constants,
            columns={name: tuple(column) for name, column in read.columns.items()},
            query=records.data(read.query),
            controller=read.controller,
            broken=tuple(read.broken),
            controller_name=None if read.controller_name is records.ABSENT else read.controller_name,
            path=None if read.path is records.ABSENT else read.path,
            altered="digest" in data and data.pop("digest") != _digest(data),
        )
        for name in ("C", "R_m", "D", "MSS"):
            if name not in trace.constants:
                raise InputError(f"the trace has no constant {name}", file)
        if trace.constants["R_m"] <= 0:
            raise InputError(f"R_m is {trace.constants['R_m']}; expected a number > 0", file)
        if trace.path:
            sent = trace.constants["MSS"] * trace.path.rate * trace.path.step  # bytes are in C times a step
            if sent != trace.path.packet * trace.constants["C"]:
                found = f"packets of {trace.path.packet} bytes on this path are not the MSS of the trace"
                raise InputError(f"path: {found}; expected the path of the trace's question", file)
        for name, column in trace.columns.items():
            if len(column) != trace.horizon:
                raise InputError(f"column {name} has {counted(len(column), 'value')}, expected {trace.horizon}", file)
        return trace

    @staticmethod
    def load(path: str | Path) -> "Trace":
        """Read a trace from a JSON file. If it is unreadable or no trace, raise InputError, which names the file."""
        return Trace.from_json(read_text(path), str(path))

    def save(self, path: str | Path) -> None:
        """Write the trace to `path`, as CSV if the file name ends in .csv, otherwise as JSON."""
        path = Path(path)
        if path.suffix == ".csv":
            write_text(path, self.to_csv())
        else:
            write_text(path, self.to_json() + "\n")

    def to_csv(self) -> str:
        """Return the trace as exact CSV: a header and one row for each step. The constants are columns, too."""
        out = StringIO()
        constants = {name: str(value) for name, value in self.constants.items()}
        writer = csv.DictWriter(out, ["t", *self.columns, *constants], lineterminator="\n")
        writer.writeheader()
        for row in self.rows():
            writer.writerow({**row, **constants})
        return out.getvalue()

    def plot(self) -> Any:
        """Return a drawing of the trace: a matplotlib Figure that a notebook displays. This writes no file.

        Raises:
            InputError: If matplotlib is missing, or the trace lacks a value for the drawing.
        """
        from ccmatic.networks.traces import drawing

        return drawing.plot(self)

    def to_numpy(self) -> dict[str, Any]:
        """Return float arrays by name, with one element per step: `t` in R_m, and each column in the trace's units.

        Raises:
            InputError: If a value is too large for a float.
        """
        import numpy

        try:
            columns = {name: numpy.array([float(value) for value in column]) for name, column in self.columns.items()}
        except OverflowError:
            raise InputError("a value is too large for a float; `rows` gives exact ones") from None
        return {"t": numpy.arange(self.horizon, dtype=float), **columns}

    def to_pandas(self) -> Any:
        """Return the arrays of `to_numpy` as a DataFrame whose index is `t`. Raise InputError if pandas is missing."""
        try:
            import pandas
        except ImportError:
            raise InputError("a DataFrame needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.to_numpy()).set_index("t")

    def __repr__(self) -> str:
        return f"<trace of {counted(self.horizon, 'step')}{self._breaks()}; columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        constants = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        rows = [row.values() for row in self.rows()]
        heading = [f"trace of {counted(self.horizon, 'step')}{self._breaks()}", constants]
        return markup.paragraphs(heading) + markup.table(("t", *self.columns), rows)

    def _breaks(self) -> str:
        return f", breaks {'; '.join(self.broken)}" if self.broken else ""


def read_trace(trace: Trace | str | Path) -> Trace:
    """Return a trace that is given as such or as its file."""
    return trace if isinstance(trace, Trace) else Trace.load(trace)


def _digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
