"""Which solvers decide, for how long, and with which seed."""

from dataclasses import dataclass, replace

from ccmatic.base import Clock


@dataclass(frozen=True)
class SolverOptions:
    """Options of the solvers.

    Attributes:
        solvers: Names in `NAMES`. Each decides every question, and they must agree.
        timeout: Seconds for each question, a Clock that several questions share, or None for any time.
        seed: The seed of the search.
    """

    solvers: tuple[str, ...] = ("z3",)
    timeout: "float | Clock | None" = None
    seed: int = 0

    def with_clock(self, clock: Clock) -> "SolverOptions":
        """Return the same options, timed by a clock."""
        return replace(self, timeout=clock)
