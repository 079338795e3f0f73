"""The documentation: its examples run, its links lead somewhere, its site builds."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import unicodedata
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from ccmatic import api as cm
from ccmatic.base import InputError
from ccmatic.cli.commands import GROUPS
from ccmatic.contracts import Bounds, Buffer, execution, load_definition
from ccmatic.deployment.emulation import machine
from ccmatic.questions import query as queries
from support import ROOT
from support.cli import run as ccmatic
from support.sampling import each_nth

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]

#: The files that the site builds from the code: their text by path in docs/.
BUILT = runpy.run_path(str(ROOT / "docs" / "built_pages.py"))["built"]()

#: What opens a block that is run, or written to the file that its title names.
BLOCK = re.compile(r'(?P<language>python|console|toml|c|text(?= title))(?: title="(?P<title>[^"\n]+)")?\n')


def examples(page):
    """The blocks of a page, as examples of sybil. Skips the test if that is not installed."""
    sybil = pytest.importorskip("sybil")
    from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

    def parse(document):
        for region in RawFencedCodeBlockLexer(BLOCK)(document):
            region.parsed, region.evaluator = region.lexemes["source"], evaluate
            yield region

    return list(sybil.Document.parse(str(page), parse).examples())


def evaluate(example):
    """Write, run or execute a block in the folder of its page; return the fault, or None."""
    title, language = example.region.lexemes["title"], example.region.lexemes["language"]
    folder = example.namespace["folder"]
    if title:
        (folder / title).write_text(example.parsed, encoding="utf-8")
    elif language == "console":
        return console(example.parsed, folder)
    elif language == "python":
        exec(compile(example.parsed, example.path, "exec"), {})
    return None


def console(text, folder):
    """Return the fault of a session of `$ command` lines with their outputs, or None."""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        code, output = typed(command, folder)
        output += f"[exit {code}]\n" if code else ""
        if not agrees(expected, output):
            return f"$ {command}\nfound:\n{output}expected:\n{expected}"
    return None


#: A pattern of files that commands saved, as a shell expands it.
SAVED = re.compile(r"(?<= )ccmatic-traces/[\w+*-]*\*[\w*-]*\.json")

#: Characters that mean something to a shell where no quotes are around them.
SHELL = re.compile(r"[|&;<>()$`*?~#{}=\\]")


def typed(command, folder):
    """Run a command line and return its exit code and what it prints.

    A plain `ccmatic …` runs in this process, since a new one would spend more time on imports than on its work.
    """
    command = SAVED.sub(lambda mark: " ".join(str(file.relative_to(folder)) for file in folder.glob(mark[0])), command)
    program, _, arguments = command.partition(" ")
    if program == "ccmatic" and not SHELL.search(re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", arguments)):
        code, output, _ = ccmatic(*shlex.split(arguments), cwd=folder, together=True)
        return code, output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, text=True, timeout=3600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def agrees(expected, found):
    """Whether the output is as a page has it, `…` standing for anything."""
    parts = map(re.escape, expected.rstrip().split("…"))
    return re.fullmatch(".*?".join(parts), found.rstrip(), re.DOTALL) is not None


def marks(example):
    """The words of the comment that stands before the block: `slow`, `needs cc`, `needs jax` …."""
    found = re.search(r"<!-- ([\w ,]+) -->$", example.document.text[: example.start].rstrip())
    return set(found[1].split(", ")) if found else set()


def lacking():
    """What blocks may need and this machine has not."""
    if not find_spec("jax"):
        yield "needs jax"
    if not find_spec("highspy"):
        yield "needs highspy"
    if not shutil.which("cc"):
        yield "needs cc"
    try:
        machine.require()
    except InputError:
        yield "needs root"


def run(page, folder, monkeypatch, slow):
    """Run the blocks of a page in a folder that has what the repository has at its root."""
    for name in ("docs", "proofs", "results", "examples"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    left_out = {*lacking(), *(() if slow else ("slow",))}
    for example in examples(page):
        example.namespace["folder"] = folder
        if not marks(example) & left_out:
            example.evaluate()


#: The pages with blocks that are run.
RUN = [page for page in DOCS if re.search(r"^ *```(console|python)$", page.read_text("utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", each_nth(len(RUN), RUN), ids=lambda page: page.stem)
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in DOCS if "<!-- slow" in p.read_text("utf-8")], ids=lambda p: p.stem)
def test_slow_examples_of_a_page_run(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch, slow=True)


def test_an_example_that_is_wrong_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```console\n$ echo one two\none …\n$ echo three\nfour\n```\n", encoding="utf-8")
    (example,) = examples(page)
    example.namespace["folder"] = tmp_path
    with pytest.raises(Exception, match="four"):
        example.evaluate()


def links(page):
    """The (file, anchor) of each link of a page that leads to no other site; outside code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path if path else page), anchor


