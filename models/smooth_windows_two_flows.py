"""`smooth_windows` with two flows, first in, first out: each measures the delay of its own bytes."""

from dataclasses import replace

from ccmatic.models import smooth_windows

MODEL = replace(smooth_windows.MODEL, flows=2, delay="each flow's own")
