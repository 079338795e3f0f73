"""Senders: export, train, attack, emulate and simulate senders."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccmatic import base
from ccmatic.base import InputError, Unreadable, require_folder
from ccmatic.deployment import exporting
from ccmatic.records import (
    ActLine,
    AttackLine,
    BenchLine,
    MeasuresFile,
    ProvedLine,
    SweepLine,
    TrainingLine,
)

if TYPE_CHECKING:
    from ccmatic.learning.bench import Learner


def export(
    controller: str | Path,
    target: str,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    horizon: int = 10,
    jitter: int | str | Fraction = 1,
    around: str | None = None,
) -> list[Path]:
    """Compile a controller, or a trained policy, to C.

    Args:
        controller: A controller's name or file, or a policy's file.
        target: `c`, `bpf` or `udp`; for a policy `c`, `udp` or `onnx`.
        out: The output folder. By default, a folder with the controller's name.
        model: The model whose beliefs the C code computes. By default, the model with the fewest beliefs among
            those that have the controller's beliefs.
        horizon: T, which is one more than the number of steps in a window. Beliefs time out every T-1 steps.
        jitter: The largest variation of delay, in R_m, that has causes other than queueing.
        around: The sender whose rates the envelope limits: the kernel's `cubic`, `bbr` or `reno`, for the target `bpf`;
            or a policy, as `policy:FILE`, for the targets `c` and `udp`.

    Returns:
        The paths of the written files.

    Raises:
        InputError: If the controller cannot be compiled, or a file cannot be written.
    """
    from ccmatic.deployment import policies

    if policies.is_policy(controller):
        return policies.export(controller, target, out)
    settings = (model, horizon, str(jitter))
    word, _, _ = (around or "").partition(":")
    if word == policies.GUARDED:
        guarded = policies.guarded(f"{controller}:{around}")
        return exporting.write(guarded, target, out or guarded.name)
    if around and target != "bpf":
        raise InputError(f"--around {around} for the target {target}; expected --target bpf: the kernel runs it")
    made = (exporting.make_guard(str(controller), around, *settings) if around
            else exporting.make(str(controller), *settings, guarding=True))  # fmt: skip
    return exporting.write(made, target, out or made.name)


def train(
    query: str | Path,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    seeds: int = 1,
    told: Callable[[TrainingLine], None] = lambda line: None,
    warned: Callable[[str], None] = warnings.warn,
    tensorboard: str | Path | None = None,
) -> list[Path]:
    """Train a policy or an adversary in the environment that a file describes. Training needs the extra `rl`.

    Args:
        query: The TOML file that describes the environment (docs/learned.md).
        out: The file of the policy. The same call resumes from OUT.checkpoint beside it. By default, NAME.json.
        seed: The first seed. A seed determines all random numbers of a training.
        seeds: The number of seeds, which are trained at once. The file of each seed ends with the seed.
        told: A function that is called with a record for each seed after each episode.
        warned: A function that is called with a warning, if senders that harm cheat the reward of the training.
        tensorboard: A folder for event files of TensorBoard; None for no such files. This needs the extra
            `tensorboard`.

    Returns:
        The file of each seed's policy.

    Raises:
        InputError: If the file describes no training, or the extra is not installed.
    """
    from ccmatic.learning import agents

    training = agents.load(query)
    file = _policy_file(query, out, ".json")
    if training.warning:
        warned(training.warning)
    if tensorboard is None:
        return agents.train(training, seed, file, told, seeds)
    with closing(agents.Board(tensorboard)) as board:

        def both(line: TrainingLine) -> None:
            board(line)
            told(line)

        return agents.train(training, seed, file, both, seeds)


def sweep(
    query: str | Path,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    seeds: int = 1,
    told: Callable[[int, TrainingLine], None] = lambda number, line: None,
) -> Iterator[SweepLine]:
    """Train once for each combination of the values in the section [sweep] of a file. This needs the extra `rl`.

    Args:
        query: The TOML file of a training, with a section [sweep] (docs/reference/learning.md#sweeps).
        out: NAME.json: training k writes NAME-k.json. By default, NAME is the name of the query.
        seed: The first seed of each training.
        seeds: The number of seeds of each training.
        told: A function that is called with the number of a training, from 1, and with each of its records.

    Yields:
        A record for each training.

    Raises:
        InputError: If a training of the sweep is wrong, or the extra is not installed.
    """
    from ccmatic.learning import agents

    yield from agents.sweep(query, seed, _policy_file(query, out, ".json"), told, seeds)


def _policy_file(query: str | Path, out: str | Path | None, suffix: str) -> Path:
    """Return the file of a policy, by default that of the query with another suffix.

    Raises:
        Unreadable: If its folder does not exist, or it is a folder or the query itself.
    """
    file = Path(out or f"{Path(query).stem}{suffix}")
    require_folder(file)
    if file.is_dir() or (file.exists() and file.samefile(query)):
        what = "a folder" if file.is_dir() else "the file of the training"
        raise Unreadable(f"this is {what}; expected a file for the policy, such as NAME{suffix}", str(file))
    return file


def train_proved(
    query: str | Path,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    told: Callable[[ProvedLine], None] = lambda line: None,
) -> tuple[Path, str]:
    """Train a ReLU policy over beliefs until its claims are proved (docs/reference/learning.md). This needs `rl`.

    Args:
        query: The TOML file with the sections [environment], [agent] and [proof].
        out: The ONNX file of the policy. By default, NAME.onnx.
        seed: The seed of all random numbers.
        told: A function that is called with a record after each round.

    Returns:
        The file, and the verdict: `holds` if all claims are proved, `violated` if an execution breaks a claim of the
        last round, and otherwise `unknown`.

    Raises:
        InputError: If the file describes no such training, or the extra is not installed.
    """
    from ccmatic.learning import provable

    training = provable.load(query)
    file = _policy_file(query, out, ".onnx")

    def listener(made: "provable.Round") -> None:
        claims = {str(proof.claim): proof.answer.value for proof in made.proofs}
        told(ProvedLine(made.number, training.rounds, round(made.reward, 4), claims, made.violation is not None))

    outcome = provable.train(training, seed, file, listener)
    refuted = outcome.rounds[-1].violation is not None
    return outcome.file, "holds" if outcome.is_proved else "violated" if refuted else "unknown"


def attack(
    adversaries: Sequence[str | Path], senders: Sequence[str] = (), out: str | Path | None = None
) -> Iterator[AttackLine]:
    """Run trained adversaries, and test all senders on the worst trace of each adversary. This needs the extra `rl`.

    Args:
        adversaries: Files of trained adversaries.
        senders: Further senders to test on the traces.
        out: A folder to which the traces are written, as link traces of mahimahi.

    Yields:
        A line for each pair of a sender and a trace: utilisation, queueing delay and losses.

    Raises:
        InputError: If a file is no adversary, a sender is unknown, or the extra `rl` is not installed.
    """
    from ccmatic.learning.adversaries import load, transfer

    yield from transfer([load(file) for file in adversaries], senders, out)


def actions(policy: str | Path, lines: Iterable[str]) -> Iterator[ActLine]:
    """Yield a policy's answer to each line, which asks for an action or a rate. This needs a C compiler.

    Args:
        policy: The policy's file.
        lines: The questions, one JSON object in a line (docs/reference/learning.md).

    Raises:
        InputError: If the file is no policy. A wrong line raises no error: its answer has an `error`.
    """
    from ccmatic.deployment import policies

    yield from policies.actions(policies.load(policy), lines)


def bench(
    players: "Sequence[str | Learner]" = (),
    suites: Sequence[str] = (),
    *,
    file: str | Path | None = None,
    out: str | Path | None = None,
) -> Iterator[BenchLine]:
    """Measure players on the held-out links of a benchmark (docs/reference/bench.md). This needs the extra `rl`.

    Args:
        players: The names of senders, `policy:FILE`, `envelope:NAME:low`, `guard:NAME:SENDER`, or Learners of any
            library. Without players, the baselines of the benchmark.
        suites: The names of the suites. By default, all suites.
        file: The file of the benchmark. By default, ccmatic-bench-v1.
        out: The file of a leaderboard, to which the lines are added.

    Yields:
        A line for each player and suite. A player that cannot play a suite, such as a sender with beliefs on a policer,
        has no line there.

    Raises:
        InputError: If there is no such suite or player, or the extra `rl` is not installed.
    """
    from ccmatic.learning.bench import load, measure_all

    yield from measure_all(load(file), players, suites, out)


def emulate(
    flows: Sequence[str] = ("cubic",),
    *,
    on: str | None = None,
    expect: Sequence[str] = (),
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    jitter: str | None = None,
    pattern: str | None = None,
    changes: Sequence[str] = (),
    schedule: str | Path | None = None,
    seconds: float | None = None,
    warmup: float | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    plot: str | Path | None = None,
) -> MeasuresFile:
    """Run real flows over an emulated link, in network namespaces of this machine. Emulation needs root and Linux.

    Args:
        flows: The senders, such as "cubic", "udp:cc_qdel" or "bpf:cc_qdel@10s-30s,rtt=80ms".
        on: The path, such as "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms", instead of rate, rtt, buffer and jitter.
        expect: Expectations by which the run is judged, such as "loss <= 1%" (docs/reference/expectations.md). An
            expectation with `beside` adds a flow to a single flow; of several flows, a later one has to be this flow.
        rate: C, such as "24mbit".
        rtt: R_m, such as "40ms".
        buffer: The buffer, such as "2bdp", "30000" (bytes) or "infinite"; a BDP is C·R_m.
        jitter: D, such as "40ms": the longest time for which jitter holds a packet. By default, there is no jitter.
        pattern: The pattern by which jitter holds packets: "uniform" or "aggregation".
        changes: Changes of the rate, such as "5s=48mbit".
        schedule: A file that replaces the link: a schedule or holds from `export_trace`, or a link trace of mahimahi.
        seconds: The length of the run. By default, the length of the schedule. Without a schedule, the default is 10 s,
            or the length of a longer link trace.
        warmup: The seconds at the start that are not measured. By default, until beliefs have converged, or a third of
            the run.
        seed: The seed of the random jitter.
        out: A folder for the packet log and the measurements.
        plot: A file for a drawing of the run.

    Returns:
        The measurements. `valid` states whether the emulated link behaved as requested. `guarantees` has the proved
        guarantees of a single flow. `expectations` states which expectations are met.

    Raises:
        InputError: If a text cannot be read, if no run can show an expected quantity, or if the machine cannot emulate
            a link.
    """
    from ccmatic.deployment import emulation

    link = {"on": on, "rate": rate, "rtt": rtt, "buffer": buffer, "jitter": jitter, "pattern": pattern, "seed": seed}
    where: dict[str, Any] = {**link, "changes": changes, "schedule": schedule}
    measures: MeasuresFile = emulation.measure_flows(where, flows, seconds, warmup, out, plot, expect)
    return measures


def evaluate(
    senders: Sequence[str],
    out: str | Path = "evaluation",
    *,
    real: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
) -> Any:
    """Run exported controllers on the paper's grid of links, and compare them with their proved bounds.

    Args:
        senders: The controllers; if `real`, flows as in `emulate`.
        out: The folder for results and figures, from which the same call resumes.
        real: Whether to run on this machine's network stack, on a smaller grid. This needs root and Linux.
        jobs: The number of processes that simulate.
        cluster: The address of a Dask cluster that simulates instead of processes.

    Returns:
        The Grid. Iterating over the Grid yields a ResultRecord for each missing run; then `draw` draws all runs.

    Raises:
        InputError: If a sender cannot be run.
    """
    from ccmatic.evaluation import Grid

    return Grid(senders, out, real, jobs, cluster)


def list_names(*kinds: str) -> list[Any]:
    """List the shipped definitions by name, with a sentence about each.

    Args:
        kinds: `models`, `queries`, `templates`, `properties`, `proofs` or `controllers`. By default, all kinds.

    Returns:
        A list of entries. Each entry has a `kind`, a `name`, and a sentence `says`.

    Raises:
        InputError: If a kind is unknown.
    """
    unknown = [kind for kind in kinds if kind not in base.KINDS]
    if unknown:
        raise InputError(f"there is no kind '{base.shown(unknown[0])}'; {base.suggest(unknown[0], base.KINDS)}")
    entries: list[Any] = list(base.entries(kinds or tuple(base.KINDS)))
    return entries
