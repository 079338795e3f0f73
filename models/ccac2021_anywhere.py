"""CCAC's published network from any step of an execution on: bytes and tokens are counted from before it began, and no
delay is measured, which the published network takes to be unknown at first."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(begins="anywhere", delay="not measured")
