"""A trace as one self-contained HTML page, with a slider over its steps.

Without a script, the page shows all charts, numbers and sentences. The script moves the slider's cursor and shows the
values at the slider's step.
"""

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from importlib.resources import files
from pathlib import Path

from ccmatic import controllers
from ccmatic.answers.explanation import charts
from ccmatic.answers.explanation.reasons import UNITS, decided, leaf_text, number
from ccmatic.answers.explanation.sentences import explain, legend, reasons_of
from ccmatic.answers.verification import Outcome, Report, replay
from ccmatic.base import BYTES, RATE, TIME, InputError, counted
from ccmatic.contracts import BEFORE_TIMEOUT
from ccmatic.logic import isolated
from ccmatic.networks.traces import ROLES, Chart, Form, Lanes, Line, Trace, read_trace, scales
from ccmatic.worlds.text import way_taken

#: The size of a change in C·R_m, and the length of the longest trace for which binding laws are shown. Each number in a
#: trace requires two checks.
LITTLE, LONGEST = Fraction(1, 10**9), 60

WAYS = ((LITTLE, "more"), (-LITTLE, "less"))


#: The words that describe columns in charts, and the visual roles of these columns.
WORDS = {
    "A": ("sent", "sent"),
    "S": ("served", "served"),
    "L": ("lost", "lost"),
    "K": ("tokens", "truth"),
    "r": ("rate", "sent"),
    "Q": ("last byte", "served"),
    "F": ("first byte", "jitter"),
}

#: The charts for a sender at a rate, in order: title, unit, columns, and whether the chart also shows beliefs in that
#: unit.
CHARTS = (
    ("Bytes since the start", BYTES, "ASLK", False),
    ("Sending rate", RATE, "r", False),
    ("Beliefs about rates", RATE, "", True),
    ("Delay", TIME, "QF", True),
    ("Beliefs about bytes", BYTES, "", True),
)

#: The roles that beliefs and other columns take, in order.
OTHERS = ("belief", "probe", "truth", "jitter")

#: The largest belief about a rate that a chart shows, as a multiple of C.
CUT = 10


#: The style of the lines, areas, dots and chips of a role.
_PAINTED = """.line.{role} {{ stroke: var(--{role}); }} .area.{role} {{ fill: var(--{role}); stroke: var(--{role}); }}
.dot.{role}, .chip.{role} {{ background: var(--{role}); }}
"""


@dataclass(frozen=True)
class View:
    """A trace with a slider, for a document that contains `style` and `script`.

    `data` is the argument of the script's function `follow`.
    """

    body: str
    data: dict


