"""The executions of one controller, encoded once for many queries."""

from functools import cached_property

from ccmatic.answers.verification.verifier import Part
from ccmatic.logic import Truth, every
from ccmatic.logic.solving import SAT, Checker
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides


class Executions:
    """The executions of a controller that fail in the way that a Part describes.

    This object takes over the Part, so the Part must not be used for anything else.
    """

    def __init__(self, part: Part, controller: Decides | None) -> None:
        self.part, self._controller = part, controller

    @cached_property
    def checker(self) -> Checker:
        """The solver, which already contains the conditions of the network and the controller. May raise OutOfTime."""
        checker = self.part.checker
        checker.add(self.part.choices(self._controller))
        return checker

    def find(self, *conditions: Truth) -> tuple[str, Trace | None]:
        """Search for an execution that satisfies all conditions.

        Returns:
            The solver's answer, and a trace if the answer is SAT.

        Raises:
            OutOfTime: If the time limit of the Part is over.
        """
        checker = self.checker
        with checker.supposing(every(conditions)):
            answer = checker.check()
            return answer, self.part.read_trace(checker.value, self._controller) if answer == SAT else None
