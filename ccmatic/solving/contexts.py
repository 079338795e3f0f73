"""Contexts of Z3. Each query has its own context, because two threads may not use one context at once."""

import z3


def context() -> z3.Context:
    """Return a new context for one thread.

    Python's garbage collector runs in any thread that allocates. So it may free a context's objects while another
    thread solves in that context, and Z3 would crash. Therefore, this context delays releases until its next use.
    """
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())
    return made
