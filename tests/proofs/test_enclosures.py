"""Envelopes that contain a network: exact for all beliefs and every C, tight, and proved by an invariant."""

import json
import random
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.controllers import parse
from ccmatic.proving import enclosures
from ccmatic.proving.enclosures.envelope import is_tightest
from ccmatic.proving.enclosures.proof import digest, fault
from ccmatic.proving.invariants import Answer, Claim
from ccmatic.questions.query import Network, Query
from support.cli import run
from support.json_schemas import validate

pytest.importorskip("highspy")

GRID = Fraction(1, 64)


def network(seed, units=6, scale=8):
    """A network of one hidden layer over four terms of beliefs; its weights are multiples of 1/scale."""
    dice = random.Random(seed)
    hidden = [[dice.randint(-8, 8) for _ in range(4)] for _ in range(units)]
    last = [dice.randint(-4, 8) for _ in range(units)]
    sums = [
        f"max(0, ({a}*C_L + {b}*min(C_U, 4 * C_L) + {c}*(C_L if qdel_L > 0 else 0) + {d}*wait) / {scale})"
        for a, b, c, d in hidden
    ]
    total = " + ".join(f"{w}/{scale} * {each}" for w, each in zip(last, sums, strict=True))
    lines = ["def rate(C_L, C_U, qdel_L, R_m):", "    wait = C_L if qdel_L > 3/2 * R_m else 0 * C_L"]
    return parse("\n".join([*lines, f"    return max(C_L / 4, {total})", ""]), f"drawn_{seed}")


def believing(dice):
    C_L = Fraction(dice.randint(1, 999), dice.randint(1, 99))
    C_U = C_L * Fraction(dice.randint(0, 640), 64)
    return {"C_L": C_L, "C_U": C_U, "qdel_L": Fraction(dice.randint(0, 12), 4), "R_m": 1}


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_an_envelope_contains_every_decision_and_little_more(seed):
    policy = network(seed)
    envelope = parse(enclosures.enclose(policy), "around")
    dice, reached = random.Random(seed), {}
    for _ in range(1500):
        beliefs = believing(dice)
        ends, chosen = envelope.rates(beliefs), policy.rate(beliefs)
        assert ends.low <= chosen <= ends.high
        case = beliefs["C_U"] >= beliefs["C_L"] and (ends.low / beliefs["C_L"], ends.high / beliefs["C_L"])
        low, high = reached.get(case, (chosen / beliefs["C_L"],) * 2)
        reached[case] = min(low, chosen / beliefs["C_L"]), max(high, chosen / beliefs["C_L"])
    reached.pop(False)
    assert len(reached) > 1
    for (low, high), (least, most) in reached.items():
        # Decisions come near to the ends: of random beliefs, within a step of the grid and a thirtieth.
        assert least - low <= GRID + abs(low) / 30 + Fraction(1, 10) and high - most <= GRID + high / 30


def test_an_envelope_is_computed_again_by_its_check():
    policy = network(1)
    envelope = parse(enclosures.enclose(policy), "around")
    assert is_tightest(envelope, policy)
    assert not is_tightest(envelope, network(2))
    wider = parse(envelope.source.replace("between(", "between(0 * C_L + ", 1), "around")
    assert not is_tightest(wider, policy)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            "C_L + MSS / R_m",
            "reads `MSS`; expected a network of C_L, C_U, R_m, qdel_L whose biases are multiples of C_L",
        ),
        ("max(C_L, C_U)", "C_U has no largest value"),
        ("C_U / 2", r"the rate grows with C_U; expected a limit, such as min\(C_U, 4 \* C_L\)"),
        ("C_L if C_U > C_L else C_L / 2", "has a condition on rates; expected max and min"),
        ("between(C_L, 2 * C_L)", "is an envelope; expected a network"),
    ],
)
def test_what_is_no_bounded_network_is_refused(returned, message):
    policy = parse(f"def rate(C_L, C_U, MSS, R_m):\n    return {returned}\n", "bad")
    with pytest.raises(InputError, match=message):
        enclosures.enclose(policy)


POLICY = """
def rate(C_L, C_U, qdel_L):
    waits = C_L if qdel_L > 0 else 0
    one = max(0, min(C_U, 4 * C_L) + C_L - 8 * waits)
    two = max(0, C_L / 2 - min(C_U, 4 * C_L) / 16 - waits / 2)
    return C_L / 2 + max(0, one / 4 + two)
"""


def asked():
    return Query(
        Network("ccac", buffer="infinite", horizon=4), "expects", what="queue <= 1 bdp", start="informed", given=""
    )


def test_a_network_is_proved_by_its_envelope_and_a_sabotaged_one_is_not():
    query = asked()
    policy = query.read_controller(POLICY, "policy")
    proved = enclosures.prove(query, policy, Claim("queue", "<=", Fraction(8)), 60)
    assert proved.answer is Answer.PROVED and proved.fault() is None
    sabotaged = query.read_controller(POLICY.replace("8 * waits", "waits"), "policy")
    assert "C_U" not in proved.envelope  # The laws of the network imply C_L ≤ C_U.
    assert "the envelope does not contain policy" in fault(sabotaged, proved.invariant)
    assert enclosures.prove(query, sabotaged, proved.claim, 3).answer is Answer.UNKNOWN


