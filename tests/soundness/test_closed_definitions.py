"""Definitions that may read the environment, a clock or a file: the memory keeps no answer about them.

Each attack reads an environment variable. The test runs it, so that it is known to succeed.
"""

import ast
import builtins
import io
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace

import pytest

from ccmatic.base.memory import closed
from ccmatic.base.memory.closed import BUILTINS, EXPORTED, KEPT_BACK, exports, is_closed
from ccmatic.contracts import Buffer, execution, load_definition
from support import ROOT
from support.cli import lines, run

READ = 'modules["os"].environ["MOST"]'
IMPORT = '"__import__"]("os").environ["MOST"]'
HINT = "__import__('typing').Literal[__import__('os').environ['MOST']]"

ATTACKS = {
    "a module of a module": f"import typing\nMOST = typing.sys.{READ}",
    "a module of dataclasses": f"import dataclasses\nMOST = dataclasses.sys.{READ}",
    "a module by its name": f"from typing import sys\nMOST = sys.{READ}",
    "another name": f"import typing as t\nMOST = t.sys.{READ}",
    "self as another name": f"import typing as self\nMOST = self.sys.{READ}",
    "a second name": f"import typing\nt = typing\nMOST = t.sys.{READ}",
    "a default": f"import typing\ndef f(m=typing):\n    return m.sys.{READ}\nMOST = f()",
    "an element": f"import typing\nMOST = [m for m in (typing,)][0].sys.{READ}",
    "a wide letter": f"import typing\nMOST = typing.ｓys.{READ}",
    "a package": f"import collections.abc\nMOST = collections._sys.{READ}",
    "the namespace of a module": f'import typing\nMOST = typing.__dict__["sys"].{READ}',
    "an import": 'import os\nMOST = os.environ["MOST"]',
    "an import in a function": 'def f():\n    from os import environ\n    return environ["MOST"]\nMOST = f()',
    "an import in a class": 'class A:\n    from os import environ\nMOST = A.environ["MOST"]',
    "a star": 'from os import *\nMOST = environ["MOST"]',
    "globals of a function": f'from typing import cast\nMOST = cast.__globals__["sys"].{READ}',
    "globals of a method": f"from fractions import Fraction\n"
    f'MOST = Fraction.limit_denominator.__globals__["sys"].{READ}',
    "builtins": f"MOST = __builtins__[{IMPORT}",
    "builtins of a function": f"MOST = (lambda: 0).__builtins__[{IMPORT}",
    "a computed name": f'import typing\nMOST = getattr(typing, "s" + "ys").{READ}',
    "vars": f'import typing\nMOST = vars(typing)["sys"].{READ}',
    "globals": f'MOST = globals()["__builtins__"][{IMPORT}',
    "locals": f'MOST = locals()["__builtins__"][{IMPORT}',
    "eval": """MOST = eval('__import__("os").environ["MOST"]')""",
    "exec": """exec('import os; MOST = os.environ["MOST"]')""",
    "a format": 'from typing import cast\nMOST = "{0.__globals__[sys].modules[os].environ[MOST]}".format(cast)',
    "a format of a mapping": "from typing import cast\n"
    'MOST = "{f.__globals__[sys].modules[os].environ[MOST]}".format_map({"f": cast})',
    "a format as a function": "from typing import cast\n"
    '(MOST,) = map(str.format, ["{0.__globals__[sys].modules[os].environ[MOST]}"], [cast])',
    "attrgetter": f"from operator import attrgetter\nfrom typing import cast\n"
    f'MOST = attrgetter("__globals__")(cast)["sys"].{READ}',
    "methodcaller": "from operator import methodcaller\nfrom typing import cast\n"
    f'MOST = methodcaller("__getattribute__", "__globals__")(cast)["sys"].{READ}',
    "a hint": f"from typing import get_args, get_type_hints\nclass A:\n    a: {HINT!r}\n"
    f"MOST = get_args(get_type_hints(A)['a'])[0]",
    "a decorator": f"from typing import get_args, get_type_hints\n@get_type_hints\nclass A:\n    a: {HINT!r}\n"
    "MOST = get_args(A['a'])[0]",
    "wraps": "from functools import update_wrapper\nfrom typing import cast\nfrom types import SimpleNamespace\n"
    f'MOST = update_wrapper(SimpleNamespace(seen={{}}), cast, ["__globals__"], []).__globals__["sys"].{READ}',
    "a frame of a generator": f"MOST = (x for x in ()).gi_frame.f_builtins[{IMPORT}",
    "a frame of a coroutine": f"async def f():\n    pass\nc = f()\nMOST = c.cr_frame.f_builtins[{IMPORT}\nc.close()",
    "a frame of an asynchronous generator": f"async def f():\n    yield\nMOST = f().ag_frame.f_builtins[{IMPORT}",
    "a frame of an exception": "try:\n    1 / 0\nexcept ArithmeticError as e:\n"
    f"    MOST = e.__traceback__.tb_frame.f_builtins[{IMPORT}",
    "a frame of a context": "class A:\n    def __enter__(self):\n        pass\n"
    "    def __exit__(self, kind, error, trace):\n"
    f"        self.MOST = trace.tb_frame.f_builtins[{IMPORT}\n        return True\na = A()\nwith a:\n"
    f"    1 / 0\nMOST = a.MOST",
    "subclasses": 'MOST = next(c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "_wrap_close")'
    '.__init__.__globals__["environ"]["MOST"]',
    "an attribute in a pattern": f"from typing import cast\nmatch cast:\n"
    f'    case object(__globals__=g):\n        MOST = g["sys"].{READ}',
    "a frame in a pattern": f"match (x for x in ()):\n    case object(gi_frame=object(f_builtins=b)):\n"
    f"        MOST = b[{IMPORT}",
    "a place in a pattern": "from abc import ABC\nfrom collections import namedtuple\nclass A(ABC):\n    @classmethod\n"
    "    def __subclasshook__(cls, kind):\n        return True\nclass G(namedtuple('B', 'gi_frame'), A):\n    pass\n"
    "class F(namedtuple('B', 'f_builtins'), A):\n    pass\n"
    f"match (x for x in ()):\n    case G(F(b)):\n        MOST = b[{IMPORT}",
    "a class made of texts": "from typing import cast\nX = type('X', (type,), {'__instancecheck__': lambda *a: True})\n"
    "Y = X('Y', (), {'__match_args__': ('__globals__',)})\n"
    f"match cast:\n    case Y(g):\n        MOST = g['sys'].{READ}",
    "a name of a shipped definition": f"from ccmatic.properties.misread import re\nMOST = re.enum.sys.{READ}",
    "a name of a contract": f"from ccmatic.contracts.worlds import inspect\nMOST = inspect.sys.{READ}",
    "a contract as a module": f"from ccmatic import contracts\nMOST = contracts.worlds.inspect.sys.{READ}",
    "a contract as another module": f"import ccmatic.contracts as c\nMOST = c.worlds.inspect.sys.{READ}",
}

