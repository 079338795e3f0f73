"""Verification of many candidates, here or side by side on other processes and machines, through
`concurrent.futures.Executor`."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import wait as wait_for_end

from ccmatic import query as queries
from ccmatic.base import InputError
from ccmatic.logic import Environment
from ccmatic.verification import Verifier

#: How often in a row processes may die before any of them has done a thing.
RESTARTS = 3

_kept = threading.local()


def verify(record, reads, sample, options, proved, source, name):
    """The verdict on a controller's source, without the controller, which whoever asks has, and which may not travel
    between processes. A thread keeps the verifier of a query for the next call.

    record: of the query, see `Query.record`. reads, options, proved: of the Verifier. sample: the source of a
    controller that remembers the same. name: what messages call it.
    """
    kept = _keep(record, reads, sample, options, proved)
    with kept.environment:
        return replace(kept.verifier.verify(kept.verifier.query.read_controller(source, name)), controller=None)


def prove(record, reads, sample, options):
    """The names of the ways to fail that no controller can go."""
    kept = _keep(record, reads, sample, options)
    with kept.environment:
        return kept.verifier.prove()


def _keep(record, reads, sample, options, proved=()):
    """What this thread keeps: a verifier, and the environment of its formulas."""
    key = record, reads, sample, options, proved
    if getattr(_kept, "key", None) != key:
        environment = Environment()
        with environment:
            query = queries.from_record(record, allow_code=True)
            verifier = Verifier(query, reads, options, proved, query.read_controller(sample).state)
        _kept.environment, _kept.verifier, _kept.key = environment, verifier, key
    return _kept


class Team:
    """Workers that take tasks: in this process for one job, `jobs` processes, or a Dask cluster at the address
    `cluster`. `len` counts the tasks under way. Raises InputError for a cluster that does not answer.

    A process that dies, killed or out of memory, is replaced and its task done again.
    """

    def __init__(self, jobs=1, cluster=None):
        self._hire = (lambda: _cluster(cluster)) if cluster else (lambda: _processes(jobs))
        self._executor = self._hire()
        self._pending = {}
        self._restarts = 0

    def __len__(self):
        return len(self._pending)

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
