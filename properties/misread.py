"""Error messages for texts that are not expectations. A message names the problem and the nearest expectation."""

import re
from difflib import get_close_matches

from ccmatic.base import InputError, shown, suggest

#: An example of an expectation for each quantity.
EXAMPLES = {
    "utilisation": "utilisation >= 80%",
    "share": "share >= 20% beside cubic",
    "loss": "loss <= 1%",
    "marked": "marked <= 10%",
    "queue": "queue <= 2 bdp",
    "delay": "delay <= 2 rtt",
    "recovery": "recovery <= 6 rtt to 80%",
    "burst": "burst <= 10 packets while app_limited",
    "growth": "growth <= 0 packets while app_limited",
    "window": "window <= 2 bdp",
    "rate": "rate <= 200%",
    "timeout": "no timeout",
    "app_limited": "utilisation >= 80% while no app_limited",
    "converged": "converged within 8 rtt",
}

#: Synonyms of the quantities' names.
_QUANTITIES = {
    **dict.fromkeys(("util", "throughput", "goodput", "bandwidth"), "utilisation"),
    **dict.fromkeys(("latency", "rtt"), "delay"),
    **dict.fromkeys(("drops", "losses"), "loss"),
    "cwnd": "window",
    "fairness": "share",
    "backlog": "queue",
    **dict.fromkeys(("marks", "ce", "ecn"), "marked"),
}

#: Synonyms of the units.
_UNITS = {
    "percent": "%",
    "bytes": "b",
    "pkt": "packets",
    "pkts": "packets",
    "mss": "packets",
    "sec": "s",
    "kbps": "kbit",
    "mbps": "mbit",
    "gbps": "gbit",
}

#: Synonyms of the relations.
_RELATIONS = {"=<": "<=", "≤": "<=", "=>": ">=", "≥": ">="}

_SUBJECT = r"(?P<subject>[A-Za-z_]\w*)"
_NUMBER = r"\d+(?:\.\d+|/\d+)?"
_HEAD = re.compile(rf"{_SUBJECT}\s*(?:<=|>=|<|>)\s*{_NUMBER}\s*[A-Za-z%]*", re.ASCII)
_RELATION = re.compile(rf"{_SUBJECT}\s*(?P<relation>[<>=!≤≥]+)\s*(?P<amount>.*)")
#: The rest of a number that the language does not have, such as 1e-3, 1_000 and 1,5.
_REST_OF_NUMBER = re.compile(r"[-+._\d]|,\d", re.ASCII)
_NETWORK = re.compile(r"\b(buffer|jitter)\s+[\d>]|\bbuffer\s+(any|infinite)\b|\brtt\s+\d")


def comparison(text: str) -> InputError:
    """Return the error for a text that is no comparison."""
    label = f"'{shown(text)}'"
    if not text:
        return InputError("the expectation is empty; expected such as 'utilisation >= 80%' or 'queue <= 2 bdp'")
    if _NETWORK.search(text):
        return InputError(f"{label} is a network; expected an expectation, such as 'queue <= 2 bdp'")
    head = _HEAD.match(text)
    if head and not _REST_OF_NUMBER.match(text, head.end()):
        return _after(label, text[: head.end()], text[head.end() :].strip())
    if related := _RELATION.fullmatch(text):
        return _related(label, **related.groupdict())
    if text.isidentifier():
        example = EXAMPLES.get(_QUANTITIES.get(text, text), EXAMPLES["queue"])
        return InputError(f"{label} has no amount; expected the whole expectation in quotes, such as '{example}'")
    return InputError(f"{label} is no expectation; expected QUANTITY <= AMOUNT, such as {_examples()}")


def _after(label: str, head: str, rest: str) -> InputError:
    """Return the error for the text after a comparison."""
    first = rest.split()[0] if rest else ""
    if not rest:
        return InputError(f"{label} has a unit in capitals; did you mean '{shown(_lower(head))}'?")
    if first in ("and", "&", "&&", "or") or first.startswith((",", ";")):
        return InputError(f"{label} says more than one thing; expected one expectation, such as '{shown(head)}'")
    if first in ("when", "where", "if", "during", "whenever", "until", "for"):
        return InputError(
            f"cannot read '{shown(rest)}' in {label}; did you mean 'while {shown(rest[len(first) + 1 :])}'?"
        )
    if first in ("over", "every", "in", "per", "within"):
        return InputError(f"cannot read '{shown(rest)}' in {label}; expected such as 'over every 10 rtt'")
    expected = "'over every TIME', 'beside CONTROLLER' or 'while CONDITIONS'"
    return InputError(f"cannot read '{shown(rest)}' in {label}; expected {expected} behind '{shown(head)}'")


