"""Laws that are not linear, as exported C: within the error that the header states, as long as a sender runs."""

import re
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from ccmatic.base import InputError
from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime.library import Library, StatefulSender, StepObservations
from support.laws import cbrt
from support.machine import needs_compiler
from support.sampling import each_nth

PACKET = 1448
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
SOURCE = """window: bytes = 0


def update(window, acked, lost, sent, delay, MSS, R_m, step, second):
    window = bounded({law}, 0 * MSS, 0 * MSS)


def send(window):
    return window
"""


def exported(law, tmp_path):
    (tmp_path / "law.py").write_text(SOURCE.format(law=law))
    return header.make(str(tmp_path / "law.py"))


class Term:
    """A number, and the sum of the sizes of the terms that it adds up."""

    def __init__(self, value, size=None):
        self.value, self.size = Fraction(value), abs(Fraction(value)) if size is None else size

    def __add__(self, other):
        return Term(self.value + other.value, self.size + other.size)

    def __sub__(self, other):
        return Term(self.value - other.value, self.size + other.size)

    def __mul__(self, other):
        return Term(self.value * other.value, self.size * other.size)

    def __truediv__(self, other):
        return Term(self.value / other.value, self.size / abs(other.value))

    def __pow__(self, times):
        return Term(self.value**times.value, self.size**times.value)

    def __ge__(self, other):
        return self.value >= other.value


def _pick(function):
    def picked(*terms):
        return Term(function(term.value for term in terms), max(term.size for term in terms))

    return picked


CALLED = {"max": _pick(max), "min": _pick(min), "cbrt": lambda term: Term(cbrt(term.value))}


def exactly(law, seen, step_ns):
    """A Term of a law of numbers."""
    read = {name: Term(getattr(seen, name)) for name in ("acked", "lost", "sent")}
    known = {"MSS": Term(PACKET), "R_m": Term(1), "step": Term(1), "second": Term(Fraction(10**9, step_ns))}
    numbers = re.sub(r"(?<![\w.])\d+", r"Term(\g<0>)", law)
    waited = {"delay": Term(Fraction(seen.waited, 4096))}
    return eval(numbers, {"Term": Term, **CALLED, **read, **known, **waited})


ATOMS = (
    "acked / MSS",
    "lost / MSS",
    "(acked - lost) / MSS",
    "delay / R_m",
    "second / step",
    "7 / 10",
    "MSS / lost",
    "3",
)


def drawn(rng, depth, certain=False):
    """The text of a number. certain: that divides, or whose root is taken."""
    if not depth:
        return f"({rng.choice(ATOMS)})"
    kinds = ("product", "quotient", "power", "root", "choice") + (() if certain else ("sum", "difference", "extreme"))
    one, two = drawn(rng, depth - 1, certain), drawn(rng, depth - 1, certain)
    match rng.choice(kinds):
        case "product":
            return f"{one} * {two}"
        case "quotient":
            return f"({one}) / ({drawn(rng, depth - 1, True)})"
        case "power":
            return f"({one}) ** {rng.choice((2, 3))}"
        case "root":
            return f"cbrt({drawn(rng, depth - 1, True)})"
        case "choice":
            return f"({one} if acked >= lost else {two})"
        case "extreme":
            return f"{rng.choice(('max', 'min'))}({one}, {two})"
        case "sum":
            return f"({one} + {two})"
        case "difference":
            return f"({one} - {two})"


def seen(rng):
    sizes = (2**12, 2**20, 2**30, 2**40)
    acked, lost, sent = (rng.randrange(rng.choice(sizes)) for _ in range(3))
    return StepObservations(acked=acked, lost=lost, sent=sent, time=5, delay=1, waited=rng.randrange(0, 2 * 4096))


def stated(text):
    """The errors that a header states of its law."""
    return [2.0 ** -int(bits) for bits in re.findall(r"off by less than 2\^-(\d+) of", text)]


@needs_compiler
@pytest.mark.parametrize("laws", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_a_law_is_within_the_error_that_its_header_states(laws, tmp_path):
    rng, compared = Random(9), 0
    for _ in range(laws):
        law = f"MSS * ({drawn(rng, 3)})"
        export = exported(law, tmp_path)
        errors = stated(export.header())
        made = Library(export, STRICT)
        for _ in range(30):
            rtt, now = rng.choice((10**6, 4 * 10**7, 123456789, 10**9)), seen(rng)
            try:
                exact = exactly(law, now, rtt)
            except ZeroDivisionError:
                continue
            if exact.size < 2**50:
                sender = StatefulSender(made, PACKET, rtt=rtt)
                sender.step(now)
                [window] = sender.kept()
                off = (errors[0] if errors else 0) * exact.size
                assert -off <= exact.value - window < 1 + off, (law, vars(exact), window)
                compared += 1
    assert compared > 16 * laws


@needs_compiler
@pytest.mark.parametrize(
    "law, window",
    each_nth(
        2,
        [
            ("lost * lost / lost", 3 * PACKET),
            ("MSS * cbrt(lost / MSS * 9)", 3 * PACKET),
            ("MSS * 6 / cbrt(8)", 3 * PACKET),
            ("MSS - MSS * cbrt(0 - lost / MSS * 9)", 4 * PACKET),
            ("lost / (acked / sent)", 2**50),  # by 0: as much as is kept
            ("0 * MSS - lost / (acked / sent)", -(2**50)),
            ("acked / (acked / sent)", 0),
            ("MSS * delay / R_m", 3 * PACKET // 2),  # the delay itself, not its whole steps
            ("MSS * (second / R_m) ** 2", PACKET * 100),
            ("lost", 3 * PACKET),
        ],
    ),
)
def test_laws_that_have_whole_values(law, window, tmp_path):
    sender = StatefulSender(Library(exported(law, tmp_path), STRICT), PACKET, rtt=10**8)
    sender.step(StepObservations(lost=3 * PACKET, sent=PACKET, time=5, delay=1, waited=3 * 2048))
    assert sender.kept()[0] == window


@pytest.mark.parametrize(
    "law, told",
    [
        ("MSS * MSS / (MSS - lost * acked / sent)", "divides by `MSS - lost·acked/sent`, a sum of numbers that C"),
        ("MSS * cbrt(acked * lost / MSS / sent - 1)", "takes the cube root of `acked·lost/MSS/sent - 1`"),
        ("MSS if acked / lost > 2 else lost", "compares `acked/lost`, which C cannot decide exactly"),
        ("MSS * R_m / (R_m - step)", "divides by `R_m - step`, which is 0 here"),
    ],
)
def test_a_law_whose_error_is_not_known_is_refused_at_its_line(law, told, tmp_path):
    with pytest.raises(InputError) as caught:
        exported(law, tmp_path).header()
    assert caught.value.file.endswith("law.py") and caught.value.line == 5 and told in caught.value.message


def test_a_second_is_read_in_laws_alone(tmp_path):
    source = SOURCE.format(law="MSS").replace(
        "    window = ", "    if second >= 2 * R_m:\n        window = MSS\n    else:\n        window = "
    )
    (tmp_path / "law.py").write_text(source)
    with pytest.raises(InputError, match="reads `second` outside a law"):
        header.make(str(tmp_path / "law.py")).header()


ASSUMES = """window: bytes = 0
count: bytes = 0


def update(window, count, acked, MSS):
    count = count + MSS
    assume(count <= 3 * MSS)
    {law}


def send(window):
    return window
"""


@needs_compiler
@pytest.mark.parametrize(
    "law, count", [("window = bounded(count * count / MSS, count, 3 * count)", 9), ("window = 3 * count", 3)]
)
def test_a_law_is_followed_where_its_bounds_are_not_assumed_to_hold(law, count, tmp_path):
    """Without a law, state stays as it is where what is assumed is not so."""
    (tmp_path / "law.py").write_text(ASSUMES.format(law=law))
    sender = StatefulSender(Library(header.make(str(tmp_path / "law.py")), STRICT), PACKET)
    for time in range(5, 14):
        sender.step(StepObservations(time=time))
    assert sender.kept()[1] == count * PACKET and sender.kept()[0] == (81 if count == 9 else 9) * PACKET
    assert sender.stayed == 9 - count


def followed(rtt, packets, seconds):
    """Return CUBIC's windows, in packets, after a loss at a given window, and W_cubic of RFC 9438 at these times."""
    sender = StatefulSender(_cubic(), PACKET, rtt=rtt)
    acked = time = 0

    def step(lost=0):
        nonlocal acked, time
        acked, time = acked + sender.window(), time + 1
        sender.step(StepObservations(acked=acked, lost=lost, sent=acked + sender.window(), time=time))
        return sender.window() / PACKET

    while step() < packets:
        pass
    most = step()
    after = step(lost=PACKET)
    K = ((most - after) / 0.4) ** (1 / 3)
    windows, formula, reno = [], [], after
    for count in range(1, int(seconds * 10**9 / rtt)):
        t = count * rtt / 10**9
        windows.append(step(lost=PACKET))
        reno += 9 / 17
        formula.append(max(0.4 * (t - K) ** 3 + most, reno))
    return windows, formula


@cache
def _cubic():
    return Library(header.make("cubic"), STRICT)


@needs_compiler
@pytest.mark.parametrize("rtt", each_nth(3, [1, 20, 40, 100, 300]))
@pytest.mark.parametrize("packets", each_nth(2, [50, 1000, 20000]))
def test_cubic_is_within_5_percent_of_rfc_9438_for_as_long_as_it_runs(rtt, packets):
    windows, formula = followed(rtt * 10**6, packets, 60)
    off = [abs(window / expected - 1) for window, expected in zip(windows, formula, strict=True)]
    assert max(off) < 0.05 and windows[-1] > packets
