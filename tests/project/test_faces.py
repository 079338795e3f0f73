"""Packages of the engine use each other's faces, and references by name point down as imports do."""

import ast
import importlib.util
import re
import tomllib
from functools import cache

from support import ROOT

ENGINE = ROOT / "ccmatic"

#: The room whose files are each a face: one world.
GROUPS = ("ccmatic.worlds",)

FILES = sorted(ENGINE.rglob("*.py"))


@cache
def path_of(module):
    """Return the file of a module; None if it has none."""
    path = ROOT.joinpath(*module.split("."))
    found = [file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()]
    return found[0] if found else None


def names_of(tree):
    """The names that a module's statements define."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (name.id for name in ast.walk(node) if isinstance(name, ast.Name))


def listed(tree):
    """The names in a module's `__all__`; None if it declares none."""
    values = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return ast.literal_eval(values[0]) if values else None


@cache
def face(module):
    """The names in a module's `__all__`, or else those of the modules of which it imports all; None without either."""
    tree = ast.parse(path_of(module).read_text())
    whole = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    return listed(tree) or [name for each in whole for name in names_of(ast.parse(path_of(each).read_text()))] or None


def package_of(module):
    """The room, a package below `ccmatic`, in which a module is."""
    return ".".join(module.split(".")[:2])


def module_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree):
    """Yield (module, name, line) for each import from ccmatic."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "ccmatic":
            yield from ((node.module, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None, node.lineno) for alias in node.names if alias.name.startswith("ccmatic."))


def is_of_face(module, name):
    """Whether other packages may import a name from a module."""
    file, group = path_of(module), module.rpartition(".")[0]
    if file is None or name is None or name.startswith("_"):
        return module == "ccmatic" and name == "__version__"
    inside = path_of(f"{module}.{name}")
    if module == "ccmatic" or (module in GROUPS and inside is not None):
        return inside is not None
    if inside is not None and inside.name == "__init__.py":  # a part of a room
        return True
    if file.name != "__init__.py" and group not in GROUPS:
        return False
    names = face(module)
    return name in names if names is not None else file.name != "__init__.py"


def deep_imports(text, own):
    """Yield (line, module, name) of each import past the face of another package than `own`."""
    for module, name, line in imports(ast.parse(text)):
        within = own in (package_of(module), f"{module}.{name}")
        if not within and not is_of_face(module, name):
            yield line, module, name


def offenders(search):
    """Return each match of a search in the engine's files, one line each."""
    found = ((file, each) for file in FILES for each in search(file.read_text(), package_of(module_of(file))))
    return "\n".join(f"{file.relative_to(ROOT)}:{line}: {' '.join(what)}" for file, (line, *what) in found)


def test_packages_import_faces_only():
    assert not offenders(deep_imports), offenders(deep_imports)


def test_an_import_past_a_face_would_be_found():
    assert list(deep_imports("from ccmatic.base.errors import InputError", "ccmatic.logic"))
    assert list(deep_imports("from ccmatic.base import suggestions", "ccmatic.logic"))
    assert list(deep_imports("import ccmatic.base.errors", "ccmatic.logic"))
    assert list(deep_imports("from ccmatic import nosuch", "ccmatic.logic"))
    assert not list(deep_imports("from ccmatic.base import InputError", "ccmatic.logic"))
    assert not list(deep_imports("from ccmatic.base.errors import InputError", "ccmatic.base"))


def test_a_face_has_what_it_says():
    trees = {file: ast.parse(file.read_text()) for file in FILES if file.name == "__init__.py"}
    declared = {file: tree for file, tree in trees.items() if listed(tree) is not None}
    assert len(declared) > 25
    for file, tree in declared.items():
        bound = {
            alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
        }
        bound |= {*names_of(tree)}
        assert {*listed(tree)} <= bound, file


@cache
def levels():
    """The number of each package's layer, counted from above, as pyproject.toml has them."""
    [layers] = [
        contract["layers"]
        for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
        if contract["containers"] == ["ccmatic"]
    ]
    return {f"ccmatic.{name}": n for n, layer in enumerate(layers) for name in re.findall(r"[\w.]+", layer)}


def level(module):
    """The number of the layer of a module's room."""
    return levels().get(package_of(module))


def references(text):
    """Every string of a module that is the dotted path of one, but for docstrings: (line, path)."""
    for node in ast.walk(ast.parse(text)):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if re.fullmatch(r"ccmatic(\.\w+)+(:\w+)?", text):
            yield node.lineno, text


def upward(text, own):
    """Yield the references by name that point up, or to nothing."""
    for line, path in references(text):
        module = path.partition(":")[0]
        there = path_of(module) or path_of(module.rpartition(".")[0])
        below = level(own) is None or level(module) is None or level(own) < level(module)
        if there is None or (package_of(module) != own and not below):
            yield line, path


def test_references_by_name_point_down():
    assert any(list(references(file.read_text())) for file in FILES)
    assert not offenders(upward), offenders(upward)


def test_a_reference_that_points_up_would_be_found():
    assert list(upward('x = "ccmatic.cli.options"', "ccmatic.base"))
    assert list(upward('x = "ccmatic.base.nosuch.module"', "ccmatic.cli"))
    assert not list(upward('x = "ccmatic.base.files"', "ccmatic.cli"))
    assert importlib.util.find_spec("ccmatic.base.files")
