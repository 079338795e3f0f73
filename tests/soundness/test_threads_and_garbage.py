"""Threads solve at once, and any of them may run Python's garbage collector: no solver crashes. Each script runs in a
process of its own, as a crash would end the tests."""

import ast
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import pytest

from ccmatic.base import syntax_tree
from support import ROOT

#: Formulas without a solution, in as many variants as are asked for.
SPLIT = """
from ccmatic.logic import boolean, no, real, some

def split(number=1):
    x, y, p, q = real("x"), real("y"), boolean("p"), boolean("q")
    terms = [real(f"x{i}") for i in range(12)]
    chain = [some(a - b > 1, no(p)) for a, b in zip(terms, terms[1:] + terms[:1])]
    return [some(x + y < 0, x - y > 10), some(p, y < 3), some(no(p), y < 3), y > 2, x + y >= number, x <= 9, *chain]
"""


def runs(script):
    """Run Python in a process of its own, which must end well."""
    command = [sys.executable, "-X", "faulthandler", "-c", SPLIT + dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-3000:]


def test_nothing_uses_the_context_that_all_threads_share():
    runs("""
        import z3
        from ccmatic.logic.certificates import certify
        from ccmatic.logic import linear
        from ccmatic.logic.solving import SAT, UNSAT, Checker, conflict, greatest

        p = boolean("p")
        assert certify(split()) and certify([p, no(p)]) and certify([some()]) and len(conflict(split())) > 3
        for formulas, answer in ((split(), UNSAT), (split()[1:], SAT)):
            checker = Checker()
            for each in formulas:
                checker.add(each)
            assert checker.check() == answer
        assert checker.value(real("y")) > 2
        assert greatest(real("x"), linear(1), [real("x") - 3], []) == 3
        assert z3.z3._main_ctx is None
        print("done")
    """)


def test_threads_certify_at_once():
    runs("""
        from concurrent.futures import ThreadPoolExecutor
        from ccmatic.logic.certificates import certify
        from ccmatic.logic import Environment

        def certificate(number):
            with Environment():
                return certify(split(number))

        numbers = range(1, 13)
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(certificate, [*numbers] * 5)) == [*map(certificate, numbers)] * 5
        print("done")
    """)


def test_one_thread_at_a_time_parses(monkeypatch):
    """In Python 3.11, all threads share one depth. A parse that another thread interrupts may end in a SystemError."""
    parse, inside, most = ast.parse, [], []

    def slow(*arguments, **named):
        inside.append(None)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return parse(*arguments, **named)

    monkeypatch.setattr(ast, "parse", slow)
    with ThreadPoolExecutor(4) as pool:
        names = [tree.body.id for tree in pool.map(lambda name: syntax_tree(name, mode="eval"), "abcd")]
    assert (names, max(most)) == (["a", "b", "c", "d"], 1)


def test_ccmatic_parses_only_by_this_function():
    files = [file for folder in ("ccmatic", "models", "properties") for file in (ROOT / folder).rglob("*.py")]
    assert [f.name for f in files if re.search(r"ast\.(parse|literal_eval)\(", f.read_text())] == ["files.py"]


@pytest.mark.slow
def test_another_thread_collects_what_a_solver_leaves():
    """As happens when one thread waits for a solver, which lets others run, and another's allocation begins a
    collection."""
    runs("""
        import gc, queue, threading, time
        import z3
        from ccmatic.logic.solving import context

        class Cycle:
            def __init__(self, term):
                self.me, self.term = self, term

        def collect():
            while asked.get():
                gc.collect()

        gc.disable()
        asked, own = queue.SimpleQueue(), context()
        collector = threading.Thread(target=collect)
        collector.start()
        x = [z3.Real(f"x{i}", own) for i in range(20)]
        end = time.monotonic() + 6
        while time.monotonic() < end:
            for i in range(300):
                Cycle(x[i % 20] * i + x[i * 7 % 20])
            asked.put(True)
            solver = z3.Solver(ctx=own)
            for i in range(40):
                solver.add(z3.Or(x[i % 20] - x[(i * 3 + 1) % 20] > i, x[i * 5 % 20] + x[i * 3 % 20] < -i))
            assert solver.check() != z3.unknown
        asked.put(False)
        collector.join()
        print("done")
    """)


def test_threads_open_cvc5_at_once():
    pytest.importorskip("cvc5", reason="no cvc5: pip install 'ccmatic[cvc5]'")
    runs("""
        from concurrent.futures import ThreadPoolExecutor
        from ccmatic.logic import Environment
        from ccmatic.logic.solving import UNSAT, Checker, SolverOptions

        def answer(number):
            with Environment():
                checker = Checker(SolverOptions(("cvc5",)))
                for each in split(number):
                    checker.add(each)
                return checker.check()

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(answer, range(1, 40))) == {UNSAT}
        print("done")
    """)


@pytest.mark.parametrize("program", [
    "from ccmatic.__main__ import main; sys.argv = ['ccmatic', '--version']",
    "from ccmatic.base.workers import _processes; main = _processes(2).submit(signal.raise_signal, 11).result",
], ids=["a command", "a worker"])  # fmt: skip
def test_a_crash_says_where(program):
    """A command is crashed as soon as it imports its packages."""
    crash = "sys.meta_path.insert(0, type('', (), {'find_spec': lambda *_: signal.raise_signal(11)}))"
    hook = crash if "argv" in program else "pass"
    script = f"import signal, sys\n{program}\nif __name__ == '__main__':\n    {hook}\n    main()\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "Fatal Python error: Segmentation fault" in done.stderr and '  File "' in done.stderr
