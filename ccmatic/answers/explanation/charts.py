"""Charts of a page, as HTML without scripts. Lines stretch with the width of the page, but text does not."""

from html import escape
from itertools import pairwise
from math import ceil, floor, log10

from ccmatic.answers.explanation.reasons import number
from ccmatic.networks.traces import DASHES, Form, Kind, apart

#: Sizes in pixels: the smallest height of a chart, the height of a strip, the height of a name beside a line, and the
#: width of the drawing, which stretches.
HEIGHT, STRIP, NAME, WIDTH = 150, 26, 19, 1000

#: The largest number of labels on the time axis.
TIMES = 14


def figure(chart, steps, marks):
    """Return a chart as HTML. `marks` has the steps at which objectives are decided, and whether all those are met."""
    area = _Area(chart, steps)
    says = f"{chart.heading}: {'; '.join(line.label for line in chart.lines)}"
    svg = f'<svg viewBox="0 0 {WIDTH} {area.height}" preserveAspectRatio="none" role="img" aria-label="{escape(says)}">'
    dots = "".join(f'<i class="dot {line.role}"></i>' for line in chart.lines) if chart.kind is Kind.LINES else ""
    return (
        f'<figure data-kind="{chart.kind.value}"><figcaption>{escape(chart.heading)}</figcaption>'
        f'<div class="frame"><div class="ticks" style="height:{area.height}px">{"".join(area.ticks())}</div>'
        f'<div class="plot" style="height:{area.height}px">{svg}{"".join(area.drawn())}</svg><i class="now"></i>{dots}'
        f'</div><div class="names" style="min-height:{area.height}px">{"".join(area.names())}</div>'
        f'<div class="times">{"".join(area.times(marks))}</div></div></figure>'
    )


def positions(chart, steps):
    """Return the data that the slider reads: for each line and step, the height in pixels and the value as text."""
    area = _Area(chart, steps)
    return [
        {"y": [area.down(value) for value in drawn.values], "text": [_value(chart, value) for value in line.values]}
        for line, drawn in zip(chart.lines, chart.stacked(), strict=True)
    ]


def _value(chart, value):
    if chart.kind is Kind.STRIPS:
        return "yes" if value else "no"
    text = number(value)
    return text if text.startswith("≈") else f"= {text}"


