"""CCAC's published network with two senders, which run the same controller."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(flows=2)
