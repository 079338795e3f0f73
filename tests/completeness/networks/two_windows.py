"""Two flows on CCAC's network, true of executions, with losses."""

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer

MODEL = CCAC2021(flows=2, begins=Start.ANYWHERE, delay=DelayMeasurement.PER_FLOW, timer=Timer.UNDETECTED_LOSS)
