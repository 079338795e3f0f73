"""Gymnasium's interface to one link, and the rule for actions that all interfaces share.

A finite number outside the bounds is clipped to the bounds. Everything else that is no action is refused: a wrong
shape, NaN, infinity, text, and a whole number that is the index of no choice.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, SupportsFloat, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ccmatic.base import InputError, shown, suggest
from ccmatic.deployment import policies
from ccmatic.learning.envs import native
from ccmatic.learning.envs.backends import Fluid, Outcome, Packets, Played, Player
from ccmatic.learning.envs.emulated import EmulatorBackEnd
from ccmatic.learning.envs.environment import Environment, Learnable
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.picture import MODES, Screen


@dataclass(frozen=True)
class ActionRule:
    bounds: tuple[float, float]  #: the smallest and the largest action
    choices: tuple[float, ...] = ()  #: empty if every number within the bounds is an action

    @cached_property
    def space(self) -> "Space[Any]":
        return Discrete(len(self.choices)) if self.choices else Box(*self.bounds, (1,), np.float32)

    def spaces(self, n: int) -> "Space[Any]":
        return MultiDiscrete([len(self.choices)] * n) if self.choices else batch_space(self.space, n)

    def one(self, given: object) -> float:
        # This path serves most calls. It costs a tenth of the general path.
        if not self.choices and type(given) is np.ndarray and given.shape == (1,) and given.dtype.kind == "f":
            number = float(given[0])
            if math.isfinite(number):
                low, high = self.bounds
                return low if number < low else high if number > high else number
        return float(self.checked(given, () if self.choices else (1,)).item())

    def many(self, given: object, n: int) -> NDArray[np.float32]:
        """Return the actions of n links, (n, 1)."""
        return np.asarray(self.checked(given, (n,) if self.choices else (n, 1)), np.float32).reshape(n, 1)

    def checked(self, given: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the actions in the given shape, after clipping. An index of a choice is replaced by its action."""
        expected = f"expected {'whole ' if self.choices else ''}numbers of the shape {shape}"
        try:
            numbers = np.asarray(given)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise InputError(f"the action is {shown(given)}; {expected}") from None
        kinds = "iu" if self.choices else "iuf"
        if numbers.dtype.kind not in kinds or numbers.shape != shape:
            what = f"the shape {numbers.shape}" if numbers.dtype.kind in kinds else f"the type {numbers.dtype}"
            raise InputError(f"the action {shown(given)} has {what}; {expected}")
        if self.choices:
            if not ((numbers >= 0) & (numbers < len(self.choices))).all():
                raise InputError(f"the action is {shown(given)}; expected whole numbers below {len(self.choices)}")
            return np.asarray(np.asarray(self.choices)[numbers], np.float64)
        if not np.isfinite(numbers).all():
            raise InputError(f"the action is {numbers[~np.isfinite(numbers)][0]}; expected finite numbers")
        clipped: NDArray[np.float64] = np.clip(np.asarray(numbers, np.float64), *self.bounds)
        return clipped


#: The names of the back ends.
BACKENDS = ("fluid", "packets", "emulator")

Floats: TypeAlias = NDArray[np.float32]

#: The options that define the learning task. The other options describe the links.
LEARNED = (*policies.TASK, "choices")


def make_environment(options: Mapping[str, Any]) -> Environment:
    """Return the Environment for options by name: arguments of Environment and of LinkOptions."""
    fields = [name for name, field in LinkOptions.__dataclass_fields__.items() if field.init]
    for name in options:
        if name not in (*LEARNED, *fields):
            raise InputError(f"unknown option '{name}'; {suggest(name, (*LEARNED, *fields))}")
    learned = {name: options[name] for name in LEARNED if name in options}
    return Environment(LinkOptions(**{name: options[name] for name in fields if name in options}), **learned)


def warned(options: Mapping[str, Any]) -> Environment:
    """Return the Environment for the given options, and warn if senders that harm cheat its reward."""
    made = make_environment(options)
    if made.warning:
        warnings.warn(made.warning, stacklevel=3)
    return made


def alone(options: Mapping[str, Any]) -> Environment:
    """Return the Environment for the given options, in which one flow learns, and warn as `warned` does."""
    made = warned(options)
    if made.options.flows != 1:
        raise InputError(f"{made.options.flows} flows; expected one here: several are agents of a LinkParallelEnv")
    return made


