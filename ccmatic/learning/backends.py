"""What an episode runs on: the fluid simulator, or what measures packets. One interface: `reset` gives Links and a
State, `step` takes them and an action."""

from functools import partial

import jax
import jax.numpy as jnp

from ccmatic.base import InputError


class Fluid:
    """n links of an Environment in the fluid simulator, compiled. device: `cpu`, `gpu` …; None: JAX's default. Raises
    InputError where there is no such device."""

    def __init__(self, environment, n=1, device=None):
        self.environment, self.n = environment, n
        self._device = _found(device)
        self._reset = jax.jit(partial(environment.reset, n=n))
        self._step = jax.jit(environment.step, donate_argnums=1)
        self._observe = jax.jit(environment.observation)

    def reset(self, seed):
        """(Links, State, observation (n, f, size)) of an episode. seed: of all that is random in it."""
        key = jax.random.key(seed)
        links, state = self._reset(key if self._device is None else jax.device_put(key, self._device))
        return links, state, self._observe(state)

    def step(self, links, state, action):
        """One interval, as Environment.step; the State that is given is not to be used again."""
        return self._step(links, state, jnp.asarray(action, jnp.float32))


def _found(device):
    try:
        return None if device is None else jax.devices(device)[0]
    except RuntimeError:
        there = ", ".join(sorted({each.platform for each in jax.devices()}))
        raise InputError(f"no device '{device}' here; JAX has {there}") from None
