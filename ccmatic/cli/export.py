"""`ccmatic export`, `ccmatic train` and `ccmatic attack`: senders that are made, and what is made to harm them."""

import os
import signal
import socket
from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

import click

from ccmatic.cli import options


@click.command()
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--target",
    type=options.Names("ccmatic.exporting.files", "names", "onnx"),
    required=True,
    help="c: a header, and functions to link; bpf: for the kernel; udp: a sender and a receiver; onnx: of a policy.",
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
@click.option("--around", help="Of an envelope in the kernel: what runs within it, cubic, bbr or reno.")
@options.as_json
def export(controller, target, out, model, horizon, jitter, around, as_json):
    """Compile a controller to C: integers only, beliefs computed from acknowledgements; or a trained policy's file."""
    from ccmatic import api, records

    files = api.export(controller, target, out, model=model, horizon=horizon, jitter=jitter, around=around)
    for file in files:
        about = records.ExportLine(files[0].stem, target, str(file))
        click.echo(records.line(about) if as_json else file)
    return options.GOOD


@click.command()
@click.argument("query", metavar="NAME.toml", type=click.Path())
@click.option(
    "--seed", type=click.IntRange(min=0, max=2**31), default=0, show_default=True, help="Of all that is random."
)
@click.option(
    "--out", help="The policy's file; beside it OUT.checkpoint, from which the same goes on.  [default: NAME.json]"
)
@options.as_json
def train(query, seed, out, as_json):
    """Train a policy, or an adversary, by PPO or TD3 in the environment that a file describes (docs/training.md);
    needs the extra rl."""
    with _left_in_time():
        from ccmatic import api, records

        def told(line):
            click.echo(records.line(line) if as_json else _text(line))

        file = api.train(query, out, seed=seed, told=told)
    click.echo(records.line(records.PolicyLine(str(file))) if as_json else file)
    return options.GOOD


@click.command()
@click.argument("adversaries", metavar="FILE.json…", nargs=-1, required=True, type=click.Path())
@click.option("--on", "senders", multiple=True, help="Another sender to try them on, as of `target`; more than once.")
@click.option("--out", type=click.Path(), help="A folder for the traces, as link traces of mahimahi.")
@options.as_json
def attack(adversaries, senders, out, as_json):
    """Play trained adversaries, and try the worst trace of each, where they choose traces, on all senders
    (docs/adversaries.md); needs the extra rl."""
    with _left_in_time():
        from ccmatic import api, records

        for line in api.attack(adversaries, senders, out):
            click.echo(records.line(line) if as_json else _attacked(line))
    return options.GOOD


def _attacked(line):
    trace = "baseline" if line.against is None else f"against {line.against} ({line.seed})"
    measured = (
        f"{line.utilisation:6.1%}   queueing {line.delay_ms:6.2f} ms, p95 {line.p95_ms:6.2f}   lost {line.lost:6.2%}"
    )
    return f"{line.sender:<16} {trace:<24} {measured}{'' if line.constrained else '   (delays less than the baseline)'}"


def _text(line):
    measured = f"reward {line.reward:9.3f}   utilisation {line.utilisation:5.3f}   RTT {line.rtt_ms:7.2f} ms"
    return f"{line.episode:>{len(str(line.episodes))}}/{line.episodes}   {line.seconds:6.0f} s   {measured}"


@contextmanager
def _left_in_time():
    """Within it, Ctrl-C ends the process soon though it is in a compiler, which heeds no interrupts, or
    what was compiled takes long to tidy up. All that is written is written whole or not at all."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before, heeded = signal.set_wakeup_fd(theirs.fileno()), Event()
    Thread(target=_watch, args=(ours, heeded, theirs), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        heeded.set()
        raise
    finally:
        signal.set_wakeup_fd(before)
        if not heeded.is_set():
            theirs.close()


def _watch(told, heeded, kept_open):
    while heard := told.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    told.settimeout(0.2)
    try:
        while told.recv(1):
            pass
        return
    except TimeoutError:
        pass
    if heeded.is_set():
        sleep(0.2)  # for the message of those who heeded it
    else:
        os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)
