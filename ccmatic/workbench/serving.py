"""Serve the workbench until it is interrupted."""

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.records import WorkbenchFile

#: The loopback address: only this machine can connect.
LOOPBACK = "127.0.0.1"


def serve(
    question: WorkbenchFile,
    folder: str | Path,
    *,
    port: int = 0,
    timeout: float = 60,
    ready: Callable[[str], None] = lambda link: None,
) -> None:
    """Serve the workbench on this machine until it is interrupted.

    Args:
        question: The initial content of a page, from `begin`.
        folder: The folder to which the server saves controllers.
        port: The port. The number 0 selects any free port.
        timeout: The time limit for each expectation, in seconds.
        ready: A function that receives the link that opens the page. The part of this link after `#` contains the
            token, because browsers never send that part to a server.
    """
    try:
        import uvicorn

        from ccmatic.workbench.server import application
    except ImportError as error:
        raise InputError(f"the workbench needs {error.name}: pip install 'ccmatic[workbench]'") from None
    folder = Path(folder).absolute()
    if not folder.is_dir():
        raise InputError("the folder does not exist; expected one for saved controllers", str(folder))
    try:
        listening = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise InputError(f"cannot listen on port {port}: {error.strerror}; expected another, or 0 for any") from None
    with listening:
        port = listening.getsockname()[1]
        hosts, token = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}, secrets.token_urlsafe(32)
        app = application(question, folder, token, hosts, timeout)

        class Server(uvicorn.Server):  # type: ignore[misc, unused-ignore]
            """The uvicorn server. On an interrupt, it ends the answering processes and does not wait for open pages."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    ready(f"http://{LOOPBACK}:{port}/#{token}")

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                await app.state.processes.close()
                await super().shutdown(sockets)

        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, ws="none")
        Server(config).run(sockets=[listening])
