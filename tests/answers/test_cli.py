"""The command line: outputs, exit codes, and one clear message for every bad input."""

import pytest

from support.cli import lines, run
from support.failures import WRONG

CCAC = ["--model", "ccac", "--buffer", "any", "--horizon", "5"]


def test_wrong_controllers_are_violated_and_their_traces_replay(tmp_path):
    # blind_additive reads beliefs of CBR-delay: see test_tradeoff.py.
    files = [path for path in WRONG if path.stem != "blind_additive"]
    assert len(files) >= 10
    network = ["--model", "ccac", "--buffer", "infinite", "--horizon", "7"]
    code, out, _ = run("verify", *files, *network, "--json", cwd=tmp_path)
    verdicts = lines(out)
    assert code == 1
    assert [verdict["controller"] for verdict in verdicts] == [str(file) for file in files]
    assert {verdict["verdict"] for verdict in verdicts} == {"violated"}
    for verdict in verdicts:
        code, out, _ = run("replay", verdict["trace"], "--json", cwd=tmp_path)
        assert code == 0
        assert lines(out)[0]["broken"] == verdict["broken"] != []


def test_a_controller_that_holds(tmp_path):
    code, out, _ = run("verify", "cc_probe_drain", *CCAC[:4], "--horizon", "11", "--json", cwd=tmp_path)
    assert code == 0
    assert lines(out)[0]["verdict"] == "holds"
    assert set(lines(out)[0]) == {"controller", "verdict", "seconds", "left_out", "remembered"}


def test_what_holds_on_the_published_model_alone_is_said(tmp_path):
    network = ["--model", "ccac", "--buffer", "infinite", "--horizon", "7", "--json"]
    code, out, _ = run("verify", "cc_qdel", *network, cwd=tmp_path)
    [verdict] = lines(out)
    assert (code, verdict["verdict"], verdict["relies_on"]) == (0, "holds", "published delay")
    assert run("replay", verdict["unmodelled_counterexample"], cwd=tmp_path)[0] == 0
    code, out, _ = run("verify", "cc_qdel", *network, "--delay", "executions", cwd=tmp_path)
    assert (code, lines(out)[0]["verdict"]) == (1, "violated")


def test_out_of_time_is_unknown(tmp_path):
    hard = ["--model", "ccac", "--buffer", ">=5", "--horizon", "16", "--constrain-loss", "always"]
    code, out, _ = run("verify", "cc_probe_qdel", *hard, "--timeout", "0.05", "--json", cwd=tmp_path)
    assert (code, lines(out)[0]["verdict"]) == (3, "unknown")


def test_solvers_agree(tmp_path):
    pytest.importorskip("cvc5")
    for solver in ("cvc5", "all"):
        code, out, err = run("verify", "always_double", *CCAC, "--solver", solver, "--json", cwd=tmp_path)
        if code == 2 and "yices is not installed" in err:
            pytest.skip("yices is not installed")
        assert (code, lines(out)[0]["verdict"]) == (1, "violated")


def test_smt2_is_what_was_asked(tmp_path):
    run(
        "verify",
        "cc_qdel",
        "always_double",
        "--model",
        "ccac",
        "--buffer",
        "infinite",
        "--horizon",
        "7",
        "--smt2",
        "query.smt2",
        cwd=tmp_path,
    )
    import z3

    answers = []
    text = (tmp_path / "query.smt2").read_text()
    for block in text.split("(push 1)")[1:]:
        solver = z3.Solver()
        solver.from_string(block.split("(check-sat)")[0])
        answers.append(str(solver.check()))
    assert answers == ["unsat", "unsat", "unsat", "sat"]


def test_human_output_shows_the_trace(tmp_path):
    code, out, _ = run("verify", "always_double", *CCAC, "--verbose", cwd=tmp_path)
    assert code == 1
    assert "violated" in out and "ccmatic replay" in out and "beta" in out


def test_synth_json_and_files(tmp_path):
    code, out, _ = run("synth", "g1_t5", "--json", "--out", "found", cwd=tmp_path)
    *found, summary = lines(out)
    assert code == 0
    assert summary["summary"] is True and summary["solutions"] == len(found) == 4
    assert summary["iterations"] == summary["solutions"] + summary["counterexamples"]
    files = [solution["file"] for solution in found]
    code, out, _ = run("verify", *files, "--query", "g1_t5", "--json", cwd=tmp_path)
    assert code == 0
    assert {verdict["verdict"] for verdict in lines(out)} == {"holds"}


def test_synth_without_solutions_exits_with_1(tmp_path):
    assert run("synth", "g1_t4", "--json", cwd=tmp_path)[0] == 1


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


