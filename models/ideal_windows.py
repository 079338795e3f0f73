"""The ideal link under senders by a window: cbr_delay_windows without jitter."""

from dataclasses import replace

from ccmatic.models import cbr_delay_windows

MODEL = replace(cbr_delay_windows.MODEL, default_jitter=0)
