"""Synthesis: the search for the classes of a template with a controller that ensures the property of a query."""

from ccmatic.synthesis.cegis import Progress, Synthesis, synthesise
from ccmatic.synthesis.cover import CoverReport, check_cover
from ccmatic.synthesis.generators import generator
from ccmatic.synthesis.run_file import COUNTEREXAMPLE, PROVED, SKIPPED, SOLUTION, UNDECIDED, read_run
from ccmatic.synthesis.solution_files import kin

__all__ = [
    "COUNTEREXAMPLE",
    "PROVED",
    "SKIPPED",
    "SOLUTION",
    "UNDECIDED",
    "CoverReport",
    "Progress",
    "Synthesis",
    "check_cover",
    "generator",
    "kin",
    "read_run",
    "synthesise",
]
