"""Two flows on a link of constant rate, with jitter behind it, first in, first out (CBR-delay)."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(flows=2, waste="constant rate", delay="each flow's own")
