"""The memory of answers: the same question has the same answer, and everything that influences an answer is in it."""

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import z3

from ccmatic.answers.verification import judgement
from ccmatic.answers.worst_case import edge
from ccmatic.base import memory
from ccmatic.base.memory import Memory, question
from ccmatic.cli.commands import COMMANDS, _Commands
from ccmatic.logic.solving import SolverOptions
from support import ROOT
from support.cli import lines, run

#: The module that describes questions.
CODE = sys.modules[question.__module__]

ASKED = ("verify", "--model", "ideal", "--buffer", "infinite", "--horizon", "4", "--json")
WORST = (
    "worst",
    "always_half",
    "--on",
    "ideal, buffer 1 bdp",
    "--expect",
    "queue <= 1 bdp",
    "--horizon",
    "4",
    "--json",
)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """The folder of answers of a user whose home is empty."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(memory.VARIABLE, str(tmp_path / "answers"))
    return tmp_path / "answers"


@pytest.fixture
def decided(monkeypatch):
    """The list of the questions that a solver has decided."""
    seen = []
    for owner, name in ((judgement.Judge, "_new"), (edge, "_Edge")):
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, real=real, **n: (seen.append(a), real(*a, **n))[1])
    return seen


def ask(folder, *arguments, controller="cc_qdel"):
    """Run `verify` in a folder, and return the exit code and the line without the time."""
    code, out, err = run(*ASKED, controller, *arguments, cwd=folder)
    assert code in (0, 1, 3), err
    return code, lines(out)[0]


def files(answers):
    return sorted(answers.glob("*/*.json")) if answers.exists() else []


@pytest.mark.parametrize("controller", ["cc_qdel", "always_double"])
def test_an_answer_is_remembered_with_its_trace(controller, tmp_path, answers, decided):
    code, first = ask(tmp_path, controller=controller)
    again, second = ask(tmp_path, controller=controller)
    assert (len(decided), first["remembered"], second["remembered"]) == (1, False, True)
    assert (again, {**second, "remembered": False}) == (code, first)
    if "trace" in second:
        assert run("replay", second["trace"], cwd=tmp_path)[0] == 0
    assert ask(tmp_path, "--fresh", controller=controller)[1]["remembered"] is False
    assert len(decided) == 2


def test_both_verdicts_are_among_the_remembered(tmp_path, answers):
    assert {ask(tmp_path, controller=name)[1]["verdict"] for name in ("cc_qdel", "always_double")} == {
        "holds",
        "violated",
    }


def test_a_worst_case_is_remembered_with_its_trace(tmp_path, answers, decided):
    (first,), (second,) = (lines(run(*WORST, cwd=tmp_path)[1]) for _ in range(2))
    assert len(decided) == 1 and second["trace"]
    assert {**second, "remembered": False} == first and second["remembered"]


def test_the_note_says_that_an_answer_is_remembered(tmp_path, answers):
    asked = [each for each in (*ASKED, "cc_qdel") if each != "--json"]
    (_, first, _), (_, second, _) = (run(*asked, cwd=tmp_path) for _ in range(2))
    assert "remembered" not in first and "--fresh decides it again" in second


def test_an_empty_variable_turns_the_memory_off(tmp_path, answers, decided, monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "")
    assert [ask(tmp_path)[1]["remembered"] for _ in range(2)] == [False, False] and len(decided) == 2
    assert not files(answers)


def test_only_questions_have_a_memory():
    """No command that checks, replays or measures an answer may take it from the memory."""
    commands = _Commands()
    having = {name for name in COMMANDS if any("--fresh" in each.opts for each in commands[name].params)}
    assert having == {"verify", "worst", "starve"}


def test_a_question_without_an_answer_is_not_remembered(tmp_path, answers):
    code, line = ask(tmp_path, "--timeout", "0.001")
    assert (code, line["verdict"]) == (3, "unknown") and not files(answers)


# What influences an answer: a change of each is another question.


def own(tmp_path, kind, name):
    """Return a copy of a shipped definition as a user's own file."""
    file = tmp_path / f"own_{name}.py"
    source = next(each for each in (ROOT / kind / name / "laws.py", ROOT / kind / f"{name}.py") if each.exists())
    shutil.copy(source, file)
    return file


