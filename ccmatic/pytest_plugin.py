"""A pytest plugin: the fixture `judge` runs code on a lawful network, and fails the test if a rule breaks.

    def test_idle(judge):
        judge("./toy", events=["idle 1 s at 5 s"], rules=["idle", "restart"])

Tests that do not use the fixture load nothing else of ccmatic.
"""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def judge() -> Callable[..., Any]:
    """A function with the arguments of `cm.judge`, which fails the test if a rule breaks or none applies."""

    def judged(subject: str, *arguments: Any, **settings: Any) -> Any:
        from ccmatic import judging

        found = judging.judge(subject, *arguments, **settings)
        broken = [line for line in found.lines if line.verdict == "broken"]
        if broken:
            pytest.fail(
                "\n".join(f"{each.rule}: {judging.measured_words(each)}; expected {each.threshold}" for each in broken)
            )
        if not any(line.verdict == "kept" for line in found.lines):
            pytest.fail("\n".join(f"{line.rule} is not applicable: {line.reason}" for line in found.lines))
        return found

    return judged
