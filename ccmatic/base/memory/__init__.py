"""The memory of answers: decided answers on this machine, by everything that influences them."""

from ccmatic.base.memory.memory import VARIABLE, Memory, code_digest, own_definitions, question

__all__ = ["VARIABLE", "Memory", "code_digest", "own_definitions", "question"]