def changed(tmp_path, decided, *arguments, change, **about):
    """Whether a question is decided again after a change, and is remembered without one."""
    ask(tmp_path, *arguments, **about)
    ask(tmp_path, *arguments, **about)
    assert len(decided) == 1
    change()
    ask(tmp_path, *arguments, **about)
    return len(decided) == 2


def append(file, text):
    file.write_text(file.read_text() + text)


def test_the_text_of_the_controller_counts(tmp_path, answers, decided):
    file = tmp_path / "mine.py"
    file.write_text("def rate(C_L):\n    return C_L / 2\n")
    assert changed(tmp_path, decided, change=lambda: append(file, "# other\n"), controller="mine.py")


def test_the_text_of_the_users_model_and_its_beliefs_counts(tmp_path, answers, decided):
    file = own(tmp_path, "models", "ideal")
    assert changed(tmp_path, decided, "--model", str(file), change=lambda: append(file, "# other\n"))


def test_the_text_of_the_users_property_counts(tmp_path, answers, decided):
    file = own(tmp_path, "properties", "synthesis_invariant")
    assert changed(tmp_path, decided, "--property", str(file), change=lambda: append(file, "# other\n"))


def test_each_option_counts(tmp_path, answers, decided):
    ccac = "--model", "ccac"
    others = [("--horizon", "5"), ("--buffer", "1/2"), ("--utilisation", "1/3"), ("--seed", "1"), ("--timeout", "99"),
              ("--delay", "executions"), ("--constrain-loss", "always"), ccac, (*ccac, "--jitter", "2")]  # fmt: skip
    for other in [(), *others]:
        ask(tmp_path, *other)
    assert len(decided) == len(others) + 1
    assert all(ask(tmp_path, *other)[1]["remembered"] for other in [(), *others])


def test_the_version_of_the_solver_counts(tmp_path, answers, decided, monkeypatch):
    change = lambda: monkeypatch.setattr(z3, "get_full_version", lambda: "Z3 0.0")  # noqa: E731
    assert changed(tmp_path, decided, change=change)


def test_the_flags_of_python_count(tmp_path, answers, decided, monkeypatch):
    """Python with -O skips assertions."""
    flags = SimpleNamespace(version=sys.version, flags=(*sys.flags, 1))
    assert changed(tmp_path, decided, change=lambda: monkeypatch.setattr(CODE, "sys", flags))


def test_another_solver_is_not_remembered():
    assert SolverOptions(("cvc5",)).settings() is None
    record = {"model": "ideal", "property": {"name": "synthesis_invariant"}}
    assert question("verify", record, [], None) is None


@pytest.mark.parametrize(
    "file",
    ["ccmatic/answers/verification/verifier.py", "ccmatic/worlds/encoder.py", "models/ideal/laws.py",
     "models/beliefs/link_rate.py", "properties/synthesis_invariant.py", "examples/queries/g1_t5.toml"],
)  # fmt: skip
def test_the_text_of_each_file_of_the_package_counts(file, tmp_path, answers, decided, monkeypatch):
    assert changed(tmp_path, decided, change=lambda: edit(file, tmp_path, monkeypatch))


def edit(file, tmp_path, monkeypatch):
    """Let a changed copy of a file of the package stand in for the file."""
    copy = tmp_path / "copy"
    copy.write_bytes((ROOT / file).read_bytes() + b"#")
    files = CODE._files()
    edited = [(name, str(copy) if Path(path).samefile(ROOT / file) else path) for name, path in files]
    assert edited != files
    monkeypatch.setattr(CODE, "_files", lambda: edited)


def test_code_that_changes_while_a_solver_decides_is_not_remembered(tmp_path, answers, monkeypatch):
    real = judgement.Judge._new

    def slowly(*arguments):
        edit("ccmatic/answers/verification/verifier.py", tmp_path, monkeypatch)
        return real(*arguments)

    monkeypatch.setattr(judgement.Judge, "_new", slowly)
    ask(tmp_path)
    assert not files(answers)


@pytest.mark.parametrize(
    "text",
    ["import os", "import random as fractions", "from pathlib import Path", "from . import other", "x = open('f')",
     "from ccmatic.base import read_text", "from ccmatic.contracts import load_definition as f", "x = eval('1')",
     "from ccmatic import api", "x = (1).__class__", "x = globals()"],
)  # fmt: skip
def test_a_definition_that_may_depend_on_other_files_is_not_remembered(text, tmp_path, answers):
    file = tmp_path / "model.py"
    record = {"model": str(file), "property": {"name": "synthesis_invariant"}}
    file.write_text("from ccmatic.contracts import Model\n")
    assert question("verify", record, [], {}) is not None
    file.write_text(f"from ccmatic.contracts import Model\n{text}\n")
    assert question("verify", record, [], {}) is None


