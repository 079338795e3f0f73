"""Parallel tasks on other processes, or on the machines of a cluster, through `concurrent.futures.Executor`."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait as wait_for_end
from typing import Any, Self, TypeVar

from ccmatic.base import InputError

__all__ = ["Team"]

T = TypeVar("T")

#: The largest number of processes that may die in succession without a completed task.
RESTARTS = 3


class Team:
    """A team of workers: this process if `jobs` is one, `jobs` processes, or the Dask cluster at the address `cluster`.

    If a process dies, for example for lack of memory, the team replaces it and repeats its task. The function `len`
    returns the number of pending tasks.
    """

    def __init__(self, jobs: int = 1, cluster: str | None = None) -> None:
        self.size = jobs
        self._is_cluster = cluster is not None
        self._hire = (lambda: _cluster(cluster)) if cluster else (lambda: (_processes(jobs), None))
        self._executor: Executor
        self._client: Any
        self._executor, self._client = self._hire()
        self._pending: dict[Future[Any], tuple[Any, ...]] = {}
        self._restarts = 0

    def __len__(self) -> int:
        return len(self._pending)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def each(
        self,
        function: Callable[..., T],
        tasks: Iterable[tuple[Any, ...]],
        listener: Callable[[T], None] = lambda result: None,
    ) -> Iterator[T]:
        """Yield function(*task) for each task, in the order of the tasks, or raise what the task raises.

        A cluster receives all tasks at once. Each process receives one task at a time, and continues while the caller
        consumes results. The `listener` receives each result as soon as it is known, in any order. The function, its
        arguments and its results must be picklable.
        """
        tasks = list(tasks)
        left = iter(enumerate(tasks))
        known: dict[int, tuple[Any, Exception | None]] = {}
        ahead = len(tasks) if self._is_cluster else self.size
        for number in range(len(tasks)):
            while number not in known:
                for place, task in islice(left, ahead - len(self)):
                    self.submit(place, _attempt, function, *task)
                for place, (result, error) in self.results():
                    known[place] = result, error
                    if error is None:
                        listener(result)
            result, error = known.pop(number)
            if error is not None:
                raise error
            yield result

    def submit(self, task: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Submit function(*arguments). The method `results` yields the result together with `task`, any object."""
        try:
            future = self._submit(function, *arguments)
        except BrokenExecutor:
            self._restart()
            future = self._submit(function, *arguments)
        self._pending[future] = task, function, arguments

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        with _deaf_children():
            return self._executor.submit(function, *arguments)

    def results(self) -> Iterator[tuple[Any, Any]]:
        """Wait until a task is completed, and yield (task, result) for each completed task."""
        try:
            for future in wait_for(self._pending, return_when=FIRST_COMPLETED).done:
                result = future.result()
                task, *_ = self._pending.pop(future)
                self._restarts = 0
                yield task, result
        except BrokenExecutor:
            self._restart()

    def close(self) -> None:
        """Drop the pending tasks. The processes of this team end at once.

        This method waits for the thread that manages the processes. Otherwise Python may wake this thread at its exit
        while the thread closes its pipe, and Python then prints that an error was ignored.
        """
        for child in multiprocessing.active_children():
            child.terminate()
        self._dismiss(wait=not self._is_cluster)

    def _dismiss(self, wait: bool = False) -> None:
        for future in self._pending:
            future.cancel()
        self._executor.shutdown(wait)
        if self._client:
            self._client.close()

    def _restart(self) -> None:
        self._restarts += 1
        if self._restarts > RESTARTS:
            raise InputError("the worker processes keep dying; expected enough memory for --jobs of them")
        self._dismiss()
        self._executor, self._client = self._hire()
        lost, self._pending = self._pending, {}
        for task, function, arguments in lost.values():
            self.submit(task, function, *arguments)


def _attempt(function: Callable[..., T], *arguments: Any) -> tuple[T | None, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


class _Here(Executor):
    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(function(*arguments, **named))
        return future


def _processes(jobs: int) -> Executor:
    if jobs == 1:
        return _Here()
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_begin)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let new processes ignore Ctrl-C within this block.

    A terminal sends Ctrl-C to all processes. The child processes ignore it, because this process ends them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Start a worker. The worker exits if its parent is killed, and prints the Python stack if it crashes."""
    if sys.__stderr__:
        faulthandler.enable(sys.__stderr__)
    parent = multiprocessing.parent_process()

    def watch(sentinel: int) -> None:
        wait_for_end([sentinel])
        os._exit(1)

    if parent:
        threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()


def _cluster(address: str) -> tuple[Executor, Any]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--cluster needs Dask: pip install 'ccmatic[cluster]'") from None
    try:
        client: Any = Client(address, timeout=5, set_as_default=False)  # type: ignore[no-untyped-call]
        return client.get_executor(), client
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"cannot reach a Dask scheduler at {address}: {error}") from None
