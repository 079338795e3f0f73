"""`ccmatic train`, `bench`, `act` and `attack`: senders and networks that learn."""

import os
import signal
import socket
import sys
from contextlib import contextmanager
from statistics import median
from threading import Thread

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@contextmanager
def left_in_time():
    """Make Ctrl-C end the process soon while the context lasts.

    A compiler ignores interrupts. Compiled code may clean up slowly, and crashes if Python ends while the code runs.
    Therefore the process exits at once and waits for neither. This exit is safe, because ccmatic writes each file
    completely or not at all.
    """
    # Python at once writes the number of each signal to this socket, even while compiled code runs.
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    Thread(target=_watch, args=(ours,), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        _leave()
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()  # ends the thread, because it then receives no data


def _watch(wakeups):
    """Exit shortly after an interrupt, unless the main thread ends the context first."""
    while heard := wakeups.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    wakeups.settimeout(0.2)
    try:
        while wakeups.recv(1):
            pass
    except TimeoutError:
        _leave()


def _leave():
    sys.stdout.flush()
    os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)


@command(example="ccmatic train custard.toml --seeds 3 --out custard.json")
@click.argument("query", metavar="NAME.toml", type=click.Path())
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**31),
    default=0,
    show_default=True,
    help="The seed of all random numbers. With --seeds, the first seed.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=1000),
    default=1,
    show_default=True,
    help="The number of seeds, which are trained at once. A line then has the median and the range.",
)
@click.option(
    "--out",
    help="The policy's file. The same command resumes from OUT.checkpoint beside it.  [default: NAME.json]",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Train a ReLU policy over beliefs until the claims in the section [proof] are proved, and write it as ONNX.",
)
@click.option("--tensorboard", metavar="FOLDER", help="Also write event files of TensorBoard to this folder.")
@options.as_json
def train(query, seed, seeds, out, prove, tensorboard, as_json):
    """Train a policy or an adversary.

    PPO or TD3 trains it in the environment that a file describes (docs/learned.md). If the file has a section [sweep],
    the command trains once for each combination of its values. The command needs the extra rl.
    """
    if prove:
        options.refuse({"seeds": seeds > 1, "tensorboard": tensorboard}, "one seed with --prove, and no event files")
        return _prove(query, seed, out, as_json)
    with left_in_time():
        from ccmatic import records
        from ccmatic.learning import agents

        if agents.is_sweep(query):
            options.refuse({"tensorboard": tensorboard}, "no --tensorboard, because a sweep writes no event files")
            return _sweep(query, seed, seeds, out, as_json)
        group = []

        def progress(line):
            group.append(line)
            if as_json:
                click.echo(records.line(line))
            elif len(group) == seeds:
                click.echo(_text(group))
            if len(group) == seeds:
                group.clear()

        def warned(text):
            click.echo(f"ccmatic: warning: {text}", err=True)

        files = agents.train(query, out, seed=seed, seeds=seeds, told=progress, warned=warned, tensorboard=tensorboard)
    for file in files:
        click.echo(records.line(records.PolicyLine(str(file))) if as_json else file)
    return options.GOOD


def _sweep(query, seed, seeds, out, as_json):
    from ccmatic import records
    from ccmatic.learning import agents

    def progress(number, line):
        if as_json:
            click.echo(records.line(line))

    done = []
    for line in agents.sweep(query, out, seed=seed, seeds=seeds, told=progress):
        done.append(line)
        if as_json:
            click.echo(records.line(line))
        else:
            click.echo(f"{_swept(line)}   {line.policies[0]}")
    for line in () if as_json else best(done):
        click.echo(f"best: {_swept(line)}")
    return options.GOOD


def best(done):
    """Yield the best training of a sweep for each reward, because rewards of different formulas cannot be compared."""
    rewards = dict.fromkeys(line.values.get("environment.reward") for line in done)
    for reward in rewards:
        same = (line for line in done if line.values.get("environment.reward") == reward)
        yield max(same, key=lambda line: line.held_out)


def _swept(line):
    values = ", ".join(f"{name} = {value}" for name, value in line.values.items())
    spread = f" [{line.least:.3f}, {line.most:.3f}]" if len(line.policies) > 1 else ""
    return f"{values}   held-out reward {line.held_out:.3f}{spread}"


def _prove(query, seed, out, as_json):
    from ccmatic import records
    from ccmatic.learning import provable

    def progress(line):
        answers = ", ".join(f"{claim}: {answer}" for claim, answer in line.claims.items())
        refuted = "   refuted" if line.is_refuted else ""
        text = f"{line.round}/{line.rounds}   reward {line.reward:9.3f}   {answers}{refuted}"
        click.echo(records.line(line) if as_json else text)

    file, verdict = provable.train_proved(query, out, seed=seed, told=progress)
    click.echo(records.line(records.PolicyLine(str(file))) if as_json else file)
    return options.outcome({verdict})


