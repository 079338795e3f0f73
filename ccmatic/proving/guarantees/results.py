"""Read the parts of result files of `ccmatic prove` that guarantees need, without the traces."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from ccmatic import controllers, records
from ccmatic.base import definitions, located, parse_json, read_text
from ccmatic.contracts import Proof, load_definition
from ccmatic.records import ProofFile

_SHIPPED = "results.proofs"


@dataclass(frozen=True)
class Result:
    """The content of one result file of a proof."""

    file: Path
    proof: Proof
    #: The name or the path of the proof's definition.
    definition: str
    controller: Any
    #: The horizon T, the number of points of a window, which spans T - 1 steps.
    horizon: int
    constants: Mapping[str, Fraction]
    verdicts: Mapping[str, str]


def read_result(file: str | Path, allow_code: bool = False) -> Result:
    """Read a result file. This function does not prove the numbers again; `ccmatic check` does."""
    file = definitions.find_file([_SHIPPED], file, ".json")
    with located(str(file)):
        data = parse_json(read_text(file), str(file))
        records.require_format(data, ProofFile)
        saved = records.convert(data, ProofFile, what="not a proof of ccmatic")
        proof = load_definition("proofs", "PROOF", saved.proof, allow_code)
        observations = load_definition("models", "MODEL", proof.model, allow_code).observations
        controller = controllers.parse(saved.controller.source, saved.controller.name, observations=observations)
    return Result(
        file=file,
        proof=proof,
        definition=saved.proof,
        controller=controller,
        horizon=saved.horizon,
        constants={name: constant.value for name, constant in saved.constants.items()},
        verdicts={answer.lemma: answer.verdict for answer in saved.lemmas},
    )


@cache
def shipped() -> tuple[Result, ...]:
    """Return the shipped results for controllers that read beliefs, on networks with jitter.

    In the models, the propagation of a path is part of the jitter. A network without jitter therefore describes no
    path. Results without constants give no bounds, so they are omitted. In a clone, `prove` also writes invariants and
    counterexamples to the folder of the shipped results.
    """
    files = (definitions.find_file([_SHIPPED], name, ".json") for name in definitions.shipped(_SHIPPED, ".json"))
    results = [read_result(file) for file in files if records.has_format(parse_json(read_text(file)), ProofFile)]
    of_beliefs = [made for made in results if made.constants and isinstance(made.controller, controllers.Controller)]
    return tuple(made for made in of_beliefs if made.proof.jitter)


def of_controller(
    controller: controllers.Controller, horizon: int | None = None, jitter: int | None = None
) -> Iterator[Result]:
    """Yield the shipped results for the text of a controller, whose name may differ."""
    for result in shipped():
        same = result.controller.body == controller.body
        if same and horizon in (None, result.horizon) and jitter in (None, result.proof.jitter):
            yield result
