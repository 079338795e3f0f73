"""Tasks side by side on other processes and machines, through `concurrent.futures.Executor`."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait as wait_for_end

from ccmatic.base import InputError

#: How often in a row processes may die before any of them has done a thing.
RESTARTS = 3


class Team:
    """Workers that take tasks: in this process for one job, `jobs` processes, or a Dask cluster at the address
    `cluster`. `len` counts the tasks under way. Raises InputError for a cluster that does not answer.

    A process that dies, killed or out of memory, is replaced and its task done again.
    """

    def __init__(self, jobs=1, cluster=None):
        self.size = jobs
        self._is_cluster = cluster is not None
        self._hire = (lambda: _cluster(cluster)) if cluster else (lambda: _processes(jobs))
        self._executor = self._hire()
        self._pending = {}
        self._restarts = 0

    def __len__(self):
        return len(self._pending)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def each(self, function, tasks, listener=lambda result: None):
        """Yield function(*task) for each task, in the order of the tasks.

        A cluster gets all tasks at once. Processes get as many as there are, and work on while results are consumed. An
        exception is raised in the place of the result.

        Args:
            function: A function that can be pickled, as can its arguments and results.
            tasks: Tuples of arguments.
            listener: Receives each result as soon as it is known, in any order.
        """
        tasks = list(tasks)
        left, known = iter(enumerate(tasks)), {}
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

    def submit(self, task, function, *arguments):
        """Have function(*arguments) done; `task`, anything, comes back with what it returns. Raises InputError if
        workers die again and again."""
        try:
            future = self._submit(function, *arguments)
        except BrokenExecutor:
            self._restart()
            future = self._submit(function, *arguments)
        self._pending[future] = task, function, arguments

    def _submit(self, function, *arguments):
        with _deaf_children():
            return self._executor.submit(function, *arguments)

    def results(self):
        """Wait until something is done; yield (task, result) for each task that is."""
        try:
            for future in wait_for(self._pending, return_when=FIRST_COMPLETED).done:
                result = future.result()
                task, *_ = self._pending.pop(future)
                self._restarts = 0
                yield task, result
        except BrokenExecutor:
            self._restart()

    def close(self):
        """Drop what is under way; processes of ours end at once."""
        self._dismiss()
        for child in multiprocessing.active_children():
            child.terminate()

    def _dismiss(self):
        for future in self._pending:
            future.cancel()
        self._executor.shutdown(wait=False)

    def _restart(self):
        self._restarts += 1
        if self._restarts > RESTARTS:
            raise InputError("the worker processes keep dying; expected enough memory for --jobs of them")
        self._dismiss()
        self._executor = self._hire()
        lost, self._pending = self._pending, {}
        for task, function, arguments in lost.values():
            self.submit(task, function, *arguments)


def _attempt(function, *arguments):
    """What a function returns and None, or None and the exception that it raises."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


class _Here(Executor):
    """Does the work in the call itself."""

    def submit(self, function, /, *arguments, **named):
        future = Future()
        future.set_result(function(*arguments, **named))
        return future


def _processes(jobs):
    if jobs == 1:
        return _Here()
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_begin)


@contextmanager
def _deaf_children():
    """Processes begun within this block ignore Ctrl-C, which a terminal sends to all: this process alone answers it,
    and ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin():
    """A worker whose parent was killed ends as well; one that crashes says in which lines of Python."""
    if sys.__stderr__:
        faulthandler.enable(sys.__stderr__)
    parent = multiprocessing.parent_process()

    def watch():
        wait_for_end([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _cluster(address):
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--cluster needs Dask: pip install 'ccmatic[cluster]'") from None
    try:
        return Client(address, timeout=5, set_as_default=False).get_executor()
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"cannot reach a Dask scheduler at {address}: {error}") from None
