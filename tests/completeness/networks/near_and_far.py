"""A flow with an R_m of a step and one with an R_m of two, on a link of constant rate, true of executions."""

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer, Waste

MODEL = CCAC2021(
    flows=2,
    R=(1, 2),
    begins=Start.ANYWHERE,
    delay=DelayMeasurement.PER_FLOW,
    timer=Timer.UNDETECTED_LOSS,
    waste=Waste.CONSTANT_RATE,
)
