"""The command line: parses, calls one function, prints. A command imports what it needs itself: solvers and numpy take
most of a second, which `--help` has no use for."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from ccmatic import __version__, base
from ccmatic.base import Disagreement, InputError, OutOfTime, Unreadable, writable_folder, write_bytes, write_text

GOOD, BROKEN, BAD_INPUT, UNKNOWN, INTERRUPTED = 0, 1, 2, 3, 130


class _Names(click.Choice):
    """One of the names that a module declares."""

    def __init__(self, module, attribute, *others):
        self._declared, self._others, self.case_sensitive = (module, attribute), others, True

    @property
    def choices(self):
        """The names."""
        module, attribute = self._declared
        return (*getattr(import_module(module), attribute), *self._others)


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, an object a line.")
_solver = click.option(
    "--solver",
    type=_Names("ccmatic.solving.solver", "NAMES", "all"),
    default="z3",
    show_default=True,
    help="Which solver to ask; all: each, and stop if two disagree.",
)
_timeout = click.option(
    "--timeout", type=click.FloatRange(min=0.001), help="Seconds for each question, from its encoding to its answer."
)
_seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the solvers.")

_allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Run the files that are named in it as model, property, template or proof; else it may name shipped ones only.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli():
    """Formal synthesis and verification of congestion control algorithms."""


@cli.command()
@click.argument("controllers", nargs=-1, required=True, metavar="CONTROLLER.py…")
@click.option("--query", "query_file", help="Take network and property from this query instead.")
@click.option("--model", help="ccac, cbr_delay, ideal, or a file that defines a MODEL.")
@click.option("--buffer", help="infinite, any, a number or '>=NUMBER', in C·R_m.")
@click.option("--horizon", help="Steps of a trace, T; a step is R_m.")
@click.option("--jitter", help="D, in steps.  [default: the model's]")
@click.option("--utilisation", help="Least share of the link to be used.  [default: 1/2]")
@click.option(
    "--constrain-loss",
    type=click.Choice(["never", "always", "large-buffer"]),
    help="Whether large losses are forbidden even while beliefs shrink.  [default: never]",
)
@click.option(
    "--delay",
    type=_Names("ccmatic.query", "DELAYS"),
    help="How measured delay may grow: as in the published model, or as in any execution.",
)
@_solver
@_timeout
@_seed
@click.option("--smt2", type=click.Path(), help="Write the questions as SMT-LIB 2 to this file.")
@click.option("--save", default="ccmatic-traces", show_default=True, help="Folder for the traces of violations.")
@click.option("--plot", is_flag=True, help="Draw each trace beside its file, as PNG.")
@_json
def verify(controllers, query_file, solver, timeout, seed, smt2, save, plot, as_json, **network):
    """Verify controllers against the synthesis invariant on a network: each holds, or a trace shows how the
    network breaks it."""
    from ccmatic import traces
    from ccmatic.cli import reports as report
    from ccmatic.verification import HOLDS, VIOLATED, Judge

    query = _query(query_file, network)
    loaded = [_controller(name, query) for name in controllers]
    if plot:
        traces.require()
    judge = Judge(query, solvers=_solvers(solver), timeout=timeout, seed=seed)
    if smt2:
        text = "".join(judge.script(controller) for controller in loaded)
        write_text(smt2, f"; ccmatic {__version__}\n(set-logic QF_LRA)\n{text}")
    files = report.trace_files(save, loaded)
    outcomes = set()
    for name, controller, file in zip(controllers, loaded, files):
        judgement = judge.judge(controller)
        outcomes.add(judgement.verdict)
        trace = judgement.trace or judgement.exception
        if trace and not _saved(trace, file, plot):
            file = None
        if as_json:
            click.echo(report.judgement_json(name, judgement, file))
        else:
            click.echo(report.judgement_text(judgement, file))
            if trace and len(loaded) == 1:
                click.echo(report.table(trace))
    return BROKEN if VIOLATED in outcomes else GOOD if outcomes == {HOLDS} else UNKNOWN


@cli.command()
@click.argument("query", metavar="QUERY.toml")
@click.option("--out", help="Folder for the controllers that are found.  [default: QUERY-solutions]")
@click.option("--run", "run_file", help="Keep what is learned in this file; the same command then goes on.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Verify on so many processes.")
@click.option("--cluster", help="Verify on a Dask cluster, whose scheduler is at this address, instead.")
@_solver
@_timeout
@_seed
@_json
def synth(query, out, run_file, jobs, cluster, solver, timeout, seed, as_json):
    """Find every controller of the query's template that ensures its property, one of each class."""
    from ccmatic import query as queries
    from ccmatic import synthesis
    from ccmatic.cli import synthesis_reports as report

    asked = queries.load(query)
    folder = synthesis.Folder(out or f"{asked.name}-solutions", asked)
    store = synthesis.Store(run_file, asked) if run_file else None
    options = {"solvers": _solvers(solver), "timeout": timeout, "seed": seed}
    progress = report.SynthesisJson() if as_json else report.SynthesisText(asked)
    with progress:
        for now in synthesis.synthesise(asked, jobs, cluster, store, **options):
            file = folder.add(now) if now.controller else None
            progress.update(now, file)
        folder.complete()
    return UNKNOWN if now.undecided else GOOD if now.solutions else BROKEN