class _Area:
    """The drawing area of a chart. Vertical positions are pixels from the top, horizontal ones fractions of WIDTH."""

    def __init__(self, chart, steps):
        self.chart, self._last = chart, steps - 1
        self._low, self._high = chart.range
        rows = len(chart.lines) + chart.link
        strips = chart.kind is Kind.STRIPS
        self.height = STRIP * rows if strips else max(HEIGHT, NAME * rows)

    def down(self, value):
        """Return the distance of a value from the top of the area, where values above it are drawn, too."""
        share = (min(float(value), self._high) - self._low) / (self._high - self._low)
        return round((1 - share) * self.height, 1)

    def _across(self, t):
        return round(WIDTH * (t / self._last if self._last else 0.5), 1)

    def ticks(self):
        if self.chart.kind is not Kind.STRIPS:
            yield from (f'<span style="top:{self.down(value)}px">{value:g}</span>' for value in self._round())

    def _round(self):
        """Return about four round values between the smallest and the largest value."""
        rough = (self._high - self._low) / 4
        power = 10.0 ** floor(log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
        return [float(f"{n * step:.6g}") for n in range(ceil(self._low / step), floor(self._high / step) + 1)]

    def times(self, marks):
        for t in range(0, self._last + 1, ceil((self._last + 1) / TIMES)):
            yield f'<span style="left:{self._across(t) / 10:g}%">{t}</span>'
        for t, met in marks.items():
            kind = "met" if met else "broken"
            yield f'<i class="mark {kind}" style="left:{self._across(t) / 10:g}%"></i>'
        yield "<em>time (R_m)</em>"

    def drawn(self):
        if self.chart.kind is Kind.STRIPS:
            yield from self._strips()
            return
        for value in self._round():
            yield self._level("grid", value)
        yield from self._areas() if self.chart.kind is Kind.STACK else self._lines()
        if self.chart.link:
            yield self._level("link", 1)

    def _level(self, kind, value):
        y = self.down(value)
        return f'<line class="{kind}" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>'

    def _lines(self):
        for line, rank in zip(self.chart.lines, self.chart.ranks(), strict=True):
            points = " ".join(f"{x:g},{y:g}" for x, y in self._corners(line))
            yield f'<polyline class="line {line.role}" points="{points}"{_dash(rank)}/>'

    def _corners(self, line):
        at = [(self._across(t), self.down(value)) for t, value in enumerate(line.values)]
        if line.form is Form.POINTS:
            return at
        corners = at[:1] if line.form is Form.HELD else []
        for (begin, before), (end, after) in pairwise(at):
            corners += [(end, before), (end, after)] if line.form is Form.HELD else [(begin, after), (end, after)]
        return corners

    def _areas(self):
        low = [0.0] * (self._last + 1)
        for line in self.chart.stacked():
            high = [float(value) for value in line.values]
            for t, bottom, top in line.areas(low, high):
                begin, end = self._across(t - 1), self._across(t)
                corners = ((begin, bottom[0]), (begin, top[0]), (end, top[1]), (end, bottom[1]))
                points = " ".join(f"{x:g},{self.down(value):g}" for x, value in corners)
                yield f'<polygon class="area {line.role}" points="{points}"/>'
            low = high

    def _strips(self):
        for row, line in enumerate(self.chart.lines):
            for t, value in enumerate(line.values):
                if value:
                    x, width = self._across(t), max(self._across(min(t + 1, self._last)) - self._across(t), 8)
                    place = f'x="{x:g}" width="{width:g}" y="{row * STRIP + 4}" height="{STRIP - 8}"'
                    yield f'<rect class="area {line.role}" {place}/>'

    def names(self):
        """Yield the names of lines without overlap, near the ends of their lines, or near the areas of a stack."""
        chart, wanted = self.chart, []
        tops = [self.down(line.values[-1]) for line in chart.stacked()]
        match chart.kind:
            case Kind.STRIPS:
                wanted = [(row + 0.5) * STRIP for row in range(len(tops))]
            case Kind.STACK:
                wanted = [(top + low) / 2 for top, low in zip(tops, [self.down(0), *tops], strict=False)]
            case Kind.LINES:
                wanted = tops
        ranks = chart.ranks() if chart.kind is Kind.LINES else [None] * len(wanted)
        named = [
            (place, _sample(line.role, rank), escape(line.label), index)
            for index, (place, line, rank) in enumerate(zip(wanted, chart.lines, ranks, strict=True))
        ]
        if chart.link:
            named.append((self.down(1), _sample("link", 0), "the link's rate, C", None))
        named.sort(key=lambda each: each[0])
        places = apart([place for place, *_ in named], NAME, self.height)
        for place, (_, sample, label, index) in zip(places, named, strict=True):
            value = "" if index is None else f' <b data-line="{index}"></b>'
            yield f'<span style="top:{place:.1f}px">{sample}<span>{label}{value}</span></span>'


def _sample(role, rank):
    """Return a short sample of a line of this rank as SVG; of an area if the rank is None."""
    if rank is None:
        return f'<svg class="sample" viewBox="0 0 24 10"><rect class="area {role}" x="4" width="16" height="10"/></svg>'
    kind = "link" if role == "link" else f"line {role}"
    return f'<svg class="sample" viewBox="0 0 24 10"><line class="{kind}" x2="24" y1="5" y2="5"{_dash(rank)}/></svg>'


def _dash(rank):
    if DASHES[rank] is None:
        return ""
    offset, pattern = DASHES[rank]
    return f' stroke-dasharray="{" ".join(map(str, pattern))}" stroke-dashoffset="{offset}"'
