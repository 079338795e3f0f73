"""The executions of one controller, encoded once, and asked about."""

from functools import cached_property

from ccmatic.logic import Truth
from ccmatic.query import Decides
from ccmatic.solving import SAT, Checker
from ccmatic.traces import Trace
from ccmatic.verification.verifier import Part, choices


class Executions:
    """Those of a controller that go the way of a Part, which is for nothing else then."""

    def __init__(self, part: Part, controller: Decides | None) -> None:
        self.part, self._controller = part, controller

    @cached_property
    def checker(self) -> Checker:
        """The solver, which knows the network and the controller. Raises OutOfTime."""
        checker = self.part.checker
        checker.add(choices(self.part.x, self._controller))
        return checker

    def find(self, *conditions: Truth) -> tuple[str, Trace | None]:
        """Whether there is one of which these are true: the solver's answer, and its trace or None. Raises
        OutOfTime."""
        checker = self.checker
        checker.push()
        try:
            for condition in conditions:
                checker.add(condition)
            answer = checker.check()
            return answer, self.part.read_trace(checker.value, self._controller) if answer == SAT else None
        finally:
            checker.pop()
