"""Text of people within generated C, Python and SMT-LIB stays text: nothing in it is compiled, run or asked."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ccmatic import controllers as cca
from ccmatic.answers.verification.judgement import Judge
from ccmatic.base.embedding import c_comment, docstring
from ccmatic.base.errors import InputError
from ccmatic.deployment.exporting import header
from ccmatic.deployment.exporting.targets import write
from ccmatic.questions import query as queries
from ccmatic.synthesis import cegis
from ccmatic.synthesis import solution_files as solutions
from ccmatic.worlds.runtime.library import Library
from support.cli import run
from support.sampling import each_nth

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine")

INJECTED = '__attribute__((constructor)) static void injected(void) { fclose(fopen("%s", "w")); }'

#: What a docstring or a comment of a controller may say.
TEXTS = {
    "ends the comment": f"*/\n#include <stdio.h>\n{INJECTED}\n/*",
    "ends it twice": f"**/*/ */*/\n#include <stdio.h>\n{INJECTED}\n/*/*",
    "over a spliced line": f"*\\\n/\n#include <stdio.h>\n{INJECTED}\n/\\\n*",
    "over a trigraph": f"*??/\n/\n#include <stdio.h>\n{INJECTED}\n/??/\n*",
    "with a carriage return": f"*/\r#include <stdio.h>\r{INJECTED}\r/*",
    "innocent": "a rate of C_L*/2, and 2/*C_L; what??/ ???/ why??!",
    "not ASCII": "≤ β·C, \u202e turned \u2066 around, \x0c\x1b[2J \x07\x07/ \u2028*/ 🙂",
    "directive": '#error no\n#include "/etc/passwd"\n%:error no\n_Pragma("once")\\',
    "shell": "$(touch %s) `touch %s` ; touch %s\n\tTABS\n",
}

RATE = "def rate(C_L, qdel_L):\n    return C_L / 2 if qdel_L > 0 else 2 * C_L\n"


def saying(text, marker):
    """A controller that says the text, in a docstring and in a comment."""
    text = text.replace("%s", str(marker))
    comment = "".join(f"# {line}\n" for line in text.splitlines())
    return f"r'''{text} '''\n{comment}{RATE}"


@needs_compiler
@pytest.mark.parametrize("compiler", each_nth(3, COMPILERS))
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_a_controller_says_is_not_compiled(text, compiler, tmp_path):
    marker = tmp_path / "ran"
    file = tmp_path / "hostile.py"
    file.write_text(saying(text, marker), newline="")
    made = header.make(str(file))
    for target, standard in (("c", "c99"), ("c", "gnu11"), ("udp", "c99")):
        folder = tmp_path / f"{target} {standard}"
        write(made, target, folder)
        for source in folder.glob("*.c"):
            strict = [f"-std={standard}", "-Wall", "-Wextra", "-Werror"] if target == "c" else ["-Wall", "-Werror"]
            done = subprocess.run(
                [compiler, *strict, "-c", "-o", folder / "out.o", source], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            symbols = subprocess.run(["nm", folder / "out.o"], capture_output=True, text=True).stdout
            assert "injected" not in symbols
    assert Library(made).decide({"C_L": 1000}, 10) == 2000
    assert not marker.exists()


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="no make on this machine")
def test_what_a_controller_says_is_not_made(tmp_path):
    marker, file = tmp_path / "ran", tmp_path / "hostile.py"
    file.write_text(saying(TEXTS["shell"], marker))
    folder = tmp_path / "-f a folder; $(touch x)"
    write(header.make(str(file)), "udp", folder)
    subprocess.run(["make", "-C", folder], check=True, capture_output=True, env={**os.environ, "CC": COMPILERS[0]})
    assert (folder / "udp_sender").exists() and not marker.exists()


@pytest.mark.parametrize("name", [
    'a"b', "a b", "a\nb", "$(touch x)", "-I", "-o", "a;b", "a*b", "é", "1a", "a" * 65, "ccm", "udp", "a.b", "%s",
])  # fmt: skip
def test_names_that_c_cannot_have(name, tmp_path):
    file = tmp_path / f"{name}.py"
    file.write_text(RATE)
    with pytest.raises(InputError, match="is no name in C"):
        header.make(str(file))


@pytest.mark.parametrize("text", ["/*", "*/", "**//", "/*/", "*/*", "/*/*/", "??/", "????", "a\x07\x07/", "*\u2028/"])
def test_comments_end_where_they_end(text):
    commented = c_comment(text)
    assert commented.startswith("/*") and commented.endswith("*/")
    assert all(sign not in commented[2:-2] for sign in ("/*", "*/", "??"))


@pytest.mark.parametrize("text", ['"""', '"', "\\", "x\\", '\\"""', "a\nb", "\x00", 'def rate(C_L):\n"""', "'''", "\r"])
def test_docstrings_end_where_they_end(text):
    source = f"def rate(C_L):\n    {docstring(text)}\n    return C_L\n"
    assert cca.parse(source).rate({"C_L": 3}) == 3


@pytest.mark.parametrize("name", ['x"""; import os #', "x\\", "a\nb", 'def rate(C_L): """'])
def test_the_name_of_a_query_stays_text_in_its_solutions(name, tmp_path):
    query = replace(queries.make("cbr_delay", "1", 5, template="sent_rate"), name=name)
    search = cegis._Search(query, None, {})
    progress = search._learn("solution", tuple(hole[0] for hole in search.holes), None)
    file = tmp_path / "found.py"
    file.write_text(solutions.solution_text(query, progress))
    assert cca.load(file, query.units()).body == progress.controller.body
    assert sum("def rate" in line and '"""' not in line for line in file.read_text().splitlines()) >= 1


def test_what_stands_in_scripts_is_not_asked():
    """The name of a controller stands in a comment of the questions that are written as SMT-LIB."""
    query = queries.make("ideal", "infinite", 4)
    plain = cca.parse("def rate(C_L):\n    return C_L\n", "plain", beliefs=query.units())
    hostile = replace(plain, name="x\n(exit)\r(exit)\u2028(exit)\x0b(exit)")
    script, expected = Judge(query).script(hostile), Judge(query).script(plain)
    assert [line for line in script.splitlines() if not line.startswith(";")] == [
        line for line in expected.splitlines() if not line.startswith(";")
    ]


def test_files_with_odd_names(tmp_path, monkeypatch):
    """Any name on the command line is treated as a name."""
    monkeypatch.chdir(tmp_path)
    Path("my $(touch ran) controller.py").write_text(RATE)
    code, _, _ = run("export", "my $(touch ran) controller.py", "--target", "c")
    assert code == 2 and os.listdir() == ["my $(touch ran) controller.py"]
