"""The buffer of the bottleneck, as a query states it."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, exact
from ccmatic.contracts.steps import Laws, Number
from ccmatic.logic import Linear, linear, real


@dataclass(frozen=True)
class Buffer:
    """A buffer that is `infinite`, of `any` size, of an exact size, or of a minimal size.

    Attributes:
        kind: `infinite`, `any`, `exactly` or `at least`.
        size: The size in units of C·R_m; None for `infinite` and `any`.
    """

    kind: str
    size: Fraction | None = None

    @staticmethod
    def parse(text: object) -> "Buffer":
        """Read a buffer: `infinite`, `any`, a size above 0 such as 1/2 (in C·R_m), or a minimum such as >=1/2.

        Raises:
            InputError: If the text has none of these forms.
        """
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
        return self.kind != "infinite"

    def term(self) -> Linear | None:
        """Return the size β in C·R_m as a term: a number, or the unknown `beta`; None if the buffer is infinite."""
        if not self.finite:
            return None
        return linear(self.size) if self.size and self.kind == "exactly" else real("beta")

    def agrees(self, beta: Fraction) -> bool:
        """Return whether a trace's buffer size β, in C·R_m, fits this buffer. An exact size must be equal to β."""
        return self.kind != "exactly" or beta == self.size

    def laws(self, beta: Number, alpha: Number) -> Laws:
        """Yield the laws of the size β in C·R_m: β is at least the stated size, and larger than one packet (alpha)."""
        if self.finite:
            yield "buffer_holds_a_packet", 0, beta > alpha
        if self.size and self.kind == "at least":
            yield "buffer_size", 0, beta >= self.size
