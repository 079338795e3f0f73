"""What a definition file fills: models, beliefs, properties, templates, proofs."""

from ccmatic.contracts.belief import RunningMax, RunningMin, Sample, StateBelief, is_bound
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.checker import load_definition
from ccmatic.contracts.column import FIRST, LAST, TOKENS, Column, MeasuredDelay
from ccmatic.contracts.execution import Execution, Following, Observed, Watched
from ccmatic.contracts.model import Model, overflow
from ccmatic.contracts.proof import Constant, Lemma, Measure, Objective, Proof, Reads, State, beyond, file_stem
from ccmatic.contracts.property import Property, WayToFail, share
from ccmatic.contracts.reason import AllOf, AnyOf, AtMost, Compared, Fails, Implied, Stated
from ccmatic.contracts.template import Branch, linear_forms, value_of

__all__ = [
    "FIRST",
    "LAST",
    "TOKENS",
    "AllOf",
    "AnyOf",
    "AtMost",
    "Branch",
    "Buffer",
    "Column",
    "Compared",
    "Constant",
    "Execution",
    "Fails",
    "Following",
    "Implied",
    "Lemma",
    "Measure",
    "MeasuredDelay",
    "Model",
    "Objective",
    "Observed",
    "Proof",
    "Property",
    "Reads",
    "RunningMax",
    "RunningMin",
    "Sample",
    "State",
    "StateBelief",
    "Stated",
    "Watched",
    "WayToFail",
    "beyond",
    "file_stem",
    "is_bound",
    "linear_forms",
    "load_definition",
    "overflow",
    "share",
    "value_of",
]
