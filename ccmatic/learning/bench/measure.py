"""Benchmarks: suites of held-out links from a TOML file, players, and their measures with confidence intervals.

A player is a sender by name, a trained policy, an edge of an envelope, a guard, or a Learner.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import (
    InputError,
    definitions,
    load_toml,
    located,
    parse_json,
    read_text,
    require_folder,
    shown,
    suggest,
    write_text,
)
from ccmatic.contracts import Links
from ccmatic.deployment import policies
from ccmatic.learning.envs import (
    Environment,
    EnvironmentState,
    LinkOptions,
    RolloutPolicy,
    make_environment,
    sender,
    stateless,
    trained,
)

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


#: The action at each edge of an envelope.
EDGES = {"low": -1.0, "high": 1.0}


@dataclass(frozen=True)
class Learner:
    name: str  #: the name in the leaderboard
    decide: Callable[[NDArray[Any]], NDArray[Any]]  #: from observations (n, size) to actions (n)
    task: dict[str, Any] = field(default_factory=dict)  #: the options TASK of its environment

    def environment(self, options: LinkOptions) -> Environment:
        for name in self.task:
            if name not in policies.TASK:
                raise InputError(
                    f"unknown option '{shown(name)}' in the task of {self.name}; {suggest(name, policies.TASK)}"
                )
        checked = make_environment(self.task)
        return Environment(options, **{name: getattr(checked, name) for name in policies.TASK})


def player(name: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    """Return the Environment of a player (docs/reference/bench.md), and its RolloutPolicy there."""
    word, _, rest = name.partition(":")
    if word == "policy":
        return trained(policies.load(rest), options)
    if word == "envelope":
        return _edge(name, rest, options)
    if word == "guard":
        return _guard(name, rest, options)
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"))
    return environment, sender(name, environment)


def _edge(name: str, rest: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    envelope, _, edge = rest.rpartition(":")
    if edge not in EDGES:
        raise InputError(f"cannot read the player '{name}'; expected envelope:NAME:low or envelope:NAME:high")
    environment = Environment(options, act=f"envelope:{envelope}")
    return environment, stateless(lambda observation: jnp.full(observation.shape[:2], EDGES[edge]))


def _guard(name: str, rest: str, options: LinkOptions) -> tuple[Environment, RolloutPolicy]:
    envelope, colon, inner = rest.partition(":")
    if not colon:
        raise InputError(f"cannot read the player '{name}'; expected guard:NAME:SENDER or guard:NAME:policy:FILE")
    word, _, file = inner.partition(":")
    if word == policies.GUARDED:
        return trained(policies.load(file), options, envelope)
    environment = Environment(options, act=definitions.chosen("models.signals", "RATE"), guard=envelope)
    return environment, sender(inner, environment)


#: The score is the used share of the link, minus QUEUED times the mean queueing delay in R_m (at most MOST_QUEUED),
#: minus LOST times the lost share.
QUEUED, MOST_QUEUED, LOST = 0.5, 4, 2

#: The half-width of a 95 % confidence interval, in standard errors of the mean.
CONFIDENCE = 1.96


class Sums(NamedTuple):
    """The sums of a player's measurements on each link (n): acknowledged and lost bytes, and bytes times RTT."""

    acked: Array
    lost: Array
    waited: Array


def bench(
    players: Sequence[str | Learner] = (),
    suites: Sequence[str] = (),
    *,
    file: str | Path | None = None,
    out: str | Path | None = None,
) -> Iterator[records.BenchLine]:
    """Measure players on the held-out links of a benchmark (docs/reference/bench.md). This needs the extra `rl`.

    `for line in cm.bench(["cubic"], ["constant"]): print(line.score)` prints the score of Cubic.

    Args:
        players: The names of senders, `policy:FILE`, `envelope:NAME:low`, `guard:NAME:SENDER`, or Learners of any
            library. Without players, the baselines of the benchmark.
        suites: The names of the suites. By default, all suites.
        file: The file of the benchmark. By default, ccmatic-bench-v1.
        out: The file of a leaderboard, to which the lines are added.

    Yields:
        A line for each player and suite. A player that cannot play a suite, such as a sender with beliefs on a policer,
        has no line there.

    Raises:
        InputError: If there is no such suite or player, or the extra `rl` is not installed.
    """
    benchmark = load(file)
    _entries(out)
    chosen = [benchmark.suite(name) for name in suites] or list(benchmark.suites.values())
    playing = players or benchmark.baselines
    for who in playing:
        _require_player(who, chosen)
    for who in playing:
        lines, errors = [], []
        for suite in chosen:
            try:
                lines.append(measure(benchmark, suite, who))
            except InputError as error:
                errors.append(error)
                continue
            yield lines[-1]
        if not lines:
            raise errors[0]
        if out is not None:
            write_text(out, _entries(out) + "".join(f"{records.line(line)}\n" for line in lines))


