"""Two senders with a contract share a link: the lemmas, what follows from them, and independent executions."""

import random
from fractions import Fraction

import pytest

from ccmatic import api as cm
from ccmatic.contracts import load_definition
from support import ROOT
from support.benchmarks import defined_by
from support.cli import run
from support.machine import needs_compiler

PROOF = load_definition("proofs", "PROOF", "contract")
NETWORK = cm.Network("cbr_delay_own_jitter", "infinite", 13)
GIVEN = "alpha >= 1/30; alpha <= 2/5; L_f[0][0] == Ld_f[0][0]; L_f[1][0] == Ld_f[1][0]"
CONSTANTS = {"most": Fraction(4), "pace": Fraction(1, 2), "utilisation": Fraction(3, 4), "queue": Fraction(48)}

#: Ages in steps, and the packets per R_m that examples/controllers/contract.py sends up to each age.
LEVELS = ((2, 16), (4, 8), (6, 4), (8, 2))


@pytest.mark.parametrize(("pace", "verdict"), [("1/2", "holds"), ("51/100", "violated")])
def test_a_flow_sends_half_of_what_the_other_sent(pace, verdict):
    close = f"A_f[1][-1] - A_f[1][-2] < {pace} * (A_f[0][-2] - A_f[0][-3])"
    assert cm.verify("contract", cm.Query(NETWORK, "avoids", what=close, given=GIVEN)).verdict == verdict


@pytest.mark.parametrize(
    ("what", "horizon", "verdict"),
    [
        ("Or(competing_f[0][-1] == 1, competing_f[1][-1] == 1)", 17, "holds"),
        ("A_f[1][-1] - A_f[1][-2] < 1/2 * (A_f[0][-2] - A_f[0][-3])", 20, "holds"),  # it is violated in 19 steps
        ("A_f[1][-1] - A_f[1][-2] < 51/100 * (A_f[0][-2] - A_f[0][-3])", 20, "violated"),
    ],
)
def test_without_losses_a_contract_never_competes_and_keeps_its_pace(what, horizon, verdict):
    given = f"{GIVEN}; competing_f[0][0] == 0; competing_f[1][0] == 0"
    query = cm.Query(cm.Network("cbr_delay_own_jitter", "infinite", horizon), "avoids", what=what, given=given)
    assert cm.verify("contract_competing", query).verdict == verdict


#: `contract_competing` while it competes, with the lines of the shipped text by which the window grows.
COMPETING = '''"""The second mode alone."""

C = 2 / 5

window: bytes = above(0)
base: bytes = above(0)
since: bytes = between(0, 8 * MSS)
recover: bytes = anything()


def update(window, base, since, recover, acked, sent, lost, MSS, R_m, step, second):
    if lost > lost[step] and acked + lost[step] >= recover:
        base = max(2 * MSS, 7 / 10 * window)
        window = base
        since = 0
        recover = sent
    else:
{growth}

def send(window, R_m):
    return window, window / R_m
'''


