"""The server of the workbench. It serves only the user who started it, on this machine.

The command prints a link with a token, and a page must present this token. Other sites in the same browser do not know
the token. Before it checks the token, the server refuses requests that address this machine by another name, because
such requests may come from DNS rebinding.
"""

import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ccmatic.answers import explanation
from ccmatic.base import InputError, parse_json
from ccmatic.records import SaveRequest, WorkbenchFile, convert, require_format
from ccmatic.workbench import files
from ccmatic.workbench.processes import Processes

#: The largest request, in bytes.
LARGEST = 8 * 2**20

#: Pages load no content from other sites. Inline styles are allowed, because charts position their elements by style
#: attributes.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(question: WorkbenchFile, folder: Path, token: str, hosts: set[str], timeout: float) -> Starlette:
    """Return the ASGI application.

    Args:
        question: The initial content of a page.
        folder: The only folder to which the server saves controllers.
        token: The token that a page must present.
        hosts: The names, including the port, by which requests may address this machine.
        timeout: The time limit for each expectation, in seconds.
    """
    processes = Processes(timeout)

    async def begin(request: Request) -> Response:
        return JSONResponse(files.introduction(question, folder))

    async def controller(request: Request) -> Response:
        return JSONResponse({"controller": files.shipped_controller(request.path_params["name"])})

    async def verify(request: Request) -> Response:
        return await _answer(request, processes, True)

    async def reopen(request: Request) -> Response:
        return await _answer(request, processes, False)

    async def save(request: Request) -> Response:
        text = convert(await _body(request), SaveRequest)
        try:
            path = files.save(folder, text.name, text.controller, text.replace)
        except FileExistsError:
            return _refusal(f"{text.name} is there already", 409)
        return JSONResponse({"path": str(path)})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.processes = processes
        await processes.warm_up()
        yield
        await processes.close()

    routes = [
        *(Route(f"/{name}", _static(text, kind)) for name, (text, kind) in _files().items()),
        Route("/api/begin", begin),
        Route("/api/controllers/{name}", controller),
        Route("/api/verify", verify, methods=["POST"]),
        Route("/api/reopen", reopen, methods=["POST"]),
        Route("/api/save", save, methods=["POST"]),
    ]
    application = Starlette(routes=routes, lifespan=lifespan, exception_handlers={InputError: _bad_input})
    application.add_middleware(_Guard, token=token, hosts=hosts)
    return application


class _Guard:
    """A filter that refuses requests which do not come from the page of the user who started the server."""

    def __init__(self, app: ASGIApp, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token.encode(), hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(Request(scope))
            app: ASGIApp = refusal or self.app

            async def send_safely(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                await send(message)

            await app(scope, receive, send_safely)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self.hosts:
            return _refusal("this name of the machine is refused; open the link that ccmatic printed", 403)
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        allowed = scheme == "Bearer" and hmac.compare_digest(given.encode(), self.token)
        if request.url.path.startswith("/api/") and not allowed:
            return _refusal("the token is missing or wrong; open the link that ccmatic printed", 401)
        return None


async def _answer(request: Request, processes: Processes, verify: bool) -> Response:
    question = await _body(request)
    require_format(question, WorkbenchFile)
    convert(question, WorkbenchFile)
    parts = processes.answer(json.dumps({"verify": verify, "question": question}))

    async def lines() -> AsyncIterator[str]:
        try:
            async for part in parts:
                yield part or "{}\n"
        finally:
            await parts.aclose()

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _body(request: Request) -> Any:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST:
            raise InputError(f"the request has more than {LARGEST // 2**20} MiB; expected less")
    try:
        return parse_json(content.decode())
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text") from None


async def _bad_input(request: Request, error: Exception) -> Response:
    if not isinstance(error, InputError):
        raise error
    return _refusal(error.message, 400, error.file, error.line)


def _refusal(message: str, status: int, file: str | None = None, line: int | None = None) -> Response:
    return JSONResponse({"message": message, "file": file, "line": line}, status)


def _static(text: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return Response(text, media_type=kind)

    return serve


def _files() -> dict[str, tuple[str, str]]:
    """Return the text and the media type of each file of the page, by name. The server serves no other files."""
    script, style = "text/javascript", "text/css"
    return {
        "": (files.text("workbench.html"), "text/html"),
        "workbench.js": (files.text("workbench.js"), script),
        "workbench.css": (files.text("workbench.css"), style),
        "editor.js": (files.text("editor.js"), script),
        "trace.js": (explanation.script(), script),
        "trace.css": (explanation.style(), style),
    }
