"""The program `ccmatic`: Ctrl-C ends it from its first moment on, also while it imports what it needs."""

import faulthandler
import os
import signal
import sys
import threading


def main():
    """Run a command, as `commands.main` does. A crash, such as of a solver, says in which lines of Python."""
    signal.signal(signal.SIGINT, _interrupt)
    if sys.__stderr__:
        faulthandler.enable(sys.__stderr__)
    from ccmatic.cli import main

    main()


def _interrupt(number, frame):
    """Raise KeyboardInterrupt; but leave at once where something is being imported, as some packages take that for a
    module that is missing."""
    sys.unraisablehook = _swallowed
    while frame:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            os.write(sys.__stderr__.fileno(), b"ccmatic: interrupted\n")
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


def _swallowed(what):
    """Interrupt again, a little later, what swallowed the interrupt, as destructors do. What a library cannot tidy up,
    cut off in its middle, is not worth a word."""
    if what.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()


if __name__ == "__main__":
    main()
