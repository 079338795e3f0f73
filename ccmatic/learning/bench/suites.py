"""Benchmarks as data: a TOML file with suites of links."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccmatic.base import InputError, definitions, load_toml, located, shown, suggest
from ccmatic.learning.envs import LinkOptions

#: The folder of shipped benchmarks.
SHIPPED = "examples.bench"

#: The keys of a benchmark's file.
KEYS = ("name", "seed", "links", "baselines", "every", "suites")


@dataclass(frozen=True)
class Suite:
    name: str
    options: dict[str, Any]  #: the options of its links, which also make environments for training

    @property
    def link_options(self) -> LinkOptions:
        return LinkOptions(**self.options)


@dataclass(frozen=True)
class Benchmark:
    name: str  #: the name of the benchmark, with its version
    seed: int  #: the seed of the held-out links
    links: int  #: the number of held-out links in each suite
    baselines: tuple[str, ...]  #: the names of the baselines
    suites: dict[str, Suite]

    def suite(self, name: str) -> Suite:
        if name not in self.suites:
            raise InputError(f"unknown suite '{shown(name)}'; {suggest(name, self.suites)}")
        return self.suites[name]


def load(file: str | Path | None = None) -> Benchmark:
    """Return the Benchmark of a TOML file or of a shipped name; None for the default."""
    name = definitions.chosen(SHIPPED, "DEFAULT") if file is None else str(file)
    path = Path(definitions.find_file([SHIPPED], name, ".toml"))
    content, _ = load_toml(path)
    with located(str(path)):
        for key in content:
            if key not in KEYS:
                raise InputError(f"unknown key '{key}'; {suggest(key, KEYS)}")
        for key, kind in (("name", str), ("seed", int), ("links", int), ("baselines", list), ("suites", dict)):
            if type(content.get(key)) is not kind:
                raise InputError(f"{key} is {content.get(key)!r}; expected a value of the type {kind.__name__}")
        if content["links"] < 2 or content["seed"] < 0:
            raise InputError("links is below 2, or seed below 0; expected at least 2 links, and a seed of at least 0")
        suites = {
            name: _suite(name, {**content.get("every", {}), **given}, path.parent)
            for name, given in content["suites"].items()
        }
    baselines = tuple(map(str, content["baselines"]))
    return Benchmark(content["name"], content["seed"], content["links"], baselines, suites)


def _suite(name: str, given: dict[str, Any], folder: Path) -> Suite:
    options = dict(given)
    if "links" in options:
        kinds = options["links"] if isinstance(options["links"], dict) else {options["links"]: 1}
        options["links"] = {_in_folder(kind, folder): share for kind, share in kinds.items()}
    known = [key for key, field in LinkOptions.__dataclass_fields__.items() if field.init and key != "flows"]
    for key in options:
        if key not in known:
            raise InputError(f"unknown option '{key}' of the suite {name}; {suggest(key, known)}")
    suite = Suite(name, options)
    suite.link_options.mix  # noqa: B018  # reads the files
    return suite


def _in_folder(kind: str, folder: Path) -> str:
    """Return a kind of links. The path of its file begins at the benchmark's folder."""
    word, colon, file = kind.partition(":")
    return f"{word}:{folder / file}" if colon else kind
