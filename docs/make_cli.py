"""Write docs/reference/cli.md from the commands: `python docs/make_cli.py`. A test fails if the page is out of date."""

from pathlib import Path

import click

from ccmatic.cli.commands import GROUPS, cli

PAGE = Path(__file__).parent / "reference" / "cli.md"
HEAD = """# Commands

<!-- Written by docs/make_cli.py. -->

`-h` after any command prints its part of this page. `ccmatic --version` prints the version. With `--json` a command
prints one JSON object per line on standard output ([keys](formats.md#-json)); messages go to standard error.

| exit code | meaning |
|---|---|
| 0 | every question holds; found; accepted |
| 1 | violated; none exists; refused |
| 2 | bad input: one message, with file and line |
| 3 | unknown, timed out, cannot be judged, an invalid run, or a fault of ccmatic |
| 130 | interrupted |
| 141 | the reader of the output, such as `head`, closed the pipe |

`CCMATIC_TRACEBACK=1` in the environment shows where a fault of ccmatic is.

A shell can complete names, files and options. For Bash, put this line into `~/.bashrc`; for Zsh write `zsh_source`,
and for Fish `_CCMATIC_COMPLETE=fish_source ccmatic | source`:

```sh
eval "$(_CCMATIC_COMPLETE=bash_source ccmatic)"
```
"""


def page():
    """Return the text of the page."""
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
    # click caches the record of --help under the name of the command that requested it first, so it is not used here.
    records = filter(None, (option.get_help_record(context) for option in command.params))
    lines += [f"| `{_cell(flag)}` | {_linkless(says)} |" for flag, says in records if says]
    return "\n".join([*lines, ""])


def _cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _linkless(text):
    """Return a cell in which no bracket begins a link."""
    return _cell(text).replace("[", "\\[")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
