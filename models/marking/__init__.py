"""A link of constant rate that marks the packets which find a long queue, as routers with ECN do."""

from ccmatic.models.marking.laws import MODEL, THRESHOLD, Marking, marks

__all__ = ["MODEL", "THRESHOLD", "Marking", "marks"]
