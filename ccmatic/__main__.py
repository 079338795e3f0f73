"""The program `ccmatic`. Ctrl-C ends it from the first moment on, also while it still imports modules."""

import faulthandler
import gc
import os
import signal
import sys

#: The number of new objects between two collections of garbage. Imports and formulas create many objects that stay, and
#: Python's default of 700 would examine them again and again.
YOUNGEST = 100_000


def main():
    """Run a command, as `ccmatic.cli.main` does. After a crash, such as in a solver, print the Python stack."""
    signal.signal(signal.SIGINT, _interrupt)
    gc.set_threshold(YOUNGEST)
    if sys.__stderr__:
        faulthandler.enable(sys.__stderr__)
    from ccmatic.cli import main

    main()


def _interrupt(number, frame):
    """Raise KeyboardInterrupt, but exit at once during an import: some packages mistake it for a missing module."""
    sys.unraisablehook = _swallowed
    while frame:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            os.write(sys.__stderr__.fileno(), b"ccmatic: interrupted\n")
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


def _swallowed(what):
    """Send the interrupt again a little later if a destructor swallowed it, and print none of the destructors' errors.

    A library that is interrupted in its middle often cannot tidy up. Its complaints would only hide the interrupt.
    """
    if what.exc_type is KeyboardInterrupt:
        import threading  # imported here, so that `main` catches interrupts sooner

        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()


if __name__ == "__main__":
    main()
