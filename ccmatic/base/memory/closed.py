"""Decide whether a definition depends only on its own text and on ccmatic's code.

The memory stores answers about such definitions only. Their text may use only a part of Python: builtins that compute,
and some names of some modules. It may not reach a module, a frame or the namespace of a function, because these lead to
the environment, the clock and all files.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib import import_module
from pathlib import Path
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    GeneratorType,
    MappingProxyType,
    ModuleType,
    TracebackType,
)

from ccmatic.base import read_text, syntax_tree

#: The names that a definition may import from modules that export more. None of them evaluates a text, or reads or sets
#: attributes that a text names, as `asdict` does for copies, and `Enum` for members.
EXPORTED: Mapping[str, Set[str]] = MappingProxyType(
    {
        "__future__": {"annotations"},
        "abc": {"ABC", "abstractmethod"},
        "collections": {"ChainMap", "Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"},
        "dataclasses": {"KW_ONLY", "dataclass", "field", "fields", "replace"},
        "functools": {"cache", "cached_property", "lru_cache", "partial", "reduce", "total_ordering"},
        "types": {"MappingProxyType", "SimpleNamespace"},
        "typing": {"Any", "Callable", "ClassVar", "Final", "Generic", "Iterable", "Iterator", "Literal", "Mapping"}
        | {"NamedTuple", "Optional", "Protocol", "Self", "Sequence", "TypeAlias", "TypeVar", "Union", "cast"},
        "ccmatic.base": {"BYTES", "CONDITION", "RATE", "TIME", "InputError", "counted", "exact", "shown", "suggest"},
    }
)

_OF_FACES = {
    "contracts": {"folders", "load_definition", "load_fluid", "load_logs", "world"},
    "logic": {"Environment", "isolated", "isolated_steps"},
}

#: The modules from which a definition may import all public names but a few, which read attributes that a text names,
#: read files, or lead to solvers.
KEPT_BACK: Mapping[str, Set[str]] = MappingProxyType(
    {
        "collections.abc": set(),
        "fractions": set(),
        "itertools": set(),
        "math": set(),
        "numbers": set(),
        "operator": {"attrgetter", "methodcaller"},
        **{f"ccmatic.{face}": kept for face, kept in _OF_FACES.items()},
    }
)

#: The folders of shipped definitions, from which a definition may import as well, and the names that only they import.
_SHIPPED = ("ccmatic.models.", "ccmatic.properties.")
_FOR_SHIPPED: Mapping[str, Set[str]] = MappingProxyType(
    {
        "ast": {"ast"},
        "difflib": {"get_close_matches"},
        "enum": {"Enum"},
        "re": {"re"},
        "ccmatic.base": {"syntax_tree"},
    }
)

#: The builtins that compute from their arguments. `type` is missing because it makes classes, `hash` and `id` because
#: their results differ between processes.
BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict", "divmod", "enumerate"}
    | {"filter", "float", "frozenset", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min"}
    | {"next", "object", "ord", "pow", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted"}
    | {"staticmethod", "str", "sum", "super", "tuple", "zip", "NotImplemented", "ArithmeticError", "AssertionError"}
    | {"AttributeError", "Exception", "IndexError", "KeyError", "LookupError", "NotImplementedError", "OverflowError"}
    | {"RuntimeError", "StopIteration", "TypeError", "ValueError", "ZeroDivisionError"}
)

#: The names of attributes that lead from an object into the interpreter, such as gi_frame and f_globals; `mro` leads to
#: the classes above a class, and `obj` to the object of an AttributeError.
_INTERNAL = frozenset(
    name
    for kind in (AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType, TracebackType)
    for name in dir(kind)
    if "_" in name and name[0] != "_"
) | {"mro", "obj"}

#: The names of methods that read the attributes which a text names.
_FORMATS = frozenset({"format", "format_map"})


def is_closed(text: str) -> bool:
    """Return whether a definition depends on nothing but its own text and ccmatic's code."""
    tree = syntax_tree(text)
    modules: dict[str, Set[str]] = {}
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            name = alias.asname or alias.name
            modules[name] = exports(alias.name) & modules.get(name, exports(alias.name))
    known: set[ast.AST] = set()
    return all(_is_closed(node, modules, known) for node in ast.walk(tree))


