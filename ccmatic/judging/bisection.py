"""The search for the first version of a stack with another verdict on a witness."""

from collections.abc import Callable, Sequence

from ccmatic.base import InputError, shown, suggest
from ccmatic.judging import subjects


def released(subject: str) -> tuple[str, ...]:
    """Return the released versions of a subject's stack, oldest first."""
    adaptor = subjects.subject(subject).adaptor
    versions = getattr(adaptor, "versions", None)
    if versions is None:
        raise InputError(f"{adaptor.stack} has no released versions; expected them as --version, oldest first")
    found: tuple[str, ...] = versions()
    return found


def between(versions: Sequence[str], first: str, last: str) -> list[str]:
    for version in (first, last):
        if version not in versions:
            raise InputError(f"there is no version '{shown(version)}'; {suggest(version, versions)}")
    begin, end = versions.index(first), versions.index(last)
    if begin >= end:
        raise InputError(f"version {first} is not before {last}; expected --from an older version")
    return [*versions[begin : end + 1]]


def first_other(versions: Sequence[str], breaks: Callable[[str], bool]) -> tuple[str, str]:
    """Return two neighbouring versions with different verdicts: the last with the old one, the first with the new one.

    If the verdict changes several times, the result may be any of these changes.
    """
    low, high = 0, len(versions) - 1
    before = breaks(versions[low])
    if breaks(versions[high]) == before:
        verdict = "break" if before else "keep"
        raise InputError(f"{versions[low]} and {versions[high]} both {verdict} the rule; expected different verdicts")
    while high - low > 1:
        middle = (low + high) // 2
        if breaks(versions[middle]) == before:
            low = middle
        else:
            high = middle
    return versions[low], versions[high]
