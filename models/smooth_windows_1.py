"""`smooth_windows` with a budget for each step alone: from one to the next the rate changes by at most 1/48 of C."""

from dataclasses import replace

from ccmatic.models import smooth_windows

MODEL = replace(smooth_windows.MODEL, window=1)
