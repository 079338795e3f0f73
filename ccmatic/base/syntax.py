"""Syntax trees of Python texts, for any thread.

In Python 3.11, two threads that parse at the same time may get a SystemError: "AST constructor recursion depth
mismatch". The reason is that all threads share one depth, and that a garbage collection may switch threads during the
parse.
"""

import ast
from threading import Lock
from typing import Literal, overload

_PARSING = Lock()


@overload
def syntax_tree(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def syntax_tree(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def syntax_tree(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Return the syntax tree of a Python text. One thread at a time parses.

    Args:
        text: The text.
        mode: `exec` for statements, or `eval` for an expression, as for `ast.parse`.

    Raises:
        SyntaxError: If the text is no Python.
        ValueError: If the text contains a null character.
        RecursionError: If the text is nested too deeply. Python may also raise MemoryError.
    """
    with _PARSING:
        return ast.parse(text, mode=mode)
