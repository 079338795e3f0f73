"""Writes docs/reference/cli.md, of the command line as it is: `python docs/make_cli.py`. A test tells if it is old."""

from pathlib import Path

import click

from ccmatic.cli.commands import GROUPS, cli

PAGE = Path(__file__).parent / "reference" / "cli.md"
HEAD = """# Commands

<!-- Written by docs/make_cli.py. -->

`-h` after any command prints what is here. `ccmatic --version` prints the version. With `--json` a command prints one
JSON object a line on standard output ([keys](../formats.md#-json)); messages go to standard error.

| exit code | meaning |
|---|---|
| 0 | all hold, found, accepted |
| 1 | a violation, none exists, refused |
| 2 | bad input: one message, with file and line |
| 3 | unknown, out of time, cannot be judged, a run that was not valid, or a fault of ccmatic itself |
| 130 | interrupted |

`CCMATIC_TRACEBACK=1` in the environment shows where a fault of ccmatic is.
"""


def page():
    """The text of the page."""
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts += [f"## {title}", ""]
        for name in names:
            command = cli.commands[name]
            if isinstance(command, click.Group):
                parts += [_described(f"{name} {inner}", each) for inner, each in sorted(command.commands.items())]
            else:
                parts.append(_described(name, command))
    return "\n".join(parts)


def _described(name, command):
    context = click.Context(command, info_name=f"ccmatic {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"### {name}", "", f"`ccmatic {name} {usage}`", "", " ".join(command.help.split()), ""]
    lines += ["```sh", *command.example.splitlines(), "```", ""]
    lines += ["| option | meaning |", "|---|---|"]
    # click keeps the option --help as whoever asked first called it.
    records = filter(None, (option.get_help_record(context) for option in command.params))
    lines += [f"| `{_cell(flag)}` | {_said(says)} |" for flag, says in records if says]
    return "\n".join([*lines, ""])


def _cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _said(text):
    """A cell in which no bracket begins a link."""
    return _cell(text).replace("[", "\\[")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