def _text(lines):
    line = lines[0]
    names = (("reward", "9.3f", ""), ("utilisation", "5.3f", ""), ("rtt_ms", "7.2f", " ms"), ("held_out", "9.3f", ""),
             ("held_out_low", "9.3f", ""), ("held_out_high", "9.3f", ""))  # fmt: skip
    shown = {"rtt_ms": "RTT", "held_out": "held-out reward", "held_out_low": "lowest rates",
             "held_out_high": "highest rates"}  # fmt: skip
    parts = []
    for name, form, unit in names:
        values = [getattr(each, name) for each in lines]
        if all(isinstance(value, float | int) for value in values):
            several = min(values) < max(values)
            spread = f" [{min(values):{form}}, {max(values):{form}}]".replace("[ ", "[") if several else ""
            parts.append(f"{shown.get(name, name)} {median(values):{form}}{unit}{spread}")
    return f"{line.episode:>{len(str(line.episodes))}}/{line.episodes}   {line.seconds:6.0f} s   {'   '.join(parts)}"


@command(example="ccmatic bench policy:custard.json cubic --out leaderboard.jsonl")
@click.argument("players", metavar="[PLAYER…]", nargs=-1)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Play only this suite; repeatable.")
@click.option("--file", type=click.Path(), help="The file of the benchmark.  [default: ccmatic-bench-v1]")
@click.option("--out", type=click.Path(), help="Add the lines to this leaderboard, a file of JSON lines.")
@options.as_json
def bench(players, suites, file, out, as_json):
    """Measure players on the held-out links of a benchmark.

    A player is a sender's name, policy:FILE, envelope:NAME:low, envelope:NAME:high or guard:NAME:SENDER. Without
    players, the baselines play. The command needs the extra rl (docs/reference/bench.md).
    """
    with left_in_time():
        from ccmatic import records
        from ccmatic.learning import bench as benchmarks

        for line in benchmarks.bench(players, suites, file=file, out=out):
            click.echo(records.line(line) if as_json else _benched(line))
    return options.GOOD


def _benched(line):
    measured = f"score {line.score:6.3f} ± {line.score_ci:.3f}   utilisation {line.utilisation:6.1%}"
    queued = f"queueing {line.queue_rtt:5.2f} R_m   lost {line.loss:6.2%}"
    return f"{line.suite:<16} {line.player:<28} {measured}   {queued}"


@command(example="ccmatic act policy.json")
@click.argument("policy", metavar="POLICY.json", type=click.Path())
def act(policy):
    """Answer observations on standard input by actions.

    Each line is a JSON object, and so is each answer: an observation has an action as its answer, and a measured
    interval has a rate. A wrong line has an error as its answer, and the command continues
    (docs/reference/learning.md#actions-line-by-line).
    """
    from ccmatic import records
    from ccmatic.deployment import policies

    sys.stdin.reconfigure(errors="replace")  # a byte that is no text must not end the command
    for answer in policies.actions(policy, sys.stdin):
        click.echo(records.line(answer))
        sys.stdout.flush()
    return options.GOOD


@command(example="ccmatic attack vegas-1.json --against cubic --out traces")
@click.argument("adversaries", metavar="FILE.json…", nargs=-1, required=True, type=click.Path())
@click.option(
    "--against",
    "senders",
    multiple=True,
    metavar="SENDER",
    help="Also test this sender, written in the same form as `target` in an adversary file; repeatable.",
)
@click.option("--out", type=click.Path(), help="The folder for the traces, which are mahimahi link traces.")
@options.as_json
def attack(adversaries, senders, out, as_json):
    """Test senders against trained adversaries.

    If the adversaries choose traces, all senders are tested on the worst trace of each adversary. The command needs
    the extra rl (docs/reference/adversary.md).
    """
    with left_in_time():
        from ccmatic import records
        from ccmatic.learning import adversaries as learned

        for line in learned.attack(adversaries, senders, out):
            click.echo(records.line(line) if as_json else _attacked(line))
    return options.GOOD


def _attacked(line):
    trace = "baseline" if line.against is None else f"against {line.against} ({line.seed})"
    measured = (
        f"{line.utilisation:6.1%}   queueing {line.delay_ms:6.2f} ms, p95 {line.p95_ms:6.2f}   lost {line.lost:6.2%}"
    )
    return f"{line.sender:<16} {trace:<24} {measured}{'' if line.constrained else '   (delays less than the baseline)'}"
