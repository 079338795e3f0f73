"""ccac_windows, whose R_m is two steps."""

from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer

MODEL = CCAC2021(begins=Start.ANYWHERE, delay=DelayMeasurement.OPEN_AT_FIRST, timer=Timer.UNDETECTED_LOSS, R=2)