@cli.command("replay")
@click.argument("trace", metavar="TRACE.json")
@click.option("--plot", type=click.Path(), help="Draw the trace to this file (.png, .svg or .pdf).")
@click.option("--csv", "csv_file", type=click.Path(), help="Write the trace as CSV to this file.")
@_allow_code
@_json
def replay_command(trace, plot, csv_file, allow_code, as_json):
    """Check a trace by exact arithmetic, law by law, with no solver, running the controller's own Python."""
    from ccmatic import traces, verification
    from ccmatic.cli import reports as report
    from ccmatic.traces import Trace

    loaded = Trace.load(trace)
    outcome = verification.replay(loaded, trace, allow_code)
    if plot:
        traces.draw_trace(loaded, plot)
    if csv_file:
        write_text(csv_file, loaded.to_csv())
    click.echo(report.replay_json(trace, outcome) if as_json else report.replay_text(trace, loaded, outcome))
    if outcome.faults:
        return BROKEN
    return UNKNOWN if outcome.outcome is verification.Outcome.CANNOT_BE_JUDGED else GOOD


@cli.command("list")
@click.argument("kinds", nargs=-1, type=_Names("ccmatic.base.catalogue", "KINDS"), metavar="[KIND]…")
@_json
def list_command(kinds, as_json):
    """What is shipped under a name: models, queries, templates, properties, proofs and controllers, or only these
    kinds, each with a sentence about it."""
    from dataclasses import asdict

    from ccmatic import base

    found = base.entries(kinds or tuple(base.KINDS))
    lines = (json.dumps(asdict(entry), ensure_ascii=False) for entry in found) if as_json else base.listed(found)
    for line in lines:
        click.echo(line)
    return GOOD


@cli.group("trace")
def trace_group():
    """Traces for other tools."""


@trace_group.command("export")
@click.argument("trace", metavar="TRACE.json")
@click.option(
    "--format",
    "kind",
    type=_Names("ccmatic.trace_export", "FORMATS"),
    required=True,
    help="A link trace of mahimahi, a schedule of the emulator, or arrays, an element a step.",
)
@click.option("--rate", required=True, help="What the trace's C is, such as 24mbit.")
@click.option("--rtt", required=True, help="What the trace's R_m is, such as 40ms.")
@click.option("--mss", type=click.IntRange(min=1), default=1500, show_default=True, help="Bytes in a packet.")
@click.option("--out", type=click.Path(), help="The file to write.  [default: standard output]")
@_allow_code
@_json
def trace_export(trace, kind, rate, rtt, mss, out, allow_code, as_json):
    """Write a trace, at a concrete scale, as others read it; what their format leaves out is said."""
    from ccmatic import trace_export as exporting
    from ccmatic.base import quantities
    from ccmatic.traces import Trace

    if out is None and (as_json or kind == "npz"):
        raise InputError(f"{'--json' if as_json else 'npz'} needs --out, the file to write")
    scale = exporting.Scale(quantities.rate(rate), quantities.duration(rtt), mss)
    content, notes = exporting.export(Trace.load(trace), kind, scale, trace, allow_code)
    if out is None:
        click.echo(content, nl=False)
    else:
        write_bytes(out, content)
    if as_json:
        click.echo(exporting.answer(trace, kind, scale, out, notes))
    else:
        click.echo("".join(f"note: {note}\n" for note in notes), nl=False, err=True)
    return GOOD


