"""ccac_windows, whose R_m is two steps."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(begins="anywhere", delay="open at first", timer="of losses not found", R=2)
