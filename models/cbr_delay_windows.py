"""CBR-delay under senders by a window: ccac_windows on a link that serves at its rate whenever something waits."""

from dataclasses import replace

from ccmatic.models import ccac_windows

MODEL = replace(ccac_windows.MODEL, waste="constant rate")
