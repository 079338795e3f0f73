"""Where JAX keeps what it compiles for tests."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory):
    """Keeps the programs that JAX compiles, so that the tests of a file compile each of them once."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    yield
    jax.config.update("jax_compilation_cache_dir", None)
