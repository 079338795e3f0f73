"""The network of ccac2021_non_composing from any step of an execution on: bytes and tokens are counted from before it
began, and what was there at first may have waited for any time."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(waste="non-composing", begins="anywhere", delay="open at first")
