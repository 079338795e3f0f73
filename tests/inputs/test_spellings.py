"""Old spellings of options work, and a hint names the new one."""

import pytest

from ccmatic.cli import command as spellings
from ccmatic.cli.commands import cli
from support.cli import lines, run

CCAC = ["--model", "ccac", "--buffer", "any", "--horizon", "5"]

#: What each command needs besides its options.
NEEDED = {"attack": ["harm.json"], "verify": ["cc_qdel"], "worst": ["cc_qdel"]}

EVERY = [(command, old, new) for command, table in spellings.OLD.items() for old, new in table.items()]


def parsed(command, *arguments):
    return cli.commands[command].make_context(command, [*NEEDED.get(command, ()), *arguments]).params


@pytest.mark.parametrize("command, old, new", EVERY)
@pytest.mark.parametrize("joined", [False, True])
def test_an_old_spelling_is_the_new_one_with_a_hint(command, old, new, joined, capsys):
    def given(option):
        return parsed(command, *([f"{option}=12"] if joined else [option, "12"]))

    expected = given(new)
    assert capsys.readouterr() == ("", "")
    assert given(old) == expected != parsed(command)
    out, err = capsys.readouterr()
    assert out == "" and f"{old} is now spelled {new};" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("command, old, new", EVERY)
def test_an_old_spelling_is_in_no_help(command, old, new):
    names = [name for option in cli.commands[command].params for name in option.opts]
    assert new in names and old not in names


def test_what_stands_behind_two_dashes_is_no_option(capsys):
    assert parsed("verify", "--", "--save")["controllers"] == ("cc_qdel", "--save")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["--plot"], ["--plot", "--json"], ["--plot", "late_drain"], ["--plot", "a.py"]])
def test_a_bare_plot_is_a_picture_beside_each_trace(arguments, capsys):
    assert parsed("verify", *arguments)["plot"] == spellings.BESIDE
    assert "--plot is now spelled --plot FILE;" in capsys.readouterr().err


def test_a_plot_with_a_file_has_no_hint(capsys):
    assert parsed("verify", "--plot", "a.png")["plot"] == parsed("verify", "--plot=a.png")["plot"] == "a.png"
    assert parsed("verify", "--plot", "chart")["plot"] == "chart"
    assert capsys.readouterr().err == ""


def test_verify_draws_to_the_file(tmp_path):
    code, out, err = run("verify", "always_double", *CCAC, "--plot", "one.svg", "--json", cwd=tmp_path)
    assert (code, err) == (1, "") and (tmp_path / "one.svg").read_text().startswith("<?xml")
    [verdict] = lines(out)
    assert not (tmp_path / verdict["trace"]).with_suffix(".png").exists()


@pytest.mark.slow
def test_verify_numbers_the_files_of_several_controllers(tmp_path):
    names = ["always_double", "cc_qdel", "always_half"]
    code, out, _ = run("verify", *names, *CCAC[:4], "--horizon", "4", "--plot", "p.svg", "--json", cwd=tmp_path)
    violated = [number for number, line in enumerate(lines(out), 1) if line["verdict"] == "violated"]
    assert code == 1 and violated
    assert sorted(file.name for file in tmp_path.glob("*.svg")) == [f"p-{number}.svg" for number in violated]


def test_a_verdict_stands_where_its_picture_cannot_be_drawn(tmp_path):
    code, out, err = run("verify", "always_double", *CCAC, "--plot", "none/p.svg", "--json", cwd=tmp_path)
    assert (code, lines(out)[0]["verdict"]) == (1, "violated")
    assert "--plot" in err and len(err.splitlines()) == 1
    code, out, err = run("verify", "always_double", *CCAC, "--plot", "p.gif", cwd=tmp_path)
    assert (code, out) == (2, "") and "cannot draw" in err


def test_a_network_is_no_sender():
    code, out, err = run("attack", "harm.json", "--on", "ccac, buffer 1 bdp")
    assert (code, out) == (2, "") and "--against" in err
