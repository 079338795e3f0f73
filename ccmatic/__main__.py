"""The program `ccmatic`: Ctrl-C ends it from its first moment on, also while it imports what it needs."""

import os
import signal
import sys


def main():
    """Run a command, as `commands.main` does."""
    signal.signal(signal.SIGINT, _interrupt)
    from ccmatic.cli import main

    main()


def _interrupt(number, frame):
    """Raise KeyboardInterrupt; but leave at once where something is being imported, as some packages take that for a
    module that is missing. What a library then cannot tidy up, cut off in its middle, is not worth a word."""
    sys.unraisablehook = lambda _: None
    while frame:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            os.write(sys.__stderr__.fileno(), b"ccmatic: interrupted\n")
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
