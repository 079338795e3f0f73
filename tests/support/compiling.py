"""How JAX compiles for tests."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def compiled_soon(tmp_path_factory):
    """What is compiled here runs for moments: it need not be fast, and what one test compiles the next need not."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.config.update("jax_compilation_cache_dir", None)
