"""A link that also loses bytes by chance."""

from ccmatic.models.lossy.laws import CHANCE, LOSS, MODEL, Chance, Lossy, lost_by_chance

__all__ = ["CHANCE", "LOSS", "MODEL", "Chance", "Lossy", "lost_by_chance"]
