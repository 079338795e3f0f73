"""A trace as one HTML page that needs nothing else: curves with a slider over the steps, and what holds at each."""

import json
import re
from html import escape
from importlib.resources import files

from ccmatic import controllers, records
from ccmatic.base import InputError
from ccmatic.compilers.text import way_taken
from ccmatic.contracts import BEFORE_TIMEOUT
from ccmatic.explanation.binding import binding
from ccmatic.explanation.sentences import explain, legend, observed, reasons_of
from ccmatic.explanation.words import number, told
from ccmatic.verification import Outcome

#: What is drawn together, in this order: title, columns; the sender's beliefs go where their unit is.
CHARTS = (
    ("Bytes since the start (C·R_m)", ("A", "S", "L", "K")),
    ("Sending rate (C)", ("r",)),
    ("Beliefs about rates (C)", "rate"),
    ("Delay (R_m)", ("Q", "F"), "time"),
    ("Beliefs about bytes (C·R_m)", "bytes"),
)


def page(trace, report):
    """The page, as text; report: of the trace's replay. Raises InputError if a number is too large to be drawn."""
    data = json.dumps(_data(trace, report), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    folder = files("ccmatic.explanation")
    html, style, script = ((folder / f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    parts = {"STYLE": style, "SCRIPT": script, "TITLE": escape(_title(trace)), "DATA": data}
    return re.sub("@([A-Z]+)@", lambda mark: parts[mark[1]], html)


def _title(trace):
    model, buffer = (str(trace.query.get(name, "unknown")) for name in ("model", "buffer"))
    return f"A trace of {trace.horizon} steps: model {model}, buffer {buffer}"


def _data(trace, report):
    told_of = explain(trace, report)
    says = legend(report.query, trace.columns)
    return {
        "title": _title(trace),
        "verdict": _verdict(report),
        "query": str(report.query),
        "sentences": records.data(told_of.record()),
        "constants": [[name, number(value)] for name, value in trace.constants.items()],
        "steps": trace.horizon,
        "columns": [
            {"name": name, "says": says[name], "values": _drawn(name, column), "exact": [str(v) for v in column]}
            for name, column in trace.columns.items()
        ],
        "charts": list(_charts(trace, report.query)),
        "laws": binding(report.query, trace),
        "controller": _controller(trace, report.controller),
        "objectives": list(_objectives(trace, report)),
    }


def _verdict(report):
    if report.faults:
        return f"This is no trace of this network and controller: it breaks {len(report.faults)} laws."
    return {
        Outcome.BREAKS: "This execution breaks the property.",
        Outcome.KEEPS: "This execution keeps the property.",
        Outcome.CANNOT_BE_JUDGED: f"Whether it breaks the property cannot be judged: {report.reason}.",
    }[report.outcome]


def _drawn(name, column):
    try:
        return [float(value) for value in column]
    except OverflowError:
        raise InputError(f"cannot draw the trace: column {name} has a number above 1e308") from None


def _charts(trace, query):
    units = {name: str(unit) for name, unit in query.units().items()}
    left = [name for name in trace.columns if not name.endswith(BEFORE_TIMEOUT)]
    for title, *kinds in CHARTS:
        names = [n for kind in kinds for n in left if (n in kind and isinstance(kind, tuple)) or units.get(n) == kind]
        if names:
            yield {"title": title, "names": names, "link": title.startswith("Beliefs about rates")}
        left = [name for name in left if name not in names]
    own = [name for name in left if name != "Ld"]
    if own:
        yield {"title": "Other columns", "names": own, "link": False}


def _controller(trace, controller):
    """The lines of the controller, and for each step those that were read and what an envelope allowed; nothing decides
    the step 0."""
    if controller is None:
        return None
    lines, unsaid = controller.pretty().splitlines(), [""] * trace.horizon
    if isinstance(controller, controllers.Stateful):
        return {"lines": lines, "taken": [{}] * trace.horizon, "allowed": unsaid}
    taken = [way_taken(controller.body, inputs) for inputs in trace.decisions(controller.parameters)]
    allowed = ["", *map(_band, trace.allowed(controller))] if controller.is_envelope else unsaid
    return {"lines": lines, "taken": [{}, *taken], "allowed": allowed}


def _band(rates):
    return f", from {number(rates.low)} to {number(rates.high)}" if rates else ", at any rate"


def _objectives(trace, report):
    """Each objective, with the comparisons that decide it and the step at which each is."""
    end = trace.horizon - 1
    for name, reason in reasons_of(report, observed(trace, report)).items():
        met = report.objectives[name]
        leaves = reason.leaves(met)
        parts = [{"text": told(leaf, end), "step": getattr(leaf.reason, "step", None) or end} for leaf in leaves]
        yield {"name": name, "met": met, "parts": parts}
