"""Contexts of Z3. Each query has its own context, because two threads may not use one context at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import process_time

import z3


def context() -> z3.Context:
    """Return a new context for one thread.

    Python's garbage collector runs in any thread that allocates. So it may free a context's objects while another
    thread solves in that context, and Z3 would crash. Therefore, this context delays releases until its next use.
    """
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())
    return made


@contextmanager
def limited(own: z3.Context, seconds: float) -> Iterator[None]:
    """Interrupt the solvers of a context as soon as this process has spent some CPU seconds in this block."""
    end, done = process_time() + seconds, Event()

    def watch() -> None:
        while not done.wait(max(end - process_time(), 0.01)):
            if process_time() >= end:
                own.interrupt()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
