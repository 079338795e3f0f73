"""The network of CCAC's published tool, and variants of this network."""

from ccmatic.models.ccac2021.laws import CCAC2021, MODEL
from ccmatic.models.ccac2021.options import DelayMeasurement, JitterBox, Loss, Slack, Waste
from ccmatic.models.window_sender import InitialBytes, LossDetection, Start, Timer

__all__ = [
    "CCAC2021",
    "MODEL",
    "DelayMeasurement",
    "InitialBytes",
    "JitterBox",
    "Loss",
    "LossDetection",
    "Slack",
    "Start",
    "Timer",
    "Waste",
]
