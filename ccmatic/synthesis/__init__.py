"""Synthesis: the search for the classes of a template with a controller that ensures the property of a query."""

from ccmatic.synthesis.cegis import Progress, synthesise
from ccmatic.synthesis.cover import Report as CoverReport
from ccmatic.synthesis.cover import check_cover
from ccmatic.synthesis.generators import generator
from ccmatic.synthesis.run_file import COUNTEREXAMPLE, PROVED, SKIPPED, SOLUTION, UNDECIDED, Store, read_run
from ccmatic.synthesis.solution_files import Folder, kin, written

__all__ = [
    "COUNTEREXAMPLE",
    "PROVED",
    "SKIPPED",
    "SOLUTION",
    "UNDECIDED",
    "CoverReport",
    "Folder",
    "Progress",
    "Store",
    "check_cover",
    "generator",
    "kin",
    "read_run",
    "synthesise",
    "written",
]