#: In the whole period, CUBIC's window is at least a packet, as that of a real sender.
REAL = "; ".join(f"c_f[1][{t}] >= 1/4" for t in (4, 5, 6))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "horizon", "given", "says"),
    [(2, 5, "alpha == 1/4", "share: never below 1/10"), (3, 7, f"alpha == 1/4; {REAL}", "share: below 1/10")],
)
def test_while_it_competes_it_keeps_a_tenth_beside_cubic_for_two_steps_only(period, horizon, given, says, tmp_path):
    """In three steps, the buffer may lose all of its packets, so CUBIC gets all bytes. The trace replays."""
    shipped = (ROOT / "examples/controllers/contract_competing.py").read_text()
    begin, end = shipped.index("        since = since + MSS"), shipped.index("    else:\n        competing = False")
    (tmp_path / "competing.py").write_text(COMPETING.replace("{growth}", shipped[begin:end]))
    model = "ccac2021:flows=2,begins=anywhere,timer=executions,waste=constant-rate,delay=own"
    network = ("--model", model, "--jitter", "0", "--buffer", "2", "--horizon", horizon)
    question = ("--of", "share", "--period", period, "--at", "1/10", "--given", given, "--out", "traces")
    _, out, _ = run("worst", "./competing.py", "cubic", *network, *question, cwd=tmp_path)
    assert says in " ".join(out.split())
    for trace in (tmp_path / "traces").glob("*.json"):
        assert run("replay", trace, cwd=tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"factor": ("1/2", "3/2")},
            "the levels of a contract do not fall by the factor 3/2; expected a number",
        ),
        ({"factor": (1,)}, "the levels of a contract do not fall by the factor 1; expected a number between 0 and 1"),
        ({"levels": 1}, "the contract has 1 levels, which do not fall; expected at least 2"),
        ({"band": ("1/2",)}, "a band of a contract has 1/2 steps; expected a whole number, at least 1"),
        ({"links": (5, 100)}, "no level reaches a link of 100 packets per R_m, because the flows send at most 32"),
        (
            {"links": (1, 30)},
            "no level is low enough for a link of 1 packet per R_m, because the flows send at",
        ),
        ({"links": (30, 5)}, "the links have 30 to 5 packets per R_m; expected the lower rate first"),
    ],
)
def test_a_contract_that_cannot_work_is_refused(changes, problem, tmp_path):
    numbers = {"levels": 5, "top": (16,), "factor": ("1/2",), "band": (2,), "links": (5, 30)} | changes
    text = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
    code = f"from ccmatic.contracts import contract_sketch\n\nTEMPLATE = contract_sketch({text})\n"
    (tmp_path / "mine.py").write_text(code)
    query = '[network]\nmodel = "cbr_delay_own_jitter"\nbuffer = "infinite"\nhorizon = 13\n'
    (tmp_path / "mine.toml").write_text(f'{query}\n[template]\nname = "./mine.py"\n')
    code, out, err = run("synth", "./mine.toml", cwd=tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert problem in err and "mine.py:3" in err


@pytest.mark.parametrize(
    ("flows", "problem"),
    [
        (("contract", "--beside", "cc_qdel"), "cc_qdel sends at a rate, and flows that share a link send by a window"),
        (("contract", "--beside", "dctcp"), "dctcp reads `marked`, and cbr_delay_own_jitter marks no packets"),
    ],
)
def test_flows_that_cannot_share_a_link_are_refused(flows, problem):
    code, out, err = run("starve", *flows)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert problem in err and "expected" in err


def shares(seed, steps=260):
    """The bytes of each flow served by each step: a first in, first out link, and a jitter box for each flow.

    This code does not use ccmatic's models. All bytes are integers.
    """
    draw = random.Random(seed)
    packet, rate = 60, 60 * draw.randint(5, 60) // 2
    bias = draw.choice((0, 1, None))
    sent, let, served = ([[0], [0]] for _ in range(3))
    waiting = [[packet * draw.randint(0, 40), packet * draw.randint(0, 40)]]
    for flow in (0, 1):
        sent[flow][0] = waiting[0][flow]
    for t in range(1, steps):
        step = [_level(sent[flow], served[flow], t) * packet for flow in (0, 1)]
        waiting.append(list(step))
        out = _leaves(waiting, rate, draw)
        for flow in (0, 1):
            sent[flow].append(sent[flow][-1] + step[flow])
            let[flow].append(let[flow][-1] + out[flow])
            least = max(let[flow][t - 1], served[flow][-1])
            held = draw.random() < 0.5 if bias is None else flow == bias
            served[flow].append(least if held else let[flow][t])
    return served, sent, let


def _level(sent, served, t):
    """What a flow sends in step t, in packets, by the age of its oldest byte that is not acknowledged."""
    acked = served[t - 1]
    return next((level for age, level in LEVELS if t - 1 - age < 0 or acked >= sent[t - 1 - age]), 1)


def _leaves(waiting, rate, draw):
    """Take a step's bytes from the queue: steps in order, and the flows of a step in any order."""
    out = [0, 0]
    while waiting and rate:
        for flow in draw.sample((0, 1), 2):
            taken = min(waiting[0][flow], rate)
            waiting[0][flow] -= taken
            out[flow] += taken
            rate -= taken
        if not any(waiting[0]):
            waiting.pop(0)
    return out


def test_no_execution_breaks_the_shares_that_the_proof_states(count=60):
    says = [each.says for each in PROOF.follows(CONSTANTS, PROOF.horizon, PROOF.jitter)]
    claims = [text for text in says if text.startswith("Over every")]
    assert len(claims) == 3
    least = {}
    for seed in range(count):
        served, sent, let = shares(seed)
        begin = next(t for t in range(len(let[0])) if t > 18 and sum(s[19] for s in sent) <= sum(s[t] for s in let))
        for claim in claims:
            steps, share = int(claim.split()[2]), Fraction(claim.split(" least ")[1].split()[0])
            for s in range(begin, len(let[0]) - steps):
                bytes_ = [flow[s + steps] - flow[s] for flow in served]
                assert min(bytes_) >= share * sum(bytes_), (seed, claim, s)
                least[share] = min(least.get(share, 1), Fraction(min(bytes_), sum(bytes_)))
    assert least[Fraction(3, 10)] < Fraction(2, 5)  # so the executions come near the claim


@pytest.mark.slow
def test_no_execution_of_ten_thousand_breaks_the_shares():
    test_no_execution_breaks_the_shares_that_the_proof_states(10_000)


@needs_compiler
@pytest.mark.parametrize(("apart", "below"), [(0.001, False), (8, True)])
def test_the_proved_share_needs_senders_that_know_the_propagation_delay(apart, below):
    """A flow that starts beside a queue of ten R_m takes eleven R_m for one, and first gets a few per cent."""
    study = defined_by("fair_late")
    link = study["Link"](packets=2.5, rtt=20, jitter=1, buffer=2000, flows=2)
    with study["running"].Session(study["subjects"].subject("contract")) as session:
        least, _ = study["least"](session, "contract", link, 20, apart)
    assert (least < 1 / 4) == below, least