def _is_closed(node: ast.AST, modules: Mapping[str, Set[str]], known: set[ast.AST]) -> bool:
    """Return whether a definition may contain a node, apart from the node's parts.

    `modules` has the allowed attributes of each name that stands for a module. `known` has the nodes that a node above
    them allows; the function adds to them.
    """
    if any(name in _INTERNAL for name in _identifiers(node)):
        return False
    match node:
        case ast.Import(names=names):
            return all(exports(alias.name) and "." not in alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            renamed = any(alias.name == "Program" and alias.asname for alias in names)
            return not level and not renamed and {alias.name for alias in names} <= exports(module or "")
        case ast.Attribute(value=ast.Name(id=name) as base, attr=attribute, ctx=ast.Load()) if name in modules:
            known.add(base)
            return attribute in modules[name]
        case ast.Attribute(value=value, attr=attribute, ctx=ctx):
            return _is_attribute(value, attribute, ctx)
        case ast.MatchClass(patterns=patterns, kwd_attrs=names):
            return not patterns and not any(name[0] == "_" or name in _FORMATS for name in names)
        case ast.FunctionDef(decorator_list=[]):
            return True  # also a method such as __post_init__
        case ast.Call(func=ast.Name(id="Program") as function, args=[_, _, *file], keywords=[]):
            # A program reads its third argument, a file.
            known.update((function, *file))
            starred = any(isinstance(each, ast.Starred) for each in node.args)
            return not starred and all(isinstance(each, ast.Name) and each.id == "__file__" for each in file)
        case ast.Name(id=name):
            if node in known:
                return True
            return (
                _is_plain(name)
                and name not in {*modules, "Program"}
                and (name in BUILTINS or not hasattr(builtins, name))
            )
    return all(map(_is_plain, _identifiers(node)))


def _is_attribute(value: ast.expr, name: str, context: ast.expr_context) -> bool:
    above = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
    own = above or (isinstance(value, ast.Name) and value.id in ("self", "cls"))
    if name in ("__init__", "__post_init__"):
        return above
    if not own and (name[0] == "_" or not isinstance(context, ast.Load)):
        return False
    # Names such as _convert_ are methods of enumerations, which read other modules.
    return name not in _FORMATS and not (name[0] == name[-1] == "_")


def _is_plain(name: str) -> bool:
    return not name.startswith("__")


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field, value in ast.iter_fields(node):
        if not isinstance(node, ast.Constant) and (field, type(node)) != ("module", ast.ImportFrom):
            yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))


@cache
def exports(module: str) -> Set[str]:
    """Return the names that a definition may import from a module."""
    if module in EXPORTED:
        return frozenset(EXPORTED[module])
    if module in KEPT_BACK:
        return _public(import_module(module)) - KEPT_BACK[module]
    if not module.startswith(_SHIPPED):
        return frozenset()
    try:
        loaded = import_module(module)
    except ImportError:
        return frozenset()
    tree = syntax_tree(read_text(Path(str(loaded.__file__))))
    return _public(loaded, tree) if all(map(_is_imported_by_shipped, ast.walk(tree))) else frozenset()


def _is_imported_by_shipped(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.name in _FOR_SHIPPED or exports(alias.name) for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            allowed = exports(module) | _FOR_SHIPPED.get(module, set())
            return all(alias.name in allowed or exports(f"{module}.{alias.name}") for alias in names)
    return True


def _public(module: ModuleType, tree: ast.Module | None = None) -> frozenset[str]:
    """Return the public names of a module that are no modules; with its tree, only those that the tree defines."""
    names = set(getattr(module, "__all__", _defined(tree) if tree else dir(module)))
    values = [(name, value) for name, value in vars(module).items() if name in names and name[0] != "_"]
    return frozenset(name for name, value in values if not isinstance(value, ModuleType))


def _defined(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            yield from (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
