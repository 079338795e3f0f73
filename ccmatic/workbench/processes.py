"""Processes that answer questions, and that can be stopped at any time."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from tempfile import TemporaryDirectory

#: The interval in seconds at which a page receives a sign that its request is still in progress (a beat), and the
#: largest size of a line of an answer in bytes.
BEAT, LONGEST = 0.5, 2**27


class Processes:
    """Processes that run the module `answers`.

    Each answers one request at a time, and each expectation within `timeout`.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._folder = TemporaryDirectory(prefix="ccmatic-workbench-", ignore_cleanup_errors=True)
        self._idle: list[asyncio.subprocess.Process] = []
        self._busy: set[asyncio.subprocess.Process] = set()

    async def warm_up(self) -> None:
        """Start a process before the first request, because the imports of a process take a second."""
        self._idle.append(await self._started())

    async def answer(self, question: str) -> AsyncGenerator[str | None]:
        """Yield the lines of JSON that answer a request. Meanwhile, yield None every half second.

        If the iterator is closed before its end, the process is killed.
        """
        process = self._idle.pop() if self._idle else await self._started()
        if process.stdin is None or process.stdout is None:
            raise TypeError("a process without pipes")
        self._busy.add(process)
        done = False
        reading = None
        try:
            process.stdin.write(f"{question}\n".encode())
            while True:
                # The read continues over several beats, because a cancelled read could lose the beginning of a line.
                reading = reading or asyncio.ensure_future(process.stdout.readline())
                if reading not in (await asyncio.wait({reading}, timeout=BEAT))[0]:
                    yield None
                    continue
                line, reading = reading.result().decode(), None
                done = line == "\n"
                if done or not line:
                    break
                yield line
        finally:
            if reading:
                reading.cancel()
            # `close` may have killed this process already. A second signal could reap it before asyncio's watcher does.
            if process in self._busy:
                self._busy.remove(process)
                if done and not self._idle:
                    self._idle.append(process)
                else:
                    _end(process)
        if not done:
            yield '{"ended": true}\n'

    async def close(self) -> None:
        ended = (*self._busy, *self._idle)
        self._busy.clear()
        self._idle.clear()
        for process in ended:
            _end(process)
        for process in ended:
            await process.wait()
        self._folder.cleanup()

    async def _started(self) -> asyncio.subprocess.Process:
        command = sys.executable, "-m", "ccmatic.workbench.answers", str(self._timeout)
        pipe = asyncio.subprocess.PIPE
        environment = {**os.environ, "TMPDIR": self._folder.name}
        return await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, env=environment, limit=LONGEST, start_new_session=True
        )


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
