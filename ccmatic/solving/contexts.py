"""Contexts of Z3: each query has its own, because two threads may not use the same one at once."""

import z3


def context() -> z3.Context:
    """Return a new context for one thread.

    Python's garbage collector runs in whichever thread allocates, so it may free a context's objects while another
    thread solves in that context. This context delays such releases until its next use; otherwise Z3 crashes.
    """
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())
    return made
