"""A flow with an R_m of a step and one with an R_m of two, on a link of constant rate, true of executions."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(
    flows=2, R=(1, 2), begins="anywhere", delay="each flow's own", timer="of losses not found", waste="constant rate"
)