@isolated
def trace_page(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> str:
    """Show a trace step by step on an HTML page that needs no other file.

    Args:
        trace: The trace, or its file.
        report: The Report from the trace's replay. By default, the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The text of the page.

    Raises:
        InputError: If `replay` refuses the trace, or if a number is too large to draw.
    """
    report, trace = report or replay(trace, allow_code=allow_code), read_trace(trace)
    shown = view(trace, report)
    kind = "" if all(report.objectives.values()) else "bad"
    model, buffer = (str(trace.query.get(name, "unknown")) for name in ("model", "buffer"))
    parts = {
        "STYLE": style(),
        "SCRIPT": script(),
        "TITLE": escape(f"A trace of {counted(trace.horizon, 'step')}: model {model}, buffer {buffer}"),
        "VERDICT": f'<p id="verdict" class="{kind}" role="status">{escape(_verdict(report))}</p>',
        "QUERY": escape(str(report.query)),
        "WHO": escape(_who(trace, report.controller)),
        "BODY": shown.body,
        "DATA": _json(shown.data),
    }
    return _filled("page.html", parts)


def view(trace, report):
    _require_floats(trace)
    shared, lanes = _drawn(trace, report.query)
    drawn = [*shared, *(chart for lane in lanes for chart in lane.charts)]
    objectives, says = list(_objectives(trace, report)), legend(report.query, trace.columns)
    marks = {}
    for each in objectives:
        marks[each["decided"]] = marks.get(each["decided"], True) and each["met"]
    parts = {
        "LAST": str(trace.horizon - 1),
        "CHARTS": "\n".join(_sections(shared, lanes, trace.horizon, marks)),
        "OBJECTIVES": "\n".join(_objective(each, trace.horizon - 1) for each in objectives),
        "NOW": "\n".join(_now(name, column, says[name]) for name, column in trace.columns.items()),
        "CONTROLLERS": "\n".join(_listings(trace, report.controller)),
        "SENTENCES": "\n".join(f"<li>{escape(text)}</li>" for text in str(explain(trace, report=report)).splitlines()),
        "NUMBERS": _numbers(trace),
        "CONSTANTS": escape(", ".join(f"{name} = {number(value)}" for name, value in trace.constants.items())),
    }
    data = {
        "steps": trace.horizon,
        "columns": {name: [str(value) for value in column] for name, column in trace.columns.items()},
        "charts": [charts.positions(chart, trace.horizon) for chart in drawn],
        "laws": binding(report.query, trace),
        "controller": _choices(trace, report.controller),
    }
    return View(_filled("body.html", parts), data)


def style():
    colours = "".join(f"--{role}: {colour}; " for role, colour in ROLES.items())
    painted = "".join(_PAINTED.format(role=role) for role in ROLES)
    return f":root {{ {colours}}}\n{_text('page.css').replace('@ROLES@', painted)}"


def script():
    return _text("page.js")


def _text(name):
    return (files("ccmatic.answers.explanation") / name).read_text(encoding="utf-8")


def _filled(name, parts):
    """Return a file's text in which each mark @NAME@ is replaced by the part with this name."""
    return re.sub("@([A-Z]+)@", lambda mark: parts[mark[1]], _text(name))


def _json(data):
    """Return data as JSON that cannot end the script element in which it stands."""
    text = json.dumps(data, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _require_floats(trace):
    for name, column in trace.columns.items():
        try:
            _ = [float(value) for value in column]
        except OverflowError:
            raise InputError(f"cannot draw the trace: column {name} has a number above 1e308") from None


def _verdict(report):
    if report.faults:
        return f"This is not a trace of this network and controller: it breaks {counted(len(report.faults), 'law')}."
    return {
        Outcome.BREAKS: "This execution breaks the property.",
        Outcome.KEEPS: "This execution keeps the property.",
        Outcome.CANNOT_BE_JUDGED: f"Whether it breaks the property cannot be judged: {report.reason}.",
    }[report.outcome]


def _named(trace, controller):
    """Return the names of the flows' controllers: one for all flows, or one per flow. An unknown name is empty."""
    if isinstance(controller, controllers.ControllerGroup):
        return [each.name for each in controller.each]
    return [trace.controller_name or ""]


def _who(trace, controller):
    if controller is None:
        return "No controller chose the rates."
    names = _named(trace, controller)
    if len(names) > 1:
        flows = ", ".join(f"flow {flow} runs {name}" for flow, name in enumerate(names, 1))
        return f"{flows[0].upper()}{flows[1:]}."
    return f"The controller is {names[0]}." if names[0] else ""


def _drawn(trace, query):
    """Return the Charts of all flows, and the Lane of each flow. A sender at a rate has no Lane."""
    if not query.model.windows:
        return list(_of_a_rate(trace, query)), ()
    lanes = Lanes.of(trace, query.model)
    if len(lanes.each) == 1:
        return [*lanes.each[0].charts, *lanes.shared], ()
    return list(lanes.shared), lanes.each


def _of_a_rate(trace, query):
    scale, units = scales(trace), query.units()
    left = [name for name in trace.columns if not name.endswith(BEFORE_TIMEOUT)]
    for title, unit, columns, beliefs in CHARTS:
        names = [name for name in columns if name in left]
        names += [name for name in left if beliefs and units.get(name) == unit]
        left = [name for name in left if name not in names]
        if names:
            others, lines = iter(OTHERS * len(names)), []
            for name in names:
                word, role = WORDS.get(name) or ("", next(others))
                values = _scaled(trace, name, 1 if name in query.model.measures else scale[unit])
                lines.append(Line(f"{word}, {name}" if word else name, values, role, _form(name)))
            is_rate = unit == RATE
            yield Chart(title, UNITS[str(unit)], tuple(lines), link=is_rate, cut=CUT if is_rate and beliefs else None)
    own = [name for name in left if name != "Ld"]
    if own:
        roles = zip(own, OTHERS * len(own), strict=False)
        yield Chart("Other columns", "", tuple(Line(name, _scaled(trace, name, 1), role) for name, role in roles))


def _form(name):
    return Form.POINTS if name in "ASLK" else Form.STEPS if name == "r" else Form.HELD


def _scaled(trace, name, unit):
    return tuple(value / unit for value in trace.columns[name])


def _sections(shared, lanes, steps, marks):
    yield from (charts.figure(chart, steps, marks) for chart in shared)
    for lane in lanes:
        drawn = "\n".join(charts.figure(chart, steps, marks) for chart in lane.charts)
        heading = f'<h2><i class="chip flow{lane.number}"></i>{escape(lane.title)}</h2>'
        yield f'<section class="lane" aria-label="{escape(lane.title)}">{heading}\n{drawn}</section>'


def _objectives(trace, report):
    """Yield each objective with the comparisons that decide it, and with the steps of these comparisons."""
    end = trace.horizon - 1
    for name, reason in reasons_of(report, report.query.numbers(trace, report.controller)).items():
        met = report.objectives[name]
        leaves = reason.leaves(met)
        parts = [{"text": leaf_text(leaf, end), "step": decided(leaf.reason, leaf.truth, end)} for leaf in leaves]
        yield {"name": name, "met": met, "decided": decided(reason, met, end), "parts": parts}


def _objective(each, end):
    state = "met" if each["met"] else "not met"
    at = f"decided at t = {each['decided']}{', the end' if each['decided'] == end else ''}"
    parts = "".join(f'<li data-step="{part["step"]}">{escape(part["text"])}</li>' for part in each["parts"])
    kind = "met" if each["met"] else "broken"
    return (
        f'<li class="{kind}" data-kind="{kind}" data-decided="{each["decided"]}">'
        f'<span class="state" data-state="{state}">{state}</span><span>{escape(each["name"])}</span>'
        f"<small>{at}</small><ul>{parts}</ul></li>"
    )


def _now(name, column, says):
    value = f'<td class="number" data-column="{escape(name)}">{escape(str(column[0]))}</td>'
    return f"<tr><td>{escape(name)}</td>{value}<td>{escape(says)}</td></tr>"


def _numbers(trace):
    head = "".join(f"<th>{escape(name)}</th>" for name in ("t", *trace.columns))
    rows = ("".join(f"<td>{escape(str(value))}</td>" for value in row.values()) for row in trace.rows())
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table id="all"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'


def _listings(trace, controller):
    if controller is None:
        yield "<pre>none, the rates are arbitrary</pre>"
        return
    names, each = _named(trace, controller), controllers.each_of(controller)
    for flow, (name, one) in enumerate(zip(names, each, strict=True), 1):
        title = f"Flow {flow}: {name}" if len(each) > 1 else name
        lines = "".join(f"<span>{escape(line)}</span>" for line in one.pretty().splitlines())
        yield f"{f'<h3>{escape(title)}</h3>' if title else ''}<pre>{lines}</pre>"


def _choices(trace, controller):
    """Return, for each step, which lines of a controller were true or false, and the rates that an envelope allowed.

    Step 0 has no entries, because no decision leads to it. Without a controller, or with state, return None.
    """
    if not isinstance(controller, controllers.Controller):
        return None
    taken = [way_taken(controller.body, inputs) for inputs in trace.decisions(controller.parameters)]
    allowed = map(_band, trace.allowed(controller)) if controller.is_envelope else [""] * (trace.horizon - 1)
    return {"taken": [{}, *taken], "allowed": ["", *allowed]}


def _band(rates):
    return f", from {number(rates.low)} to {number(rates.high)}" if rates else ", at any rate"


def binding(query, trace):
    """Return, for each step, texts with a column and a law that does not allow a larger or smaller value in it.

    The lists are empty if the trace has more steps than LONGEST.
    """
    if trace.horizon > LONGEST:
        return [[] for _ in range(trace.horizon)]
    chosen = ["S", *(["K"] if "K" in query.model.declared() else []), *(["L"] if query.buffer.finite else [])]
    names = [name for name in chosen if name in trace.columns]
    before = _broken(query, trace)
    return [[line for name in names for line in _lines(query, trace, name, t, before)] for t in range(trace.horizon)]


def _lines(query, trace, name, t, before):
    column = trace.columns[name]
    for little, word in WAYS:
        other = trace.with_columns(**{name: (*column[:t], column[t] + little, *column[t + 1 :])})
        for law in sorted(_broken(query, other) - before):
            if law[1] == t:
                yield f"{name} cannot be {word}: {law[0].replace('_', ' ')}"


def _broken(query, trace):
    laws = query.model.network(query.observed(trace))
    return {(name, t) for name, t, condition in laws if condition is False}
