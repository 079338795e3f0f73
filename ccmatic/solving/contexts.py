"""Contexts of Z3: every query has one of its own, as two threads may not use one at the same time."""

import z3


def context():
    """A new context for one thread.

    Python's garbage collector runs in whichever thread allocates, so it may free a context's objects while another
    thread solves in it. Such objects wait until the context is used again; without that, Z3 crashes.
    """
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())
    return made
