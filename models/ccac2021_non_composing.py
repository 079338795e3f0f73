"""CCAC's published network where tokens are wasted only when nothing waits at the end of a step."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(waste="non-composing")