def test_the_text_of_a_proof_that_a_threshold_names_counts(tmp_path):
    file = tmp_path / "proof.py"
    record = {"model": "ccac", "property": {"name": "lemma", "proof": str(file), "lemma": "a"}}
    file.write_text("PROOF = 1\n")
    first = question("verify", record, [], {})
    file.write_text("PROOF = 2\n")
    assert first and question("verify", record, [], {}) != first
    file.write_text("import os\n")
    assert question("verify", record, [], {}) is None


# What a file in the folder may not do.


def test_an_answer_that_another_user_sealed_is_ignored(tmp_path, answers, decided, monkeypatch):
    ask(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert ask(tmp_path)[1]["remembered"] is False and len(decided) == 2


def test_an_edited_answer_is_ignored(tmp_path, answers, decided):
    _, line = ask(tmp_path, controller="always_double")
    (file,) = files(answers)
    stored = json.loads(file.read_text())
    assert stored["answer"]["verdict"] == line["verdict"] == "violated"
    stored["answer"] |= {"verdict": "holds", "trace": None}
    file.write_text(json.dumps(stored))
    code, line = ask(tmp_path, controller="always_double")
    assert (code, line["verdict"], len(decided)) == (1, "violated", 2)


def test_the_answer_to_another_question_is_ignored(tmp_path, answers, decided):
    ask(tmp_path)
    (holds,) = files(answers)
    ask(tmp_path, controller="always_double")
    (violated,) = [file for file in files(answers) if file != holds]
    shutil.copy(holds, violated)
    assert ask(tmp_path, controller="always_double")[0] == 1 and len(decided) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"answer": 1, "seal": 2}', b"\xff", b"[" * 10_000])
def test_a_broken_file_is_ignored_and_replaced(content, tmp_path, answers, decided):
    ask(tmp_path)
    (file,) = files(answers)
    file.write_bytes(content)
    assert [ask(tmp_path)[1]["remembered"] for _ in range(2)] == [False, True] and len(decided) == 2


@pytest.mark.parametrize("replacement", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_file_that_is_no_file_is_ignored(replacement, tmp_path, answers):
    ask(tmp_path)
    (file,) = files(answers)
    file.unlink()
    replacement(file)
    assert ask(tmp_path)[1]["verdict"] == "holds"


def test_a_sealed_counterexample_that_fails_its_replay_is_ignored(tmp_path, answers, decided):
    """Even an answer with a valid seal shows no violation that is not one."""
    known, asked = Memory.of_user(), {"asked": "test"}
    ask(tmp_path, controller="always_double")
    stored = json.loads(files(answers)[0].read_text())["answer"]
    trace = json.loads(stored["trace"])
    trace["columns"]["S"] = ["0"] * trace["horizon"]
    known.remember(asked, {**stored, "trace": json.dumps(trace)})
    answer = known.ask(
        lambda: asked, lambda: "decided", lambda answer: None, lambda data: judgement.recalled(data, None)
    )
    assert answer == "decided"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_that_others_can_read_is_not_used(mode, tmp_path, answers):
    ask(tmp_path)
    key = tmp_path / "state" / "ccmatic" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(mode)
    assert ask(tmp_path)[1]["remembered"] is False


def test_a_folder_that_cannot_be_written_changes_no_answer(tmp_path, answers, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(memory.VARIABLE, str(tmp_path / "file" / "below"))
    assert ask(tmp_path)[1]["verdict"] == "holds"


def test_concurrent_writers_leave_a_complete_answer(tmp_path):
    known, asked = Memory(tmp_path / "answers", tmp_path / "state" / "key"), {"asked": "test"}
    answer = {"text": "a" * 100_000}

    def both(_):
        known.remember(asked, answer)
        return known.recall(asked)

    with ThreadPoolExecutor(8) as pool:
        assert all(each == answer for each in pool.map(both, range(100)))
    assert [file.name for file in (tmp_path / "answers").rglob("*") if file.is_file()] == [known._file(asked).name]
    assert sys.getsizeof(known._secret()) and [*(tmp_path / "state").iterdir()] == [tmp_path / "state" / "key"]
