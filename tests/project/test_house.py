"""Layers: a package imports only lower packages, and the engine contains no name of a definition."""

import ast
import re
import subprocess
import sys
from collections import Counter
from configparser import ConfigParser

import pytest

from support import ROOT

ENGINE = ROOT / "ccmatic"


def files(*folders):
    """Python files, but for those in hidden folders and builds."""
    for folder in folders:
        yield from (f for f in folder.rglob("*.py") if not {".venv", "build", "dist"} & set(f.parts))


def test_tests_import_no_tests():
    pattern = re.compile(r"^\s*(?:from|import) (test_\w+|conftest)", re.MULTILINE)
    assert {f.name: found for f in files(ROOT / "tests") if (found := pattern.findall(f.read_text()))} == {}


def test_the_engine_names_no_definition():
    pattern = re.compile(
        r"^\s*(?:from|import) ccmatic\.(models|properties|templates|proofs|synthesized|examples)", re.M
    )
    assert {str(f): found for f in files(ENGINE) if (found := pattern.findall(f.read_text()))} == {}


def assigned_twice(tree):
    """The names that a module assigns or defines more than once at its top."""
    names = Counter()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        names.update(each.id for target in targets for each in ast.walk(target)
                     if isinstance(node, ast.Assign | ast.AnnAssign)
                     and isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))  # fmt: skip
    return {name for name, count in names.items() if count > 1}


def test_no_module_assigns_a_name_twice():
    """Each constant has one value, also where files were joined."""
    assert assigned_twice(ast.parse("A, B = 1, 2\nC = 3\nA = 4\n")) == {"A"}
    assert {str(f): found for f in files(ENGINE) if (found := assigned_twice(ast.parse(f.read_text())))} == {}


def test_definitions_import_contracts_and_logic_only():
    pattern = re.compile(r"^\s*(?:from|import) (ccmatic[\w.]*)", re.MULTILINE)
    allowed = re.compile(r"ccmatic\.(base|contracts|logic|models|properties|templates|proofs)(\.\w+)*$")
    folders = [ROOT / name for name in ("models", "properties", "templates")]
    named = {(f.name, name) for f in files(*folders) for name in pattern.findall(f.read_text())}
    assert named and {(file, name) for file, name in named if not allowed.match(name)} == set()


def test_every_package_is_installed():
    """setup.cfg lists them, as definitions are installed below `ccmatic`, too."""
    options = ConfigParser()
    options.read(ROOT / "setup.cfg")
    folders = dict(line.split(" = ") for line in options["options"]["package_dir"].split("\n") if line)
    packages = {".".join(file.parent.relative_to(ROOT).parts) for file in ENGINE.rglob("__init__.py")}
    for package, folder in folders.items():
        inside = {file.parent for file in (ROOT / folder).rglob("__init__.py")}
        packages |= {".".join([package, *path.relative_to(ROOT / folder).parts]) for path in inside}
    assert {line for line in options["options"]["packages"].split("\n") if line} == packages


def test_layers_and_circles():
    """The contract in pyproject.toml; a package between two of its layers would be a circle."""
    pytest.importorskip("importlinter", reason="no import-linter: pip install -e '.[dev]'")
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout
