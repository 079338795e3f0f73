"""The bottleneck's buffer, as a query states it."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, exact
from ccmatic.contracts.steps import Laws, Number
from ccmatic.logic import Linear, linear, real


@dataclass(frozen=True)
class Buffer:
    """`infinite`, `any`, a size, or at least a size; sizes in units of C·R_m.

    size is None for `infinite` and `any`; exact tells a given size from a least one.
    """

    kind: str
    size: Fraction | None = None

    @staticmethod
    def parse(text: object) -> "Buffer":
        """The Buffer that is `infinite`, `any`, of a size (a number above 0 such as 1/2, in C·R_m), or of at least that
        (>=1/2). Raises InputError for anything else."""
        text = str(text).strip()
        if text in ("infinite", "any"):
            return Buffer(text)
        kind, digits = ("at least", text[2:]) if text.startswith(">=") else ("exactly", text)
        try:
            size = exact(digits)
        except InputError:
            size = Fraction(0)
        if size <= 0:
            expected = "infinite, any, or a size > 0 such as '1 bdp' or '>=1 bdp'"
            raise InputError(f"the buffer is '{text:.40}'; expected {expected}")
        return Buffer(kind, size)

    def __str__(self) -> str:
        return {"exactly": str(self.size), "at least": f">={self.size}"}.get(self.kind, self.kind)

    @property
    def finite(self) -> bool:
        """Whether losses can happen at all."""
        return self.kind != "infinite"

    def term(self) -> Linear | None:
        """β as a term, in C·R_m: a number, the unknown `beta`, or None if infinite."""
        if not self.finite:
            return None
        return linear(self.size) if self.size and self.kind == "exactly" else real("beta")

    def agrees(self, beta: Fraction) -> bool:
        """Whether a trace's β, in C·R_m, can be this buffer's, as far as the size is given exactly."""
        return self.kind != "exactly" or beta == self.size

    def laws(self, beta: Number, alpha: Number) -> Laws:
        """Laws of what is known of β: at least the stated size, and room for more than one packet, alpha; in C·R_m."""
        if self.finite:
            yield "buffer_holds_a_packet", 0, beta > alpha
        if self.size and self.kind == "at least":
            yield "buffer_size", 0, beta >= self.size
