"""A hook of MkDocs that builds pages from the code: the commands, the names of `import ccmatic`, and the JSON Schemas.

The repository has none of these files. `python docs/built_pages.py FOLDER` writes them to a folder.
"""

import json
import sys
from pathlib import Path

import click

from ccmatic.cli.commands import GROUPS, cli
from ccmatic.records.schemas import schemas

#: The pages about Python, by file: the title, a sentence, and the names of `ccmatic.api`.
PYTHON = {
    "inputs": (
        "Controllers, networks and queries",
        "What the other functions take: a controller, a network, and a query or a question about both.",
        (
            "load_controller",
            "Controller",
            "Given",
            "Asked",
            "Network",
            "Query",
            "load_query",
            "SolverOptions",
            "list_names",
            "InputError",
        ),
    ),
    "verify": (
        "Verify",
        "Decide whether a controller meets a property or an expectation.",
        ("verify", "verify_all", "ask", "Question", "answer", "answer_all", "Judgement", "decide", "Decision"),
    ),
    "traces": (
        "Traces",
        "Read, draw, check, measure and explain a counterexample.",
        ("Trace", "replay", "Report", "measure", "explain", "Explanation", "trace_page", "export_trace", "network_of"),
    ),
    "worst": (
        "Worst cases",
        "Find the worst that a network can do to a controller, whether a flow starves, and what a sender can know.",
        ("worst", "worst_all", "WorstCase", "starve", "Starvation", "estimate", "Estimate"),
    ),
    "proofs": (
        "Proofs",
        "Prove a guarantee for all time, check a certificate, and state the guarantee in units of a path.",
        (
            "prove",
            "prove_by_invariant",
            "find_bounds",
            "draw_bounds",
            "prove_expected",
            "prove_by_shapes",
            "ProofOutcome",
            "Attempt",
            "check",
            "Check",
            "guarantee",
            "Guarantee",
            "find_front",
            "reproduce_tradeoff",
        ),
    ),
    "synthesis": (
        "Synthesis and envelopes",
        "Find a controller in each class of a template that has one, and the widest envelope around a controller.",
        (
            "synthesise",
            "Synthesis",
            "Progress",
            "read_run",
            "check_cover",
            "CoverReport",
            "widen",
            "Widening",
            "WideningReport",
            "check_widening",
        ),
    ),
    "senders": (
        "Real paths and learners",
        "Fit a network to a packet log, send packets with a controller, and train a policy.",
        (
            "fit",
            "explain_log",
            "export",
            "emulate",
            "evaluate",
            "train",
            "train_proved",
            "sweep",
            "actions",
            "attack",
            "bench",
        ),
    ),
    "judging": (
        "Judging code that ships",
        "Run a congestion controller of another project on scenarios, and search for scenarios that break a rule.",
        (
            "judge",
            "judge_search",
            "shrink_witness",
            "rerun_witness",
            "judge_difference",
            "judge_versions",
            "make_scenario",
            "is_witness",
            "replay_witness",
            "judge_table",
            "judge_report",
            "judge_known",
            "new_adaptor",
        ),
    ),
}

#: The pages about the packages that definition files import: the title, a text, and the package.
PACKAGES = {
    "contracts": (
        "Contracts",
        "Definition files import the classes of models, beliefs, properties, templates and proofs from\n"
        "`ccmatic.contracts`. [Write a model](../../extend/model.md) and the pages after it show examples.",
        "ccmatic.contracts",
    ),
    "logic": (
        "Logic",
        "Laws of models are written in these terms and conditions. [Write a model](../../extend/model.md) shows them\n"
        "at work.",
        "ccmatic.logic",
    ),
}

#: The options of a page about a package.
WHOLE = "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"

HEAD = """# Commands

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


def on_files(files, config):
    """Add the built files to the site."""
    from mkdocs.structure.files import File

    for name, content in built().items():
        files.append(File.generated(config, name, content=content))
    return files


def built():
    """Return the text of each built file, by its path in docs/."""
    return {
        "reference/cli.md": commands(),
        **{f"reference/api/{name}.md": python(*about) for name, about in PYTHON.items()},
        **{
            f"reference/api/{name}.md": f"# {title}\n\n{text}\n\n::: {package}\n{WHOLE}"
            for name, (title, text, package) in PACKAGES.items()
        },
        **{f"schemas/{name}.json": json.dumps(made, indent=1) + "\n" for name, made in schemas().items()},
    }


def python(title, text, names):
    """Return a page about names of `ccmatic.api`, in Markdown."""
    return "\n\n".join([f"# {title}", text, *(f"::: ccmatic.api.{name}" for name in names)]) + "\n"


def commands():
    """Return the page of commands, in Markdown."""
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


def main():
    """Write the built files to a folder."""
    for name, content in built().items():
        file = Path(sys.argv[1]) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