def test_the_network_of_an_onnx_file_has_an_envelope(tmp_path):
    pytest.importorskip("onnx")
    from support import networks

    inputs = ("C_L", "min(C_U, 4 * C_L)", "C_L if qdel_L > 0 else 0")
    layers = [([[1, 0.5, -2], [0.5, -0.25, 1]], [0, 0]), ([[1, 0.5]], [0])]
    file = networks.layered(tmp_path / "policy.onnx", inputs, layers)
    assert enclosures.enclose(cm.load_controller(file)).count("between") == 3
    biased = networks.layered(tmp_path / "biased.onnx", inputs, [layers[0], ([[1, 0.5]], [1])])
    with pytest.raises(InputError, match="reads `MSS`"):
        enclosures.enclose(cm.load_controller(biased))


ON = ("--on", "ccac, buffer infinite, jitter 1 rtt", "--expect", "queue <= 8 bdp")
INPUTS = ("C_L", "min(C_U, 4 * C_L)", "C_L if qdel_L > 0 else 0")

#: The network of POLICY in layers.
LAYERS = [([[1, 1, -8], [1 / 2, -1 / 16, -1 / 2], [1, 0, 0]], [0, 0, 0]), ([[1 / 4, 1, 1 / 2]], [0])]


def test_prove_writes_a_proof_of_an_onnx_file_and_check_refuses_it_for_another_network(tmp_path):
    pytest.importorskip("onnx")
    from support import networks

    file = networks.layered(tmp_path / "policy.onnx", INPUTS, LAYERS)
    code, told, errors = run("prove", file, *ON, "--out", tmp_path / "out")
    assert code == 0 and "policy               proved    queue <= 8 bdp" in told, errors
    [proof] = (tmp_path / "out").glob("*.json")
    code, told, _ = run("check", proof)
    assert code == 0 and "and the envelope computed again" in told

    data = json.loads(proof.read_text())
    validate(data, "EnclosedFile")
    for old, new in (("-8]", "-1]"), ("-0.0625", "0.0625")):
        forged = {**data, "network": {**data["network"], "source": data["network"]["source"].replace(old, new)}}
        assert forged != data
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        code, told, _ = run("check", tmp_path / "forged.json")
        assert code == 1 and "the envelope does not contain policy" in told
    (tmp_path / "named.json").write_text(json.dumps(data | {"network": data["network"] | {"name": "cc_qdel"}}))
    code, told, _ = run("check", tmp_path / "named.json")
    assert code == 1 and "its source is not that of 'cc_qdel'" in told


def test_proofs_travel_with_a_copy_of_the_onnx_file(tmp_path):
    pytest.importorskip("onnx")
    from support import networks

    file, out = networks.layered(tmp_path / "policy.onnx", INPUTS, LAYERS), tmp_path / "out"
    before = file.read_bytes()
    for claim in ("queue <= 8 bdp", "queue <= 9 bdp"):
        code, told, _ = run("prove", file, "--on", ON[1], "--expect", claim, "--out", out)
        assert code == 0 and f"the network with its proofs: {out / 'policy.onnx'}" in told
    assert file.read_bytes() == before
    code, told, _ = run("check", out / "policy.onnx")
    assert code == 0 and "queue <= 8" in told and "queue <= 9" in told
    assert cm.load_controller(out / "policy.onnx").meaning == cm.load_controller(file).meaning
    header = run("export", out / "policy.onnx", "--target", "c", "--out", tmp_path / "c")
    assert header[0] == 0 and any("queue <= 9" in each.read_text() for each in (tmp_path / "c").rglob("*.[ch]"))


def test_check_accepts_an_onnx_file_only_with_the_proof_that_it_names(tmp_path):
    onnx = pytest.importorskip("onnx")
    from support import networks

    file = networks.layered(tmp_path / "policy.onnx", INPUTS, LAYERS)
    query = asked()
    proved = enclosures.prove(query, query.read_controller(POLICY, "policy"), Claim("queue", "<=", Fraction(8)), 60)
    proof = proved.save(enclosures.folder_of(file), "claim_1")

    def named(claims, digest, layers=LAYERS):
        networks.layered(file, INPUTS, layers)
        model = onnx.load(file)
        onnx.helper.set_model_props(model, {"ccmatic.claims": claims, "ccmatic.proofs": digest})
        onnx.save(model, file)
        return run("check", file)

    assert named("queue <= 8", digest(proof))[0] == 0
    assert "expected 'queue <= 8', as proved" in named("queue <= 7", digest(proof))[2]
    assert "has the digest 12ab; expected the proof" in named("queue <= 8", "12ab")[2]
    weaker = [([[1, 1, -1], *LAYERS[0][0][1:]], LAYERS[0][1]), LAYERS[1]]
    code, told, _ = named("queue <= 8", digest(proof), weaker)
    assert code == 1 and "the envelope does not contain policy" in told


@pytest.mark.parametrize(
    ("between", "bias", "message"),
    [
        ("Tanh", 0, "bad computes tanh, which is not linear; expected ReLU"),
        ("Softplus", 0, "(Softplus) is not supported; expected Gemm"),
        ("Relu", 1, "reads `MSS`; expected a network of C_L, C_U, R_m, qdel_L"),
    ],
)
def test_prove_refuses_an_onnx_file_that_has_no_envelope_in_one_line(tmp_path, between, bias, message):
    pytest.importorskip("onnx")
    from support import networks

    file = networks.layered(tmp_path / "bad.onnx", INPUTS, [LAYERS[0], (LAYERS[1][0], [bias])], between)
    code, told, errors = run("prove", file, *ON, "--out", tmp_path / "out")
    assert code == 2 and not told and message in errors and len(errors.splitlines()) == 1
