"""The model card of a policy: a page about its task, its training, its measures and its limits."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ccmatic import records
from ccmatic.base import counted, write_text
from ccmatic.learning.agents import held_out
from ccmatic.learning.agents.query import Training


def write(training: Training, file: Path, policy: records.PolicyFile, groups: Sequence[records.TrainingLine]) -> None:
    write_text(file.with_suffix(".md"), "\n".join(_lines(training, file, policy, groups)) + "\n")


def _lines(
    training: Training, file: Path, policy: records.PolicyFile, groups: Sequence[records.TrainingLine]
) -> Iterator[str]:
    yield from (f"# {file.stem}", "", "## Task", "")
    history = counted(policy.history, "interval")
    yield f"A sender that observes `{policy.observe}` of {history} and acts by `{policy.act}`."
    yield f"A monitor interval is {policy.interval} R_m. The reward is `{policy.reward}`."
    if training.warning:
        yield f"Warning: {training.warning}"
    yield from ("", "## Training", "", f"Seed {policy.seed}, {counted(policy.curve[-1].intervals, 'interval')}.", "")
    for section, values in training.sections.items():
        yield from (f"    {section}.{key} = {value!r}" for key, value in values.items())
    yield from ("", "## Held-out links", "")
    own = _held_out(policy.curve)
    best = max(own, key=lambda episode: own[episode])
    yield f"{held_out.LINKS} links that no training episode used, without random deviations. This file has the policy"
    yield f"of episode {best}, with the best mean reward, {own[best]:g}. The last policy has"
    yield f"{own[max(own)]:g}. The best episode was chosen on these links, so measure the policy on other links:"
    yield from ("", f"    ccmatic bench policy:{file}", "")
    lasts = sorted(_held_out([line])[line.episode] for line in groups if line.episode == line.episodes)
    if len(lasts) > 1:
        yield f"The last policies of {len(lasts)} seeds have {lasts[0]:g} to {lasts[-1]:g}."
    edges = [getattr(policy.curve[-1], name) for name in ("held_out_low", "held_out_high")]
    if isinstance(edges[0], float):
        yield f"The lowest rates of the envelope have {edges[0]:g}, and the highest {edges[1]:g}."
    yield from ("", "## Guarantee", "")
    if isinstance(policy.guarantees, list):
        yield from policy.guarantees
    else:
        yield "No guarantee: no envelope with a proof limits the rates of this policy."


def _held_out(lines: Sequence[records.TrainingLine]) -> dict[int, float]:
    """Return the mean rewards on held-out links by episode."""
    return {line.episode: line.held_out for line in lines if isinstance(line.held_out, float)}