@cli.command()
@click.argument("run", metavar="RUN")
@_json
def runs(run, as_json):
    """What a run of synthesis has learned so far."""
    from ccmatic import synthesis
    from ccmatic.cli import synthesis_reports as report

    show = report.run_json if as_json else report.run_text
    click.echo(show(run, *synthesis.read_run(run)))
    return GOOD


@cli.command("check-cover")
@click.argument("run", metavar="RUN")
@click.option("--verify-solutions", is_flag=True, help="Verify each solution again; else they are believed.")
@_solver
@_timeout
@_seed
@_allow_code
@_json
def check_cover(run, verify_solutions, solver, timeout, seed, allow_code, as_json):
    """Check, without generator and solver, that a run's counterexamples and solutions decide every candidate."""
    from ccmatic import synthesis
    from ccmatic.cli import synthesis_reports as report

    options = {"solvers": _solvers(solver), "timeout": timeout, "seed": seed} if verify_solutions else None
    outcome = synthesis.check_cover(run, allow_code, options)
    click.echo((report.cover_json if as_json else report.cover_text)(run, outcome))
    if not outcome.covered:
        return BROKEN
    return UNKNOWN if outcome.undecided else GOOD


@cli.command()
@click.argument("controller", metavar="CONTROLLER.py")
@click.option("--proof", required=True, help="A name in proofs/, or a file that defines a PROOF.")
@click.option("--horizon", type=click.IntRange(min=3, max=1000), help="Steps of a window, T.  [default: the proof's]")
@click.option("--out", default="proofs", show_default=True, help="Folder for what is found; the same command goes on.")
@click.option("--certify", is_flag=True, help="Write a certificate for each lemma, for `ccmatic check`.")
@_solver
@_timeout
@_seed
@_json
def prove(controller, proof, horizon, out, certify, solver, timeout, seed, as_json):
    """Prove what a controller guarantees for all time: find the constants of a proof, each to its edge."""
    from ccmatic import proving
    from ccmatic.base import definitions
    from ccmatic.verification import HOLDS, VIOLATED

    path = definitions.find_file(["synthesized", "examples.controllers"], controller, ".py")
    folder = writable_folder(out)
    prover = proving.Prover(proof, path, horizon, solvers=_solvers(solver), timeout=timeout, seed=seed)
    result = proving.begin_result(folder, prover, proof)
    with proving.Progress(prover.proof, as_json) as say:
        prover.listen = say.asks
        for name in proving.search(prover, result.constants):
            result.save()
            say.constant(name, result.constants[name])
        for answer in proving.verdicts(prover, result.values, result.answers):
            result.answers[answer.lemma] = answer
            result.save()
            say.lemma(answer)
        faults = prover.faults(result.values)
        for name in proving.make_certificates(result, prover, prover.lemmas) if certify and not faults else ():
            say.certificate(name)
    proving.write_report(result, prover)
    say.end(result, prover, faults)
    outcomes = {result.answers[name].verdict for name, lemma in prover.lemmas.items() if not lemma.paper}
    return BROKEN if faults or VIOLATED in outcomes else GOOD if outcomes == {HOLDS} else UNKNOWN


@cli.command()
@click.argument("proof", metavar="PROOF.json")
@_solver
@_timeout
@_seed
@_allow_code
@_json
def check(proof, solver, timeout, seed, allow_code, as_json):
    """Check all of a proof anew: states, measures, each lemma (by its certificate, if it has one), each edge."""
    from ccmatic import proving

    result = proving.load_result(proof, allow_code)
    code = GOOD
    for finding in proving.check(result, solvers=_solvers(solver), timeout=timeout, seed=seed):
        click.echo(proving.finding(finding, as_json))
        if finding.fault and code != BROKEN:
            code = UNKNOWN if finding.unknown else BROKEN
    verdict = {GOOD: "accepted", BROKEN: "rejected", UNKNOWN: "unknown"}[code]
    click.echo(proving.verdict(proof, verdict, as_json))
    return code


