"""The sections of RFC 9743 by which authors report on a controller, and what ccmatic measures for each of them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccmatic.base import read_text


@dataclass(frozen=True)
class Section:
    """A section of RFC 9743."""

    part: str
    number: str  #: The number in RFC 9743, such as `5.1.1`.
    title: str
    rules: tuple[str, ...] = ()  #: The rules of judge that measure it.
    scenarios: tuple[str, ...] = ()  #: The scenarios that play it.
    constants: tuple[str, ...] = ()  #: The constants of proofs that bound it.
    measures: tuple[str, ...] = ()  #: The measures of models that are about it.
    networks: tuple[str, ...] = ()  #: The networks whose results belong here, whatever the measure.
    flows: str = ""  #: `same` for the results of two flows of one controller, `different` for those of two controllers.


_DATA: dict[str, Any] = tomllib.loads(read_text(Path(__file__).parent / "sections.toml"))

#: All sections in order, and for each table of results the units of its measures.
SECTIONS = tuple(Section(**data) for data in _DATA["section"])
UNITS: dict[str, dict[str, str]] = _DATA["units"]


def titles(**wanted: str) -> list[str]:
    """Return the titles of the sections that have one of these names in one of these fields."""
    return [section.title for section in SECTIONS if any(name in getattr(section, f) for f, name in wanted.items())]
