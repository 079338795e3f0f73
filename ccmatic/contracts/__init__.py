"""The contracts that definition files must fulfil: models, beliefs, properties, templates, and proofs."""

from ccmatic.base import BYTES, CONDITION, RATE, TIME
from ccmatic.contracts.belief import Belief, RunningBound, RunningMax, RunningMin, Sample, StateBelief, is_bound
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.checker import load_definition
from ccmatic.contracts.column import (
    BEFORE_TIMEOUT,
    FIRST,
    IDLE,
    LAST,
    TOKENS,
    Column,
    MeasuredDelay,
    Observation,
    SenderBelief,
    StateVariable,
)
from ccmatic.contracts.exclusion import EXCLUSIONS, Exclusion
from ccmatic.contracts.execution import (
    Execution,
    Flow,
    ObservationWindow,
    ending,
    execution,
    following,
    observed,
    sender_observations,
)
from ccmatic.contracts.fluid import MANY, Links, Marks, SlotOutcome
from ccmatic.contracts.model import Law, Model, overflow
from ccmatic.contracts.parameter import APPLICATION, Parameter, choice, number, whole
from ccmatic.contracts.program import START, TIMEOUT, Program
from ccmatic.contracts.proof import (
    Constant,
    Lemma,
    Measure,
    Objective,
    Proof,
    RecordingDict,
    State,
    Values,
    beyond,
    file_stem,
)
from ccmatic.contracts.property import Property, WayToFail, share
from ccmatic.contracts.reason import AllOf, AnyOf, AtMost, Compared, Fails, Implied, Stated
from ccmatic.contracts.rows import Lines, Rows
from ccmatic.contracts.sender_text import sender_belief
from ccmatic.contracts.sources import TraceData
from ccmatic.contracts.template import Branch, Sketch, Template, linear_forms, value_of
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.contracts.worlds import FLUID, LOGS, PACKETS, folders, load_fluid, load_logs, world

__all__ = [
    "APPLICATION",
    "BEFORE_TIMEOUT",
    "BYTES",
    "CONDITION",
    "EXCLUSIONS",
    "FIRST",
    "FLUID",
    "IDLE",
    "LAST",
    "LOGS",
    "MANY",
    "PACKETS",
    "RATE",
    "START",
    "TIME",
    "TIMEOUT",
    "TOKENS",
    "AllOf",
    "AnyOf",
    "AtMost",
    "Belief",
    "Bounds",
    "Branch",
    "Buffer",
    "Column",
    "Compared",
    "Constant",
    "Exclusion",
    "Execution",
    "Fails",
    "Flow",
    "FlowView",
    "Implied",
    "Law",
    "Lemma",
    "Lines",
    "Links",
    "Marks",
    "Measure",
    "MeasuredDelay",
    "Model",
    "NetworkView",
    "Objective",
    "Observation",
    "ObservationWindow",
    "Parameter",
    "Program",
    "Proof",
    "Property",
    "RecordingDict",
    "Rows",
    "RunningBound",
    "RunningMax",
    "RunningMin",
    "Sample",
    "SenderBelief",
    "Sketch",
    "SlotOutcome",
    "State",
    "StateBelief",
    "StateVariable",
    "Stated",
    "Template",
    "TraceData",
    "Values",
    "WayToFail",
    "beyond",
    "choice",
    "ending",
    "execution",
    "file_stem",
    "folders",
    "following",
    "is_bound",
    "linear_forms",
    "load_definition",
    "load_fluid",
    "load_logs",
    "number",
    "observed",
    "overflow",
    "sender_belief",
    "sender_observations",
    "share",
    "value_of",
    "whole",
    "world",
]