@cli.command()
@click.argument("controller", metavar="CONTROLLER.py")
@click.option(
    "--target",
    type=_Names("ccmatic.export.files", "TARGETS"),
    required=True,
    help="c: a header, and functions to link; bpf: for the kernel; udp: a sender and a receiver.",
)
@click.option("--out", help="Folder for the files.  [default: the controller's name]")
@click.option("--model", help="Whose beliefs are computed.  [default: the one of fewest that are enough]")
@click.option(
    "--horizon",
    type=click.IntRange(min=3, max=1000),
    default=10,
    show_default=True,
    help="T: beliefs time out every T-1 steps.",
)
@click.option("--jitter", default="1", show_default=True, help="By how much delay may vary, in R_m, but for queueing.")
@_json
def export(controller, target, out, model, horizon, jitter, as_json):
    """Compile a controller to C: integers only, beliefs computed from acknowledgements."""
    from ccmatic.export import files as exported
    from ccmatic.export import header

    made = header.make(controller, model, horizon, jitter)
    for file in exported.write(made, target, out or made.name):
        click.echo(json.dumps({"controller": made.name, "target": target, "file": str(file)}) if as_json else file)
    return GOOD


@cli.command()
@click.option("--rate", help="C, such as 24mbit.")
@click.option("--rtt", help="R_m, such as 40ms.")
@click.option("--buffer", help="β, such as 2bdp, 30000 (bytes), or infinite; a BDP is C·R_m.")
@click.option("--jitter", help="D, such as 40ms: packets are held for at most that long.  [default: none]")
@click.option("--pattern", help="How: uniform or aggregation.  [default: aggregation]")
@click.option(
    "--change", "changes", multiple=True, metavar="TIME=RATE", help="The link's rate from then on; repeatable."
)
@click.option("--schedule", help="Take the link from this file, as `ccmatic trace export` writes it, instead.")
@click.option(
    "--flow",
    "flows",
    multiple=True,
    default=["cubic"],
    show_default=True,
    help="Who sends: one of the kernel's, udp:CONTROLLER.py or bpf:CONTROLLER.py; repeatable.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=3600),
    help="How long, from the first packet on.  [default: 10, or as long as the schedule]",
)
@click.option(
    "--warmup",
    type=click.FloatRange(min=0),
    help="Seconds that are not measured.  [default: a third; with a schedule, none]",
)
@click.option("--seed", type=click.IntRange(min=0, max=2**62), help="Seed of the jitter.  [default: 0]")
@click.option("--out", type=click.Path(), help="Folder for the log of packets and what was measured.")
@click.option("--plot", type=click.Path(), help="Draw the run to this file (.png, .svg or .pdf).")
@_json
def emulate(flows, seconds, warmup, out, plot, as_json, **link):
    """Run real flows over an emulated link, in network namespaces of this machine; needs root and Linux."""
    from ccmatic.emulate import command as emulation

    found = emulation.run(link, flows, seconds, warmup, out, plot)
    click.echo((emulation.as_json if as_json else emulation.as_text)(found))
    return GOOD if found["valid"] else UNKNOWN


@cli.command()
@click.argument("senders", nargs=-1, required=True, metavar="SENDER…")
@click.option("--real", is_flag=True, help="On this machine's stack, SENDERs being flows of `emulate`; a smaller grid.")
@click.option("--out", default="evaluation", show_default=True, help="Folder for results and figures; goes on there.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Simulate on so many processes.")
@_json
def evaluate(senders, real, out, jobs, as_json):
    """Run exported controllers on the paper's grid of links, beside the bounds that are proved of them."""
    from ccmatic import traces
    from ccmatic.evaluate import bounds, figures
    from ccmatic.evaluate import runs as evaluating

    if real and jobs > 1:
        raise InputError("--real measures time; expected one job")
    traces.require()
    evaluation = evaluating.Evaluation(out)
    scenarios = list((evaluating.real_grid if real else evaluating.grid)())
    for row in evaluation.complete(senders, scenarios, jobs):
        click.echo(evaluating.line(row, list(bounds.broken(row)), as_json))
    for file in figures.draw(evaluation.rows, evaluation.folder):
        click.echo(json.dumps({"figure": str(file)}) if as_json else file)
    return BROKEN if any(any(bounds.broken(row)) for row in evaluation.rows) else GOOD


