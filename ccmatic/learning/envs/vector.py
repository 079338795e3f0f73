"""Gymnasium's interface to many links at once."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ccmatic.base import InputError, counted, shown
from ccmatic.learning.envs.backends import Fluid, Outcome, Played, Player, Several
from ccmatic.learning.envs.gym import (
    Floats,
    alone,
    check_backend,
    check_reset_options,
    check_seed,
    player,
    rule,
    spaces,
)
from ccmatic.learning.envs.picture import check_mode

Step: TypeAlias = tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]


class LinkVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Many links like the link of a LinkEnv, simulated at once.

    Link i has the seed `seed + i`, or the i-th seed of a list. With its seed, a link is the same link as in a LinkEnv.
    All episodes have the same length, so they end together. Then the episodes begin anew as `autoreset_mode` says.
    """

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        device: str | None = None,
        backend: str = "fluid",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **options: Any,
    ) -> None:
        """Make the environments.

        Args:
            num_envs: The number of links.
            render_mode: None, because a picture has one link.
            device: The device of JAX for the backend `fluid`; None for JAX's default.
            backend: `fluid` simulates all links at once. `packets` simulates one after the other. `emulator` has one
                link.
            autoreset_mode: Gymnasium's AutoresetMode. SAME_STEP begins the next episodes in the last step of the old
                ones, NEXT_STEP in the step after it, and DISABLED leaves this to `reset`.
            options: The options of the environment; see `make_environment`.

        Raises:
            InputError: If an option is wrong, or there are several flows.
        """
        check_mode(render_mode)
        if render_mode is not None:
            raise InputError(
                f"render_mode '{render_mode}' for many links; expected None, because a picture has one link"
            )
        self.environment = alone(options)
        if type(num_envs) is not int or num_envs < 1:
            raise InputError(f"{shown(num_envs)} links; expected a whole number, at least 1")
        self.mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.mode}
        self.num_envs, self.render_mode = num_envs, render_mode
        self.rule = rule(self.environment)
        self.single_observation_space, self.single_action_space = spaces(self.environment)[0], self.rule.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = self.rule.spaces(num_envs)
        check_backend(backend, device)
        if backend == "emulator" and num_envs > 1:
            raise InputError(f"{num_envs} links over the emulator; expected one, because it is this machine's network")
        self._player: Player = (
            Played(Fluid(self.environment, num_envs, device))
            if backend == "fluid"
            else Several([player(self.environment, backend, device) for _ in range(num_envs)])
        )
        self._generators: list[np.random.Generator] = []
        self._has_begun = self._is_over = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode on each link, as Gymnasium describes.

        A seed s stands for s, s + 1 and so on; a list has a seed, or None, for each link. The only option,
        `reset_mask`, has to select all links: they share one clock, so no link can begin alone.
        """
        check_reset_options(options, ("reset_mask",))
        if options and "reset_mask" in options:
            self._check_mask(options["reset_mask"])
        self._seed(seed)
        outcome = self._begin()
        return outcome.observation[:, 0], self._info(outcome)

    def step(self, actions: Any) -> Step:
        """Play one interval on each link, as Gymnasium describes.

        At the end of the episodes in the mode SAME_STEP, `final_obs` and `final_info` have the observations and the
        info of the last interval, and the other values belong to the new episodes.
        """
        if not self._has_begun or (self._is_over and self.mode is AutoresetMode.DISABLED):
            raise InputError("step without running episodes; expected reset first, also after the end of episodes")
        chosen = self.rule.many(actions, self.num_envs)
        never = np.zeros(self.num_envs, bool)
        if self._is_over:
            outcome = self._begin()
            return outcome.observation[:, 0], np.zeros(self.num_envs), never, never.copy(), self._info(outcome)
        outcome = self._player.step(chosen)
        over = np.full(self.num_envs, outcome.interval >= self.environment.options.steps)
        self._is_over = bool(over[0])
        observation, info = outcome.observation[:, 0], self._info(outcome)
        if self._is_over and self.mode is AutoresetMode.SAME_STEP:
            final = {"final_obs": observation, "_final_obs": over, "final_info": info, "_final_info": over}
            begun = self._begin()
            observation, info = begun.observation[:, 0], self._info(begun) | final
        return observation, outcome.reward[:, 0], never, over, info

    def close_extras(self, **kwargs: Any) -> None:
        self._has_begun = False
        self._player.close()

    def _seed(self, seed: object) -> None:
        if isinstance(seed, list | tuple | np.ndarray):
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise InputError(
                    f"{counted(len(seeds), 'seed')}; expected one for each of {counted(self.num_envs, 'link')}"
                )
        elif seed is None:
            seeds = [None] * self.num_envs
        else:
            check_seed(seed)
            assert isinstance(seed, int | np.integer)  # check_seed has checked this.
            seeds = [int(seed) + number for number in range(self.num_envs)]
        for each in seeds:
            if each is not None:
                check_seed(each)
        super().reset(seed=None if seeds[0] is None else int(seeds[0]))
        if not self._generators:
            self._generators = [np.random.default_rng(each) for each in seeds]
            return
        for number, each in enumerate(seeds):
            if each is not None:
                self._generators[number] = np.random.default_rng(each)

    def _begin(self) -> Outcome:
        outcome = self._player.reset([int(each.integers(2**31)) for each in self._generators])
        self._has_begun, self._is_over = True, False
        return outcome

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        info: dict[str, Any] = {name: value[:, 0] for name, value in outcome.measures.items()}
        info |= {f"_{name}": np.ones(self.num_envs, bool) for name in info}
        faults = self._player.faults
        return info if faults is None else {**info, "faults": faults}

    def _check_mask(self, mask: object) -> None:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise InputError(f"reset_mask is {shown(mask)}; expected an array of {self.num_envs} bools")
        if not mask.all():
            selected = f"{int(mask.sum())} of {counted(self.num_envs, 'link')}"
            raise InputError(f"reset_mask selects {selected}; expected all, because episodes begin together")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_has_begun": self._has_begun and self._player.is_kept}


def _mode(given: object) -> AutoresetMode:
    try:
        return AutoresetMode[given.upper()] if isinstance(given, str) else AutoresetMode(given)
    except (KeyError, ValueError):
        expected = ", ".join(mode.name for mode in AutoresetMode)
        raise InputError(f"unknown autoreset_mode '{shown(given)}'; expected {expected}") from None
