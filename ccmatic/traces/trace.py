"""A trace: what one execution of a controller over a network did, step by step, in exact rationals."""

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ccmatic import __version__, records
from ccmatic.base import CONSTANTS, InputError, markup, parse_json, read_text, write_text
from ccmatic.records import QueryRecord, TraceFile
from ccmatic.traces import drawing


@dataclass(frozen=True)
class Trace:
    """An execution sampled once a step, at t = 0 … horizon-1; the one object that solver answers,
    simulations, plots and exporters share.

    One step is R_m and the link rate is C, both 1 unless `constants` says otherwise; so time is in R_m,
    bytes are in C·R_m, rates in C.

    constants: `C`, `R_m`, `D`, `MSS`, and `beta` unless the buffer is infinite.
    columns:   a name to `horizon` values. Cumulative bytes: `A` sent, `S` served, `L` lost, `Ld` loss
               detected by the sender, `K` tokens admitted. `r`: the sending rate over (t-1, t]. `Q` (and
               `F`): whole steps of delay of the last (first) byte served, `horizon` where it is at least
               that. Beliefs by their names.
    query:     what was asked: `model`, `buffer`, `jitter`, `property` and its parameters.
    controller: the source of the controller whose rates these are, or None for rates that nobody decided.
    controller_name: of the controller, for titles; None if it is not known.
    broken:    what of the property the trace breaks, in the property's words.
    """

    horizon: int
    constants: dict[str, Fraction]
    columns: Mapping[str, Sequence[Fraction]]
    query: dict[str, Any]
    controller: str | None = None
    broken: tuple[str, ...] = ()
    altered: bool = False
    controller_name: str | None = None

    def with_columns(self, **columns: Sequence[Any]) -> "Trace":
        """The same trace with columns added or replaced, each of `horizon` Fractions."""
        return replace(self, columns={**self.columns, **columns})

    def tokens(self, model):
        """Tokens admitted by each step: the column K, or what a Model of windows makes of its own columns, where K may
        be what the controller remembers. Raises KeyError with the name of what is missing."""
        if model is None or not model.windows:
            return self.columns["K"]
        seen = {**self.columns, "C": self.constants["C"], "constants": self.constants}
        try:
            return tuple(model.tokens(SimpleNamespace(**seen), t) for t in range(self.horizon))
        except AttributeError as error:
            raise KeyError(error.name) from None

    def measuring(self, measures):
        """The same trace with these measured delays, of the names Q and F, and no other."""
        columns = {name: column for name, column in self.columns.items() if name in measures or name not in ("Q", "F")}
        return replace(self, columns=columns)

    def decisions(self, names):
        """What a sender that reads these names knows as it chooses r at t = 1, 2, …: the constants, and its beliefs as
        they were a step before. No column stands for a constant."""
        for t in range(self.horizon - 1):
            yield {name: self.constants[name] if name in CONSTANTS else self.columns[name][t] for name in names}

    def allowed(self, controller):
        """What a controller allows of r at t = 1, 2, …, a list: see `Controller.allowed`, which also says what it
        raises. Raises KeyError for a belief that the trace lacks."""
        inputs = self.decisions({*controller.parameters, "R_m", "MSS"})
        return [controller.allowed(values) for values in inputs]

    def rows(self):
        """One dict a step: `t` and each column's value."""
        for t in range(self.horizon):
            yield {"t": t, **{name: column[t] for name, column in self.columns.items()}}

    def to_json(self):
        """The trace as JSON text; every rational is a string such as "3/10"."""
        made = TraceFile(
            made_by=f"ccmatic {__version__}",
            query=records.convert(self.query, QueryRecord),
            horizon=self.horizon,
            broken=list(self.broken),
            constants=self.constants,
            columns={name: list(column) for name, column in self.columns.items()},
            controller=self.controller,
            controller_name=self.controller_name or records.ABSENT,
        )
        data = records.data(made)
        return json.dumps({**data, "digest": _digest(data)}, indent=1)

    @staticmethod
    def from_json(text, file=None):
        """The trace that `to_json` wrote. Raises InputError that names `file` where it is not one."""
        data = parse_json(text, file)
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
            altered="digest" in data and data.pop("digest") != _digest(data),
        )
        for name in ("C", "R_m", "D", "MSS"):
            if name not in trace.constants:
                raise InputError(f"the trace has no constant {name}", file)
        if trace.constants["R_m"] <= 0:
            raise InputError(f"R_m is {trace.constants['R_m']}; expected a number > 0", file)
        for name, column in trace.columns.items():
            if len(column) != trace.horizon:
                raise InputError(f"column {name} has {len(column)} values, expected {trace.horizon}", file)
        return trace

    @staticmethod
    def load(path):
        """Read a trace from a JSON file. Raises InputError, with the file, if it cannot be read or is no trace."""
        return Trace.from_json(read_text(path), str(path))

    def save(self, path):
        """Write the trace to `path`: as CSV where the name ends in .csv, else as JSON."""
        path = Path(path)
        if path.suffix == ".csv":
            write_text(path, self.to_csv())
        else:
            write_text(path, self.to_json() + "\n")

    def to_csv(self):
        """CSV as text: a header and a row a step, exact, with columns of their own for the constants."""
        out = StringIO()
        constants = {name: str(value) for name, value in self.constants.items()}
        writer = csv.DictWriter(out, ["t", *self.columns, *constants], lineterminator="\n")
        writer.writeheader()
        for row in self.rows():
            writer.writerow({**row, **constants})
        return out.getvalue()

    def plot(self):
        """A drawing of the trace, a matplotlib Figure, which a notebook shows; no file is written. Raises InputError if
        matplotlib is missing, or the trace lacks what is drawn."""
        return drawing.plot(self)

    def to_numpy(self):
        """A dict of float arrays, an element a step: `t`, in R_m, and each column by its name, in the trace's units.
        Raises InputError for a value that is too large for a float."""
        import numpy

        try:
            columns = {name: numpy.array([float(value) for value in column]) for name, column in self.columns.items()}
        except OverflowError:
            raise InputError("a value is too large for a float; `rows` gives exact ones") from None
        return {"t": numpy.arange(self.horizon, dtype=float), **columns}

    def to_pandas(self):
        """The arrays of `to_numpy` as a DataFrame with the index `t`. Raises InputError where pandas is missing."""
        try:
            import pandas
        except ImportError:
            raise InputError("a DataFrame needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.to_numpy()).set_index("t")

    def __repr__(self):
        return f"<trace of {self.horizon} steps{self._breaks()}; columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        constants = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        rows = [row.values() for row in self.rows()]
        heading = [f"trace of {self.horizon} steps{self._breaks()}", constants]
        return markup.paragraphs(heading) + markup.table(("t", *self.columns), rows)

    def _breaks(self):
        return f", breaks {'; '.join(self.broken)}" if self.broken else ""


def _digest(data):
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
