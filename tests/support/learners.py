"""What tests of environments for learners need; a file that imports this is skipped where it is not installed."""

import pytest

for name in ("jax", "gymnasium", "pettingzoo"):
    pytest.importorskip(name, reason=f"no {name}: pip install -e '.[rl]'")
