"""Two flows on CCAC's network, first in, first out: each measures the delay of its own bytes."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(flows=2, delay="each flow's own")