@cli.command()
@click.option(
    "--allowance",
    "allowances",
    multiple=True,
    metavar="EXPR",
    help="f, in packets: an expression in C; repeatable.  [default: 1, log(C), sqrt(C), C/10 and C]",
)
@click.option("--buffer-time", default="1", show_default=True, help="β_s: the buffer, in R_m.")
@click.option("--from", "start", default="10", show_default=True, help="C_0, in packets per R_m.")
@click.option("--up-to", "end", default="1000", show_default=True, help="C, in packets per R_m.")
@click.option("--out", default="tradeoff", show_default=True, help="Folder for figures, tables, trace and proof.")
@_json
def tradeoff(allowances, buffer_time, start, end, out, as_json):
    """Reproduce the trade-off between loss and convergence time, and check the steps of its proof."""
    from ccmatic import traces
    from ccmatic.tradeoff import command as trading

    traces.require()
    asked, path = trading.read(allowances, buffer_time, start, end)
    outcomes = set()
    for found in trading.run(asked, path, out):
        outcomes.add(found.good)
        if as_json or found.text:
            click.echo(json.dumps(found.row) if as_json else found.text)
    return BROKEN if False in outcomes else UNKNOWN if None in outcomes else GOOD


def _query(file, network):
    from ccmatic import query as queries

    given = {name: value for name, value in network.items() if value is not None}
    if file:
        if given:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise InputError(f"--query says what {flags} would; expected one or the other")
        return queries.load(file)
    missing = [f"--{name}" for name in ("model", "buffer", "horizon") if name not in given]
    if missing:
        raise InputError(f"{', '.join(missing)} missing; expected --model, --buffer and --horizon, or --query")
    thresholds = {name: given.pop(name) for name in ("utilisation", "constrain_loss") if name in given}
    return queries.make(**given, thresholds=thresholds)


def _controller(name, query):
    from ccmatic import language
    from ccmatic.base import definitions

    path = definitions.find_file(["synthesized", "examples.controllers"], name, ".py")
    return language.load(path, query.units())


def _saved(trace, file, plot):
    """Whether a trace could be saved, and drawn beside its file; where not, that is said, and the verdict stands."""
    from ccmatic import traces

    try:
        writable_folder(file.parent)
        trace.save(file)
        if plot:
            traces.draw_trace(trace, file.with_suffix(".png"))
        return True
    except Unreadable as error:
        _fail(f"{error}; the trace is not saved, expected a folder for it in --save")
        return False


def _solvers(name):
    from ccmatic.solving import NAMES

    return NAMES if name == "all" else (name,)


def main():
    """Run a command; every error is one message, every outcome one of the documented exit codes."""
    try:
        with base.blamed():
            code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _fail(error)
    except click.ClickException as error:
        code = _fail(error.format_message())
    except Disagreement as error:
        file = Path("disagreement.smt2")
        write_text(file, f"(set-logic QF_LRA)\n{error.script}")
        code = _fail(f"{error}; the question is in {file}", UNKNOWN)
    except OutOfTime as error:
        code = _fail(error, UNKNOWN)
    except (KeyboardInterrupt, click.Abort):
        code = _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = GOOD
    except Exception as error:
        if os.environ.get("CCMATIC_TRACEBACK"):
            raise
        found = f"{type(error).__name__}: {error}"
        if base.blamed_files():
            code = _fail(f"{', '.join(base.blamed_files())}: what is defined there cannot be used: {found}")
        else:
            whose = "a fault of ccmatic itself, please report it"
            code = _fail(f"{whose}: {found} (CCMATIC_TRACEBACK=1 shows where)", UNKNOWN)
    sys.exit(code)


def _fail(message, code=BAD_INPUT):
    click.echo(f"ccmatic: {message}", err=True)
    return code