def _require_player(who: str | Learner, suites: Sequence[Suite]) -> None:
    """Raise InputError if a player can play on none of the suites, before anybody plays."""
    errors = []
    for suite in suites:
        try:
            if isinstance(who, Learner):
                who.environment(suite.link_options)
            else:
                player(who, suite.link_options)
            return
        except InputError as error:
            errors.append(error)
    raise errors[0]


def _entries(out: str | Path | None) -> str:
    """Return the checked lines of a leaderboard, which need not exist yet."""
    if out is None:
        return ""
    if not Path(out).exists():
        require_folder(out)
        return ""
    entries = read_text(out).splitlines()
    for number, entry in enumerate(entries, 1):
        place = f"{out}:{number}"
        records.convert(parse_json(entry, place), records.BenchLine, place, "no line of a leaderboard")
    return "".join(f"{entry}\n" for entry in entries)


def measure(benchmark: Benchmark, suite: Suite, who: str | Learner) -> records.BenchLine:
    options = suite.link_options
    key = jax.random.fold_in(jax.random.key(benchmark.seed), list(benchmark.suites).index(suite.name))
    if isinstance(who, Learner):
        environment = who.environment(options)
        links, sums = _stepwise(environment, who, key, benchmark.links)
    else:
        environment, policy = player(who, options)
        links, sums = _compiled(environment, policy, key, benchmark.links)
    name = who.name if isinstance(who, Learner) else who
    return _line(benchmark, suite, name, links, sums)


def _interval(
    environment: Environment, links: Links, state: EnvironmentState, sums: Sums, actions: Array
) -> tuple[EnvironmentState, Sums]:
    state, _, _ = environment.step(links, state, actions)
    now = state.knowledge.now
    acked = now.acked[0]
    return state, Sums(sums.acked + acked, sums.lost + now.lost[0], sums.waited + acked * now.rtt[0])


def _compiled(environment: Environment, policy: RolloutPolicy, key: Array, n: int) -> tuple[Links, Sums]:
    """Return the links, and the sums of a RolloutPolicy, from one compiled loop."""

    def play(key: Array) -> tuple[Links, Sums]:
        links, state = environment.reset(key, n)
        own = environment.own(links)

        def interval(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], None]:
            state, memory, sums = carry
            memory, actions = policy.act(memory, own, state, environment.observation(state))
            state, sums = _interval(environment, links, state, sums, actions)
            return (state, memory, sums), None

        (*_, sums), _ = jax.lax.scan(interval, (state, policy.begin(own), _zeros(n)), None, environment.options.steps)
        return links, sums

    links, sums = jax.jit(play)(key)
    return links, sums


def _stepwise(environment: Environment, learner: Learner, key: Array, n: int) -> tuple[Links, Sums]:
    """Return the links, and the sums of a Learner, which acts in Python in each interval."""
    links, state = environment.reset(key, n)
    step = jax.jit(lambda *carry: _interval(environment, links, *carry))
    observe, sums = jax.jit(environment.observation), _zeros(n)
    for _ in range(environment.options.steps):
        state, sums = step(state, sums, _actions(learner, np.asarray(observe(state))[:, 0]))
    return links, sums


def _actions(learner: Learner, observations: NDArray[Any]) -> NDArray[np.float32]:
    given, n = learner.decide(observations), len(observations)
    try:
        actions = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        actions = np.empty(0, np.float32)
    if actions.shape not in ((n,), (n, 1)):
        raise InputError(f"{learner.name} decides {shown(given)}; expected an array of {n} actions, one for each link")
    if not np.isfinite(actions).all():
        raise InputError(f"an action of {learner.name} is not finite; expected numbers")
    return actions.reshape(n, 1)


def _zeros(n: int) -> Sums:
    return Sums(jnp.zeros(n), jnp.zeros(n), jnp.zeros(n))


def _line(benchmark: Benchmark, suite: Suite, name: str, links: Links, sums: Sums) -> records.BenchLine:
    acked, lost, waited = (np.asarray(part, np.float64) for part in sums)
    served = np.asarray(links.capacity, np.float64).sum(0)
    used = np.minimum(1, acked / served * suite.link_options.all_flows)
    gone = lost / np.maximum(acked + lost, 1)
    least = np.asarray(links.rtt[0] * links.slot, np.float64)
    queued = np.where(acked > 0, np.maximum(waited / np.maximum(acked, 1) / least - 1, 0), 0)
    score = used - QUEUED * np.minimum(queued, MOST_QUEUED) - LOST * gone
    parts = {"score": score, "utilisation": used, "queue_rtt": queued, "loss": gone}
    measured = {}
    for key, part in parts.items():
        measured[key] = round(float(part.mean()), 4)
        measured[f"{key}_ci"] = round(CONFIDENCE * float(part.std(ddof=1)) / sqrt(len(part)), 4)
    return records.BenchLine(benchmark=benchmark.name, player=name, suite=suite.name, links=len(acked), **measured)