def spaces(environment: Learnable[Any]) -> "tuple[Box[np.float32], Box[np.float32]]":
    """Return the spaces of observations and of actions of one flow. Actions are numbers, also for choices."""
    low, high = environment.bounds
    return Box(-np.inf, np.inf, (environment.size,), np.float32), Box(low, high, (1,), np.float32)


def rule(environment: Environment) -> ActionRule:
    return ActionRule(environment.bounds, environment.choices)


def player(environment: Environment, backend: str, device: str | None) -> Player:
    """Return the Player of one link. Where the environment permits, `fluid` plays in C."""
    if backend == "fluid" and device is None and native.is_playable(environment):
        return native.Native(environment)
    return played(environment, backend, device)


def played(environment: Environment, backend: str, device: str | None) -> Played:
    """Return the Played of one link, which knows the values of its link, unlike a player in C."""
    check_backend(backend, device)
    if backend == "packets":
        return Played(Packets(environment))
    if backend == "emulator":
        return Played(EmulatorBackEnd(environment))
    return Played(Fluid(environment, device=device))


def check_backend(backend: str, device: str | None) -> None:
    if backend not in BACKENDS:
        raise InputError(f"unknown back end '{shown(backend)}'; {suggest(shown(backend), BACKENDS)}")
    if device is not None and backend != "fluid":
        raise InputError(f"the device '{shown(device)}' for {backend}; expected none, because only fluid has devices")


def check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed is {shown(seed)}; expected a whole number, at least 0")


def check_reset_options(options: object, known: tuple[str, ...] = ()) -> None:
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"the options of reset are {shown(options)}; expected a dict")
    for name in options or ():
        if name not in known:
            expected = f"only {', '.join(known)}" if known else "none"
            raise InputError(f"reset has no option '{shown(name)}'; expected {expected}")


def info(outcome: Outcome, flow: int, faults: list[str] | None) -> dict[str, Any]:
    """Return the info of a flow: its measurements in the last interval, and the faults of a finished episode."""
    measures: dict[str, Any] = {name: float(value[0, flow]) for name, value in outcome.measures.items()}
    return measures if faults is None else {**measures, "faults": faults}


class LinkEnv(gymnasium.Env[Any, Any]):
    """One flow on one link. Each episode draws another link; see docs/learning.md."""

    # Gymnasium declares this attribute for instances, hence the ignore.
    metadata: ClassVar = {"render_modes": list(MODES), "render_fps": 30}  # type: ignore[misc]

    def __init__(
        self, render_mode: str | None = None, device: str | None = None, backend: str = "fluid", **options: Any
    ) -> None:
        """Make the environment.

        Args:
            render_mode: `rgb_array`: `render` returns a picture of the episode so far. `human`: a window shows this
                picture after each interval; without a display, a line on standard error. None: nothing is drawn.
            device: The device of JAX for the backend `fluid`, such as `cpu` or `gpu`. None for the fastest way to play
                one link on this machine.
            backend: `fluid`, `packets` or `emulator`.
            options: The options of the environment; see `make_environment`.

        Raises:
            InputError: If an option is wrong, or there are several flows.
        """
        self.render_mode, self._screen = render_mode, Screen(render_mode, [""])
        self.environment = alone(options)
        self.rule = rule(self.environment)
        self.observation_space, self.action_space = spaces(self.environment)[0], self.rule.space
        self._player = player(self.environment, backend, device)
        self._steps, self._running = self.environment.options.steps, False
        self._row = np.zeros((1, 1), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        check_reset_options(options)
        if seed is not None:
            check_seed(seed)
        super().reset(seed=seed)
        outcome = self._player.reset([int(self.np_random.integers(2**31))])
        self._running = True
        self._screen.begin()
        return outcome.observation[0, 0], info(outcome, 0, self._player.faults)

    def step(self, action: Any) -> tuple[Floats, SupportsFloat, bool, bool, dict[str, Any]]:
        if not self._running:
            raise InputError("step without a running episode; expected reset first, also after the end of an episode")
        self._row[0, 0] = self.rule.one(action)
        outcome = self._player.step(self._row)
        truncated = outcome.interval >= self._steps
        self._running = not truncated
        measured = info(outcome, 0, self._player.faults)
        self._screen.add({"": measured})
        return outcome.observation[0, 0], float(outcome.reward[0, 0]), False, truncated, measured

    def render(self) -> Any:
        return self._screen.render()

    def close(self) -> None:
        self._running = False
        self._player.close()
        self._screen.close()

    def __getstate__(self) -> dict[str, Any]:
        """Only the back end `fluid` keeps a running episode."""
        return {**vars(self), "_running": self._running and self._player.is_kept}