#: Texts that reach other files, or the interpreter, in further ways.
OTHERS = [
    "x = open('f')",
    "x = __file__",
    "x = id(1)",
    "x = hash('a')",
    "print(1)",
    "x = help",
    "x = license",
    "class A(type): pass",
    "x = type(int)('A', (), {})",
    "class A:\n    __slots__ = ('a',)",
    "class A:\n    @(lambda f: {'a': int})\n    def __annotations__(self): ...",
    "class A:\n    class __annotations__: ...",
    "try: ...\nexcept ValueError as __annotations__: ...",
    "match 1:\n    case __match_args__: ...",
    "def f(**__builtins__): ...",
    "x = [1 for __builtins__ in ()]",
    "try: ...\nexcept AttributeError as e:\n    x = e.obj",
    "from enum import Enum",
    "class A:\n    def f(self): return self._convert_('A', 'os', bool)",
    "from ccmatic.models.ccac2021.options import Loss\nx = Loss.mro()[1]",
    "from collections import UserDict",
    "from dataclasses import asdict",
    "from typing import ForwardRef",
    "from typing import TypedDict",
    "from dataclasses import make_dataclass",
    "from functools import singledispatch",
    "from abc import ABCMeta",
    "from fractions import Fraction\nFraction.limit_denominator = abs",
    "import math\nmath.pi = 3",
    "from math import *",
    "from . import other",
    "from .other import other",
    "import random as fractions",
    "from pathlib import Path",
    "import ccmatic",
    "from ccmatic import api",
    "from ccmatic.base import read_text",
    "from ccmatic.contracts import load_definition as f",
    "from ccmatic.contracts import world",
    "from ccmatic.contracts.checker import definitions",
    "from ccmatic.logic import Environment",
    "from ccmatic.properties import misread",
    "from ccmatic.properties.lemma import LemmaHolds",
    "from ccmatic.properties.expectations import definitions",
    "from ccmatic.models.nothing import a",
    "from ccmatic.models.ccac.fluid import advance",
    "from ccmatic.contracts import Program as P",
    "from ccmatic.contracts import Program\nx = Program",
    "from ccmatic.contracts import Program\nx = Program('', {}, '/etc/hosts')",
    "from ccmatic.contracts import Program\nx = Program('', {}, file='/etc/hosts')",
    "from ccmatic.contracts import Program\nx = Program(*('', {}, '/etc/hosts'))",
    "from ccmatic.contracts import Program\nx = Program('', *({}, '/etc/hosts'))",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_reads_the_environment_and_is_not_closed(attack, monkeypatch):
    monkeypatch.setenv("MOST", "seen")
    namespace = {"__name__": "mine"}
    exec(ATTACKS[attack], namespace)
    assert namespace["MOST"] == "seen"
    assert not is_closed(ATTACKS[attack])


@pytest.mark.parametrize("text", OTHERS)
def test_a_text_that_may_depend_on_more_is_not_closed(text):
    assert not is_closed(text)


def test_an_attack_inside_a_definition_is_found():
    """The same texts, in a method of a property that alone is closed."""
    name = "properties/synthesis_invariant.py"
    source = (ROOT / name).read_text()
    assert is_closed(source)
    for text in [*ATTACKS.values(), *OTHERS]:
        if "*" not in text.partition("import")[2][:3]:  # a star is for modules alone
            inside = "\n".join(f"        {line}" for line in text.splitlines())
            assert not is_closed(f"{source}\n\nclass Mine:\n    def mine(self):\n{inside}\n"), text


# ---- what remains ----


def shipped():
    return [file for kind in ("models", "properties", "proofs") for file in sorted((ROOT / kind).rglob("*.py"))]


def test_most_shipped_models_are_closed():
    """A copy is a user's own file."""
    laws = [file for file in shipped() if file.name == "laws.py"]
    kept = {file.parent.name for file in laws if is_closed(file.read_text())}
    assert {file.parent.name for file in laws} - kept == {"ccac2021", "changing_windows", "smooth_windows"}


def examples():
    """The Python files of the guides."""
    for page in sorted((ROOT / "docs" / "extend").glob("*.md")):
        for title, text in re.findall(
            r'^```python title="(\S+)"\n(.*?)^```', page.read_text(), re.DOTALL | re.MULTILINE
        ):
            yield pytest.param(text, id=f"{page.stem} {title}")


@pytest.mark.parametrize("text", [*examples()])
def test_the_definitions_of_the_guides_are_closed(text):
    assert is_closed(text)


PLAIN = '''
"""A property with many parts of Python."""

from __future__ import annotations

import math
import operator as o
from collections import Counter, namedtuple
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import ClassVar, NamedTuple

from ccmatic.base import InputError
from ccmatic.contracts import BYTES, Law, Program, Property, WayToFail
from ccmatic.logic import every, implies, no, some
from ccmatic.models.ccac import CCAC
from ccmatic.models.beliefs.queueing_delay import QUEUEING_DELAY
from ccmatic.properties.performance import bdp

PROGRAM = Program("def out(sent, acked):\\n    return sent - acked\\n", {"out": BYTES}, __file__)
MOST = max(math.ceil(Fraction(7, 2)), 3)


class Point(NamedTuple):
    t: int
    value: Fraction = Fraction(0)


@dataclass(frozen=True)
class Queue(Property):
    name = "queue"
    kind: ClassVar[Counter] = Counter("ab")

    most: Fraction = Fraction(3)
    points: tuple = field(default=(), metadata={"text": True})

    def __post_init__(self):
        super().__post_init__()
        if self.most < 0:
            raise InputError(f"most is {self.most!r}; expected {self._expected:>3}")

    @property
    def _expected(self):
        return "at least 0"

    def ways_to_fail(self, model, buffer):
        match self.points:
            case [Point(t=0), *_]:
                return
            case str():
                raise ValueError("a text")
        for t, later in pairwise(range(4)):
            with_most = partial(self._short, t, most=self.most)
            yield WayToFail(f"step {t}", lambda x, short=with_most: no(short(x)))

    def _short(self, t, x, most):
        steps = [each for each in sorted({*range(x.horizon)}, key=lambda each: -each) if each >= t]
        return every([x.queue(step) <= o.mul(most, bdp(x)) for step in steps])

    def objectives(self, model, x):
        try:
            return {"short": every([self._short(t, x, self.most) for t in range(x.horizon)])}
        except KeyError as error:
            raise InputError("no {}".replace("{}", str(error))) from None

    def holds(self, objectives):
        return all(objectives.values())


PROPERTY = Queue
'''


def test_a_plain_file_with_many_parts_of_python_is_closed():
    compile(PLAIN, "plain.py", "exec")
    assert is_closed(PLAIN)


MODEL = """
import dataclasses

from ccmatic.models.ideal.laws import Ideal


class Mine(Ideal):
    name = "mine"


MODEL = Mine()
"""


@pytest.mark.parametrize("reads", [False, True])
def test_answers_about_a_model_are_remembered_unless_it_reads_the_environment(reads, tmp_path, monkeypatch):
    monkeypatch.setenv("CCMATIC_MEMORY", str(tmp_path / "answers"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    read = 'MOST = dataclasses.sys.modules["os"].environ.get("MOST")' if reads else ""
    (tmp_path / "mine.py").write_text(f"{MODEL}{read}\n")
    ask = ("verify", "cc_qdel", "--model", "./mine.py", "--buffer", "infinite", "--horizon", "4", "--json")
    answers = [lines(run(*ask, cwd=tmp_path)[1])[0] for _ in range(2)]
    assert [each["remembered"] for each in answers] == [False, not reads]


# ---- no attribute leads out ----


def reachable(roots, most):
    """Yield each object that public attributes and elements reach from objects, with its path."""
    seen, todo = {}, [(path, value, 0) for path, value in roots.items()]
    for path, value, depth in todo:
        if id(value) in seen:
            continue
        seen[id(value)] = value
        yield path, value
        if depth == most or isinstance(value, int | str | bytes | float):
            continue
        for name in dir(value):
            if not name.startswith("__") and not name[0] == name[-1] == "_" and name not in closed._INTERNAL:
                try:
                    todo.append((f"{path}.{name}", getattr(value, name), depth + 1))
                except Exception:  # a property of which this object has no value
                    continue
        parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else []
        parts = list(value) if isinstance(value, list | tuple | set | frozenset) else parts
        todo += [(f"{path}[{number}]", part, depth + 1) for number, part in enumerate(parts)]


def leads_out(value):
    return isinstance(value, ModuleType | io.IOBase | PurePath) or value is os.environ


def test_no_attribute_of_what_a_definition_may_use_leads_out():
    roots = {name: getattr(builtins, name) for name in BUILTINS}
    for file in shipped():
        name = ".".join(("ccmatic", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        roots |= {f"{name}.{each}": getattr(import_module(name), each) for each in exports(name)}
    for module in (*EXPORTED, *KEPT_BACK):
        assert exports(module)
        roots |= {f"{module}.{name}": getattr(import_module(module), name) for name in exports(module)}
    for name in ("ccac", "ccac_windows", "two_flows", "marking"):
        model = load_definition("models", "MODEL", name)
        roots |= {name: model, f"an execution of {name}": execution(model, 5, Buffer.parse("2"), 1)}
    found = list(reachable(roots, 4))
    assert len(found) > 10_000 and not [path for path, value in found if leads_out(value)]
    assert any(leads_out(value) for _, value in reachable({"a": SimpleNamespace(b=[SimpleNamespace(c=os)])}, 4))


READS = {"open", "read_text", "import_module", "importlib", "inspect", "os", "definitions"}


def used(tree, names):
    """The names in the definitions of a module that are reached from some of its names."""
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    seen, todo = set(), [defined[name] for name in names if name in defined]
    while todo:
        found = {node.id for node in ast.walk(todo.pop()) if isinstance(node, ast.Name)} - seen
        seen |= found
        todo += [defined[name] for name in found if name in defined]
    return seen


def test_nothing_of_the_contracts_reads_a_file():
    """Of what definitions may use, only names that are kept back read files, and Program, which reads its own."""
    for face in ("ccmatic.contracts", "ccmatic.logic"):
        names = defaultdict(set)
        for name in exports(face):
            names[getattr(getattr(import_module(face), name), "__module__", face)].add(name)
        assert len(names) > 1
        for module in {each for each in names if each.startswith(face)} - {face, "ccmatic.contracts.program"}:
            tree = ast.parse(Path(import_module(module).__file__).read_text())
            assert not used(tree, names[module]) & READS, module


def test_a_name_that_reads_a_file_through_another_would_be_found():
    tree = ast.parse("def f():\n    return g()\n\ndef g():\n    return open('x')\n\ndef h():\n    return 1\n")
    assert used(tree, {"f"}) & READS and not used(tree, {"h"}) & READS
