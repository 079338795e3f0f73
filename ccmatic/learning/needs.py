"""What learning needs of the extra `rl`: whoever imports this module first gets one clear message."""

from importlib.util import find_spec

from ccmatic.base import InputError

for name in ("gymnasium", "jax", "pettingzoo"):
    if find_spec(name) is None:
        raise InputError(f"{name} is not installed; pip install 'ccmatic[rl]'")