def anchors(text):
    """The anchors of a page's headings, given its text."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
        yield re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain).strip())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    for file, anchor in links(page):
        built = BUILT.get(os.path.relpath(file, ROOT / "docs"))
        assert built or file.exists(), f"{page.name} links to {file}"
        text = anchor and (built or file.read_text("utf-8"))
        assert not anchor or anchor in anchors(text), f"{page.name} links to {file.name}#{anchor}"


ITEM = re.compile(r"(?P<indent> *)(?:[-*+]|\d+\.) ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lists_of_a_page_are_lists(page):
    """Python's Markdown makes a list only after an empty line, and needs four spaces in front of an inner list."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"[.:;*] - (?=[A-Z*`]).*", text), f"{page.name} has a list within a line"
    before = ""
    for line in text.splitlines():
        if item := ITEM.match(line):
            assert len(item["indent"]) % 4 == 0, f"{page.name}: expected four spaces before '{line}'"
            assert not before or before[0] == " " or ITEM.match(before), f"{page.name}: no empty line before '{line}'"
        before = line.rstrip()


def test_every_guide_is_at_most_two_clicks_from_the_home_page():
    guides = re.search(r"How do I ….*?(?=\n  - \w)", (ROOT / "mkdocs.yml").read_text("utf-8"), re.DOTALL)[0]
    home = ROOT / "docs" / "index.md"
    once = {file.resolve() for file, _ in links(home)}
    twice = {file.resolve() for page in once & {*DOCS} for file, _ in links(page)}
    pages = {ROOT / "docs" / name for name in re.findall(r"[\w/-]+\.md", guides)}
    assert len(pages) > 8 and pages <= once | twice


def test_the_encodings_have_every_section_that_is_cited():
    """By docstrings, comments and tests, as `docs/reference/encoding.md, section 6`."""
    text = (ROOT / "docs" / "reference" / "encoding.md").read_text("utf-8")
    sections = set(re.findall(r"^## (\d+)\. ", text, re.MULTILINE))
    cited = {}
    for folder in ("ccmatic", "models", "properties", "templates", "proofs", "tests"):
        for file in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.h")]:
            for number in re.findall(r"docs/reference/encoding\.md,\s+sections? (\d+)", file.read_text("utf-8")):
                cited.setdefault(number, file)
    assert len(cited) > 5 and cited.keys() <= sections


MODELS = ("ccac", "varying", "cbr_delay", "ideal")


def laws(models, buffers=("infinite", ">=1")):
    """The name of every law, of models with any buffer; a belief's as the encodings have it, NAME for the belief."""
    for model, buffer, deployed in product(models, buffers, (False, True)):
        query = queries.make(model, buffer, 4)
        bounds = Bounds.DEPLOYED if deployed else Bounds.MOVE
        x = execution(query.model, 4, query.buffer, query.jitter, bounds)
        found = [*query.laws(x), *query.model.belief_laws(x), *query.model.belief_laws(query.execution(Bounds.STAY))]
        belief = re.compile(rf"^({'|'.join(query.units())})_(?=[a-z])")
        yield from (belief.sub("NAME_", law.name) for law in found)


def test_the_encodings_name_the_laws():
    """Every law of senders by a rate is in the encodings by its name, and every name at the side of an equation is a
    law."""
    text, known = (ROOT / "docs" / "reference" / "encoding.md").read_text("utf-8"), set(laws(MODELS))
    assert [name for name in known if not {name, name.replace("F_", "Q_")} & set(re.findall(r"\w+", text))] == []
    beside = re.findall(r" {2,}(\w+_\w+)$", "".join(re.findall(r"```math\n(.*?)```", text, re.DOTALL)), re.MULTILINE)
    assert len(beside) > 20
    others = {*laws(["policer"], [">=1"]), *laws(["policer_windows"], [">=1"]), *laws(["policed"])}
    lossy = load_definition("models", "MODEL", "lossy_windows")
    repeated = execution(lossy, 5, Buffer.parse("1"), 1, period=2)
    others |= {*laws(["lossy"], [">=1"]), *(law.name for law in lossy.laws(repeated))}
    # `lost` is also the name of an observation.
    known |= {*laws(["smooth_windows"]), *(name.replace("NAME_when", "lost_when") for name in others)}
    known |= {*laws(["marking"], ["1"])}
    for name in ("ccac_windows:application=pauses", "changing_windows:outage=1,rtt=2,queue=lost,at=1"):
        model = load_definition("models", "MODEL", name)
        known |= {law.name for law in model.laws(execution(model, 4, Buffer.parse("1"), 1))}
    assert [name for name in beside if not {name, f"NAME_{name.removeprefix('q_U_')}"} & known] == []


def test_the_page_of_commands_has_each_command():
    page, parts = BUILT["reference/cli.md"], [command for commands in GROUPS.values() for command in commands]
    assert len(parts) > 20 and [name for name in parts if f"\n`ccmatic {name} " not in page] == []


def test_every_name_of_the_python_face_is_on_one_page():
    pages = [text for name, text in BUILT.items() if name.startswith("reference/api/")]
    shown = re.findall(r"^::: ccmatic\.api\.(\w+)$", "\n".join(pages), re.MULTILINE)
    assert sorted({*shown} - {"Asked", "Given"}) == sorted(cm.__all__) and len(shown) == len({*shown})


@pytest.mark.slow
def test_the_site_builds(tmp_path):
    """Strictly, and its pages ask nothing of other sites."""
    for needed in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(needed)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results").is_dir() and (tmp_path / "proofs" / "loss_convergence.v").is_file()
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > len(DOCS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        external = r'(?:<script[^>]* src|<img[^>]* src|<link[^>]* rel="stylesheet"[^>]* href)="https?:'
        assert not re.findall(external, text), page