def _related(label: str, subject: str, relation: str, amount: str) -> InputError:
    """Return the error for a text that has a quantity and a relation, but no amount."""
    if relation not in ("<=", "<", ">=", ">"):
        near = _RELATIONS.get(relation)
        suggestion = f"did you mean '{subject} {near} {shown(amount)}'?" if near else "expected one of <=, <, >=, >"
        return InputError(f"{label} has the relation '{relation}'; {suggestion}")
    example = EXAMPLES.get(subject, EXAMPLES["queue"])
    if amount.startswith("-"):
        return InputError(f"the amount in {label} is below 0; expected 0 or more, such as '{example}'")
    return InputError(
        f"the amount in {label} is '{shown(amount)}'; expected a decimal or fraction, such as '{example}'"
    )


def unit(name: str, text: str, known) -> InputError:
    """Return the error for a text whose unit the network does not know.

    Args:
        name: The unit.
        text: The text that contains the unit.
        known: The units that the network knows.
    """
    if name in ("ns", "us", "ms", "s", "b", "kb", "mb", "bit", "kbit", "mbit", "gbit") and "ms" not in known:
        path = "'24 mbit, rtt 40 ms, buffer 1 bdp'"
        return InputError(
            f"'{shown(text)}' counts in {name}, and the network has no rate and rtt; expected %, bdp, packets or rtt, "
            f"or a question about a path such as {path}"
        )
    near = _UNITS.get(name) or next(iter(get_close_matches(name, [*filter(None, known)], n=1)), None)
    if near in known:
        return InputError(f"unknown unit '{shown(name)}' in '{shown(text)}'; did you mean '{near}'?")
    return InputError(
        f"unknown unit '{shown(name)}' in '{shown(text)}'; expected %, bdp, packets or rtt, or on a path ms, kb or mbit"
    )


def interval(text: str) -> InputError:
    """Return the error for a text whose interval, after `over every`, cannot be read."""
    is_number = re.fullmatch(r"[1-9]\d*", text)
    expected = f"did you mean 'over every {text} rtt'?" if is_number else "expected a time above 0, such as 10 rtt"
    return InputError(f"'over every {shown(text)}' is no interval; {expected}")


def part(text: str, number: str) -> InputError:
    """Return the error for a share that has no unit and exceeds the whole."""
    return InputError(f"the amount in '{shown(text)}' is more than the whole; did you mean '{number}%'?")


def rate(text: str, subject: str) -> InputError:
    """Return the error for a share or a loss whose amount is a rate."""
    return InputError(f"the amount in '{shown(text)}' is a rate; expected a part, such as '{EXAMPLES[subject]}'")


def quantity(name: str, quantities, own) -> InputError:
    """Return the error for an unknown quantity.

    Args:
        name: The unknown name.
        quantities: The known quantities, by name.
        own: The controller's own state and beliefs, by name.
    """
    if name in _QUANTITIES:
        return InputError(f"there is no quantity '{name}'; did you mean '{_QUANTITIES[name]}'?")
    if name.lower() in quantities:
        return InputError(f"there is no quantity '{shown(name)}'; did you mean '{name.lower()}'?")
    known = [*quantities, *(each for each in own if each not in quantities)]
    return InputError(f"there is no quantity '{shown(name)}'; {suggest(name, known)}")


def unread(name: str) -> InputError:
    """Return the error for a belief that the controller does not read."""
    return InputError(
        f"the controller does not read {name}, so it has no value; expected a controller that reads it, or such as "
        f"'{EXAMPLES['queue']}'"
    )


def start(text: str, starts) -> InputError:
    """Return the error for a text that describes no start."""
    near = get_close_matches(text, starts, n=1)
    expected = f"did you mean '{near[0]}'?" if near else f"expected {', '.join(starts)}, or such as 'queue <= 1 bdp'"
    return InputError(f"the start is '{shown(text)}'; {expected}")


def _lower(head: str) -> str:
    """Return a comparison whose unit is in lower case."""
    return re.sub(r"[A-Za-z%]*$", lambda mark: mark[0].lower(), head)


def _examples() -> str:
    return f"'{EXAMPLES['utilisation']} over every 10 rtt' or '{EXAMPLES['queue']}'"
