"""The Python interface of ccmatic. The command line calls the same functions.

    import ccmatic as cm

    network = cm.Network("ccac", buffer="any", horizon=11)
    verdict = cm.verify(rate, cm.Query(network, utilisation="1/2"))

Each call has its own formulas and solvers, so two threads may call functions at the same time. Unusable input raises
InputError.

`solver` is a `cm.SolverOptions`. These options give the names of the solvers (`z3`, `cvc5`, `yices`), the timeout for
each query of a solver in seconds, and the seed. If two solvers give opposite answers, the call raises Disagreement.
"""

from typing import TYPE_CHECKING, Any

from ccmatic.base import InputError, late

#: The modules take long to import, and most commands need few of them.
if TYPE_CHECKING:
    from ccmatic.answers.estimation import Estimate, estimate, network_of
    from ccmatic.answers.explanation import Explanation, explain, trace_page
    from ccmatic.answers.starvation import Starvation, starve
    from ccmatic.answers.verification import Judgement, Report, answer, answer_all, replay, verify, verify_all
    from ccmatic.answers.worst_case import WorstCase, worst, worst_all
    from ccmatic.base import list_names
    from ccmatic.controllers import Controller
    from ccmatic.controllers import Given as Given
    from ccmatic.deployment.emulation import emulate
    from ccmatic.deployment.policies import actions, export
    from ccmatic.evaluation import evaluate
    from ccmatic.fitting import explain_log
    from ccmatic.fitting import fit_file as fit
    from ccmatic.judging import (
        is_witness,
        judge,
        judge_difference,
        judge_known,
        judge_report,
        judge_search,
        judge_table,
        judge_versions,
        make_scenario,
        new_adaptor,
        replay_witness,
        rerun_witness,
        shrink_witness,
    )
    from ccmatic.language.neural import Decision, decide
    from ccmatic.learning.adversaries import attack
    from ccmatic.learning.agents import sweep, train
    from ccmatic.learning.bench import bench
    from ccmatic.learning.provable import train_proved
    from ccmatic.logic.solving import SolverOptions
    from ccmatic.networks.trace_export import export_trace
    from ccmatic.networks.traces import Trace
    from ccmatic.proving import (
        Attempt,
        Check,
        ProofOutcome,
        check,
        draw_bounds,
        find_bounds,
        find_front,
        prove,
        prove_by_invariant,
        prove_by_shapes,
        prove_expected,
    )
    from ccmatic.proving.guarantees import Guarantee, guarantee
    from ccmatic.questions import Question, ask, measure
    from ccmatic.questions.query import Asked as Asked
    from ccmatic.questions.query import Network, Query, load_controller
    from ccmatic.questions.query import load as load_query
    from ccmatic.synthesis import CoverReport, Progress, Synthesis, check_cover, read_run, synthesise
    from ccmatic.synthesis.widening import Widening, WideningReport, check_widening, widen
    from ccmatic.tradeoffs import reproduce_tradeoff

__all__ = [
    "Attempt",
    "Check",
    "Controller",
    "CoverReport",
    "Decision",
    "Estimate",
    "Explanation",
    "Guarantee",
    "InputError",
    "Judgement",
    "Network",
    "Progress",
    "ProofOutcome",
    "Query",
    "Question",
    "Report",
    "SolverOptions",
    "Starvation",
    "Synthesis",
    "Trace",
    "Widening",
    "WideningReport",
    "WorstCase",
    "actions",
    "answer",
    "answer_all",
    "ask",
    "attack",
    "bench",
    "check",
    "check_cover",
    "check_widening",
    "decide",
    "draw_bounds",
    "emulate",
    "estimate",
    "evaluate",
    "explain",
    "explain_log",
    "export",
    "export_trace",
    "find_bounds",
    "find_front",
    "fit",
    "guarantee",
    "is_witness",
    "judge",
    "judge_difference",
    "judge_known",
    "judge_report",
    "judge_search",
    "judge_table",
    "judge_versions",
    "list_names",
    "load_controller",
    "load_query",
    "make_scenario",
    "measure",
    "network_of",
    "new_adaptor",
    "prove",
    "prove_by_invariant",
    "prove_by_shapes",
    "prove_expected",
    "read_run",
    "replay",
    "replay_witness",
    "reproduce_tradeoff",
    "rerun_witness",
    "shrink_witness",
    "starve",
    "sweep",
    "synthesise",
    "trace_page",
    "train",
    "train_proved",
    "verify",
    "verify_all",
    "widen",
    "worst",
    "worst_all",
]

#: The names of earlier versions, each with the present name.
EARLIER = {"Proved": "ProofOutcome", "Worst": "WorstCase"}


_late = late(__name__)


def __getattr__(name: str) -> Any:
    return _late(EARLIER.get(name, name))
