"""The memory of answers: decided answers on this machine, by everything that influences them."""

from ccmatic.memory.memory import VARIABLE, Memory
from ccmatic.memory.question import question

__all__ = ["VARIABLE", "Memory", "question"]
