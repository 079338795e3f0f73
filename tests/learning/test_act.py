"""`ccmatic act`: a policy answers the questions of a program line by line, and a wrong line does not end it."""

import json
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from unittest.mock import patch

import numpy as np
import pytest
from msgspec import structs

from ccmatic import records
from ccmatic.deployment import policies
from ccmatic.worlds.runtime.library import Library, LibraryFlow
from support.cli import run
from support.json_schemas import validate
from support.machine import needs_compiler
from support.policies import Interval, deciding, pointer, policy, said

pytestmark = needs_compiler


def told(file, *lines):
    """The answers to lines; a dict becomes JSON."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    with patch.object(sys, "stdin", TextIOWrapper(BytesIO(f"{text}\n".encode()))):
        code, out, error = run("act", file)
    assert code == 0 and not error, error
    answers = [json.loads(line) for line in out.splitlines()]
    for answer in answers:
        validate(answer, "ActLine")
    return answers


def test_an_observation_has_the_networks_action_within_its_bounds(tmp_path):
    given = policy(tmp_path / "made.json")
    observations = np.random.default_rng(1).normal(size=(20, 18)).astype(np.float32) * 4
    answers = told(tmp_path / "made.json", *({"observation": each.tolist()} for each in observations))
    expected = [float(np.clip(said(given, each), -10, 10)) for each in observations]
    assert [answer["action"] for answer in answers] == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert np.std(expected) > 0.1 and all(set(answer) == {"action"} for answer in answers)


def test_an_action_that_is_no_number_is_0(tmp_path):
    """As in compiled training. Two products overflow, and their sum is no number."""
    weights = np.zeros((18, 1))
    weights[:2, 0] = 3e38, -3e38
    policy(tmp_path / "huge.json", layers=[(weights, np.ones(1)), (np.ones((1, 1)), np.ones(1))])
    assert told(tmp_path / "huge.json", {"observation": [3.0] * 18}) == [{"action": 0.0}]


def test_a_score_that_is_no_number_is_the_highest(tmp_path):
    """As in compiled training, whose `argmax` takes it."""
    pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    weights, bias = np.zeros((18, 3)), [1.0, 0.0, 2.0]
    weights[:2, 1] = 3e38, -3e38
    given = policy(tmp_path / "huge.json").file
    layer = records.LayerRecord(np.float32(weights).tolist(), bias)
    policies.save(structs.replace(given, layers=[layer], choices=[-2.0, 0.5, 7.0]), tmp_path / "huge.json")
    assert told(tmp_path / "huge.json", {"observation": [3.0] * 18}) == [{"action": 0.5}]
    scores = policies.outputs(policies.load(tmp_path / "huge.json").layers, np.full(18, 3, np.float32))
    assert int(np.argmax(scores)) == 1


def test_measured_intervals_have_the_rates_of_an_exported_sender(tmp_path):
    given = policy(tmp_path / "made.json")
    library = Library(policies.exported(given))
    sender, decide, seen = LibraryFlow(library, 1500, 40 * 10**6), deciding(library), np.zeros(18, np.float32)
    rng, out, questions, expected = np.random.default_rng(2), 0, [{"begin": 0.04}], [15000 / 0.04]
    for _ in range(30):
        acked, lost = (1500 * int(rng.integers(1, 40)), 1500 * int(rng.integers(0, 3)))
        rtt, end = 0.04 + 0.04 * rng.random(2)
        sent = acked + lost + 3000
        out += 3000
        questions.append({"seconds": 0.04, "sent": sent, "acked": acked, "lost": lost, "rtt": rtt, "rtt_end": end})
        row = Interval(0.04, sent, acked, lost, rtt, end, out, 0)
        expected.append(decide(sender._pointer, row, 0.04, pointer(seen)))
    answers = told(tmp_path / "made.json", *questions)
    assert [answer["rate"] for answer in answers] == pytest.approx(expected, rel=1e-6)
    assert len({round(rate) for rate in expected}) > 10


WRONG = [
    ("no json", "not JSON"),
    ("", "not JSON"),
    ("{}", "found nothing; expected one of observation, begin, seconds"),
    ("[1, 2]", "expected object"),
    ('{"observation": [1, 2]}', "the observation has 2 numbers; expected 18"),
    ('{"observation": [1e400]}', "is inf; expected numbers from -1e+15 to 1e+15"),
    ('{"observation": [NaN]}', ""),
    ('{"observation": "high"}', "expected a list"),
    ('{"begin": 0.04, "observation": []}', "expected one of"),
    ('{"begin": 0}', "cannot begin with an R_m of 0 ns"),
    ('{"begin": 0.04, "packet": 0}', "packet is 0; expected 1 to 65535 bytes"),
    ('{"begin": 0.04, "speed": 3}', "unknown key"),
    ('{"seconds": 1}', "found no sent with seconds"),
    ('{"seconds": 1, "sent": 0, "acked": 1500, "lost": 0}', "rtt above 0 if and only if"),
    ('{"seconds": 0, "sent": 0, "acked": 0, "lost": 0}', "expected seconds above 0"),
    ('{"seconds": 1, "sent": -1, "acked": 0, "lost": 0}', "sent is -1"),
]


def test_a_wrong_line_has_an_error_and_changes_nothing(tmp_path):
    policy(tmp_path / "made.json")
    begin = {"begin": 0.04}
    interval = {"seconds": 0.04, "sent": 15000, "acked": 15000, "lost": 0, "rtt": 0.05}
    alone = told(tmp_path / "made.json", begin, interval, interval)
    lines = [begin, *(line for line, _ in WRONG), interval, *(line for line, _ in WRONG), interval]
    answers = told(tmp_path / "made.json", *lines)
    right = [answer for answer in answers if "error" not in answer]
    assert right == alone and len(answers) == len(lines)
    for answer, (line, message) in zip(answers[1:], WRONG, strict=False):
        assert message in answer["error"], (line, answer)


def test_an_interval_needs_a_flow_and_an_envelope_needs_observations(tmp_path):
    policy(tmp_path / "made.json")
    interval = {"seconds": 0.04, "sent": 0, "acked": 0, "lost": 0}
    assert "no flow has begun" in told(tmp_path / "made.json", interval)[0]["error"]
    policy(tmp_path / "inside.json", act="envelope:cc_qdel_wide")
    inside = told(tmp_path / "inside.json", {"begin": 0.04}, {"observation": [0.5] * 18})
    assert "acts in an envelope" in inside[0]["error"] and -1 <= inside[1]["action"] <= 1


def test_it_answers_at_once_and_takes_bytes_that_are_no_text(tmp_path):
    policy(tmp_path / "made.json")
    command = [sys.executable, "-m", "ccmatic", "act", str(tmp_path / "made.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line, key in ((b'{"begin": 0.04}', "rate"), (b"\xff\xfe", "error"), (b'{"begin": 0.02}', "rate")):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            assert key in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_file_that_is_no_policy_is_refused(tmp_path):
    (tmp_path / "made.json").write_text("{}")
    with patch.object(sys, "stdin", TextIOWrapper(BytesIO())):
        code, _, error = run("act", tmp_path / "made.json")
    assert code == 2 and "made.json" in error