QUERY = '[network]\nmodel = "ccac"\nbuffer = "any"\n{}horizon = 5\n[property]\n{}[template]\nname = "two_branches"\n'
BAD = {
    "unknown model": (["verify", "cc_qdel", "--model", "ccax", *CCAC[2:]], "did you mean 'ccac'?"),
    "buffer of -1": (["verify", "cc_qdel", *CCAC[:2], "--buffer", "-1", *CCAC[4:]], "the buffer is '-1'"),
    "buffer of words": (["verify", "cc_qdel", *CCAC[:2], "--buffer", "big", *CCAC[4:]], "the buffer is 'big'"),
    "T = 1": (["verify", "cc_qdel", *CCAC[:5], "1"], "the horizon is 1"),
    "a loop": (["verify", "loop.py", *CCAC], "loop.py:2:"),
    "bytes plus seconds": (["verify", "units.py", *CCAC], "units.py:2:"),
    "a misspelt key": (["synth", "misspelt.toml"], "misspelt.toml:4: unknown key 'horizn' in [network]; did you mean"),
    "a misspelt threshold": (["synth", "threshold.toml"], "did you mean 'utilisation'?"),
    "an inexact threshold": (["synth", "inexact.toml"], "expected an exact number"),
    "not TOML": (["synth", "broken.toml"], "broken.toml: not TOML"),
    "a missing controller": (["verify", "missing.py", *CCAC], "missing.py: cannot read: No such file"),
    "a missing query": (["synth", "missing.toml"], "missing.toml: cannot read: No such file"),
    "an unknown query": (["synth", "g33"], "did you mean 'g3'?"),
    "a missing trace": (["replay", "missing.json"], "missing.json: cannot read: No such file"),
    "an unwritable --out": (["synth", "g1_t4", "--out", "file/folder"], "cannot write files there"),
    "an unwritable --smt2": (["verify", "cc_qdel", *CCAC, "--smt2", "file/q.smt2"], "cannot write"),
    "an unknown option": (["verify", "cc_qdel", "--modle", "ccac"], "--modle"),
    "no network": (["verify", "cc_qdel"], "--on and --expect missing"),
    "an unknown solver": (["verify", "cc_qdel", *CCAC, "--solver", "z4"], "z4"),
    "a belief that the model lacks": (["verify", "cc_probe_slow", *CCAC], "unknown parameter `C_Llambda`"),
    "jitter on the ideal link": (
        ["verify", "cc_qdel", "--model", "ideal", *CCAC[2:], "--jitter", "1"],
        "the jitter is 1",
    ),
    "not a trace": (["replay", "misspelt.toml"], "misspelt.toml:1: not JSON"),
}


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    write(folder, "loop.py", "def rate(C_L):\n    for i in range(3):\n        C_L = 2 * C_L\n    return C_L\n")
    write(folder, "units.py", "def rate(C_L, q_U, qdel_L, MSS):\n    return (MSS + qdel_L) / 1\n".replace("q_U, ", ""))
    write(folder, "misspelt.toml", QUERY.format("horizn = 5\n", ""))
    write(folder, "threshold.toml", QUERY.format("", 'utilization = "1/2"\n'))
    write(folder, "inexact.toml", QUERY.format("", "utilisation = inf\n"))
    write(folder, "broken.toml", "[network\n")
    write(folder, "file", "")
    return folder


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_2(case, bad_files):
    arguments, expected = BAD[case]
    before = set(bad_files.iterdir())
    code, out, err = run(*arguments, cwd=bad_files)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.strip().splitlines()) == 1 and "Traceback" not in err
    assert set(bad_files.iterdir()) - before <= {bad_files / "ccmatic-traces"}


def test_export_writes_c(tmp_path):
    code, out, _ = run("export", "cc_qdel", "--target", "c", "--json", cwd=tmp_path)
    assert code == 0
    assert [line["file"] for line in lines(out)] == ["cc_qdel/cc_qdel.h", "cc_qdel/cc_qdel.c"]
    assert "2 * C_L" in (tmp_path / "cc_qdel" / "cc_qdel.h").read_text()


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (("cc_qdel", "--jitter", "x"), "the jitter is 'x'"),
        (("cc_qdl",), "cc_qdel"),
        (("cc_qdel", "--model", "none"), "there is no 'none' in models"),
        (("cc_probe_slow", "--model", "ccac"), "C_Llambda"),
        (("cc_qdel", "--model", "ideal"), "the beliefs of ideal cannot be exported"),
    ],
)
def test_export_of_what_cannot_be(arguments, expected, tmp_path):
    code, out, error = run("export", *arguments, "--target", "c", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert expected in error and len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())
