"""`ccmatic train`: train a policy or an adversary in an environment."""

from statistics import median

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


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
    from ccmatic.cli.interrupts import left_in_time

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
    """Train every training of a sweep. Return the exit code."""
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
    """Train a policy until it is proved. Return the exit code."""
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
