"""The loss-convergence trade-off in Coq: proofs/loss_convergence.v, built from clean, then checked by coqchk."""

import re
import shutil
import subprocess

import pytest

from support import ROOT

SOURCE = ROOT / "proofs" / "loss_convergence.v"

#: What Coq's own real numbers rest on.
AXIOMS_OF_REALS = {
    "Coq.Logic.Classical_Prop.classic",
    "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep",
    "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
    "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
}

THEOREMS = {
    "step_1_reproduces",
    "step_1_must_lose",
    "step_2_sound",
    "step_2_tight",
    "step_3_loss_risked",
    "step_3_exact",
    "step_4_growth",
    "step_4_no_faster",
    "step_4_needs_no_shortcut",
    "loss_convergence",
    "constant_allowance",
}

UNPROVED = {"Admitted", "admit", "Axiom", "Axioms", "Conjecture", "Parameter", "Parameters", "Unset"}

missing = [tool for tool in ("coqc", "coqchk") if not shutil.which(tool)]
needs_coq = pytest.mark.skipif(bool(missing), reason=f"no {' and no '.join(missing)} on this machine")


def source():
    """The file without its comments."""
    return re.sub(r"\(\*.*?\*\)", "", SOURCE.read_text(), flags=re.DOTALL)


def printing():
    """The theorems whose assumptions it prints."""
    return re.findall(r"^Print Assumptions (\w+)\.", source(), flags=re.MULTILINE)


def coq(folder, *command):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return done.stdout


def of_reals(names):
    """Whether each is one of those axioms; Coq prints as much of a name as tells it apart."""
    return all(any(f".{axiom}".endswith(f".{name}") for axiom in AXIOMS_OF_REALS) for name in names)


def test_every_theorem_is_proved_and_printed():
    assert not set(re.findall(r"\w+", source())) & UNPROVED
    proved = re.findall(r"^(?:Theorem|Lemma|Corollary) (\w+)", source(), flags=re.MULTILINE)
    assert THEOREMS <= set(printing()) <= set(proved)


@pytest.mark.slow
@needs_coq
def test_coq_accepts_it_with_the_axioms_of_the_reals_alone(tmp_path):
    shutil.copy(SOURCE, tmp_path)
    printed = coq(tmp_path, "coqc", "-q", SOURCE.name)
    resting = printed.count("Axioms:\n")
    assert resting + printed.count("Closed under the global context") == len(printing())
    names = re.findall(r"^([\w.]+)(?= :|\n +:)", printed, flags=re.MULTILINE)
    assert len(names) >= resting and of_reals(names)

    checked = coq(tmp_path, "coqchk", "-silent", "-o", SOURCE.stem)
    axioms = re.search(r"\* Axioms:\n(.*?)\n\s*\n", checked, flags=re.DOTALL).group(1).split()
    assert set(axioms) <= AXIOMS_OF_REALS
    for unsafe in ("type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        assert f"{unsafe}: <none>" in checked


def test_steps_checked_by_solvers_name_theorems():
    """proofs/loss_convergence*.py names the theorem that each step is; there is one of that name."""
    named = {
        name
        for file in SOURCE.parent.glob("loss_convergence*.py")
        for name in re.findall(r'theorem="(\w+)"', file.read_text())
    }
    assert len(named) > 3 and named <= set(printing())
