"""`ccmatic trace export`: its files, its output, and its refusals."""

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from ccmatic.base.errors import InputError
from ccmatic.cli.commands import cli
from ccmatic.networks.trace_export import FORMATS, Scale, export
from ccmatic.networks.traces.trace import Trace
from support.links import DRAIN, SCALE, SMALL


def run(*arguments):
    return CliRunner().invoke(cli, ["trace", "export", *map(str, arguments)], standalone_mode=False)


AT = ("--rate", "24mbit", "--rtt", "40ms")


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "holds"])
def test_command_writes_a_file_and_says_what_is_left_out(kind, tmp_path):
    done = run(SMALL, "--format", kind, *AT, "--out", tmp_path / "out", "--json")
    answer = json.loads(done.stdout)
    assert (tmp_path / "out").read_bytes() == export(Trace.load(SMALL), kind, SCALE)[0]
    assert answer["notes"] == export(Trace.load(SMALL), kind, SCALE)[1]
    assert (answer["format"], answer["rate_bytes_per_s"], answer["rtt_s"]) == (kind, "3000000", "1/25")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    if kind != "npz":
        done = run(SMALL, "--format", kind, *AT)
        assert done.stdout.encode() == (tmp_path / "out").read_bytes()
        assert done.stderr == "".join(f"note: {note}\n" for note in answer["notes"])


def altered(tmp_path, change):
    data = json.loads(DRAIN.read_text())
    change(data)
    (tmp_path / "altered.json").write_text(json.dumps(data))
    return tmp_path / "altered.json"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--rate", "0mbit", "--rtt", "40ms"), "rate of '0mbit'; expected more than 0"),
        (("--rate", "24", "--rtt", "40ms"), "expected a rate such as 24mbit"),
        (("--rate", "24mbit", "--rtt", "0ms"), "more than 0"),
        (("--rate", "100kbit", "--rtt", "40ms"), "expected a rate of 300000bit or an rtt of 120000us"),
        (("--rate", "24mbit", "--rtt", "0.9ms"), "expected 1 ms or more"),
        ((*AT, "--mss", "1505"), "at most 1504"),
        ((*AT, "--lead", "0.5ms"), "the lead is '0.5ms'; expected whole ms"),
        ((*AT, "--lead", "700"), "cannot read '700'"),
        ((*AT, "--lead", "20000s"), "at most 10000000"),
        ((*AT, "--lead", "700ms", "--format", "csv"), "a lead is for mahimahi"),
        (("--rate", "1000gbit", "--rtt", "100s"), "more than 10000000"),
        ((*AT, "--json"), "--json needs --out"),
        ((*AT, "--out", "/dev/null/x"), "cannot write"),
    ],
)
def test_bad_input_is_one_message_and_no_file(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        raise run(DRAIN, "--format", "mahimahi", *arguments).exception
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: data.update(format="other"), "expected a trace"),
        (lambda data: data["columns"].pop("S"), "no column S"),
        (lambda data: data["columns"]["S"].__setitem__(3, "0"), "falls at t=3"),
        (lambda data: data["columns"]["S"].__setitem__(6, "20"), "more is served than was sent"),
        (lambda data: data["constants"].update(C="0"), "the trace's C is 0"),
        (lambda data: data["columns"].pop("K"), "no column K"),
        (lambda data: data["constants"].update(beta="-1"), "the trace's beta is -1"),
        (lambda data: data["constants"].update(MSS="0"), "the trace's MSS is 0"),
        (lambda data: data["columns"].update(surprise=["1"] * 7), "surprise, which the model ccac does not declare"),
    ],
)
def test_what_is_no_trace_is_said_with_the_file_s_name(change, message, tmp_path):
    file = altered(tmp_path, change)
    with pytest.raises(InputError) as caught:
        raise run(file, "--format", "csv", *AT).exception
    assert message in str(caught.value) and str(caught.value).startswith(str(file))


@pytest.mark.parametrize("kind", ["schedule", "mahimahi"])
@pytest.mark.parametrize(
    "change, message",
    [
        ({"beta": "1/100"}, "more waits than the buffer holds at t=0"),
        ({"beta": "100"}, "bytes are lost though the buffer has room at all times in the step that ends at t=6"),
    ],
)
def test_a_link_with_a_buffer_loses_what_does_not_fit(kind, change, message, tmp_path):
    """The arrays are of no link: they have what the trace has."""
    file = altered(
        tmp_path, lambda data: (data["constants"].update(change), data["columns"].update(L=["0"] * 6 + ["1/2"]))
    )
    with pytest.raises(InputError, match=message):
        raise run(file, "--format", kind, *AT).exception
    assert run(file, "--format", "csv", *AT).exception is None


@pytest.mark.parametrize("kind", ["schedule", "mahimahi"])
def test_a_buffer_that_holds_no_packet_at_this_scale(kind):
    small = Scale(Fraction(50_000), Fraction(40, 1000), 1500)
    with pytest.raises(InputError, match="the buffer is 1000 bytes, .* expected rate·rtt to be 3000 bytes or more"):
        export(Trace.load(SMALL), kind, small)
    assert export(Trace.load(SMALL), "csv", small)


def test_a_trace_altered_since_it_was_saved_is_exported_and_it_is_said(tmp_path):
    file = altered(tmp_path, lambda data: data["columns"]["S"].__setitem__(6, "13/2"))
    assert "altered" in run(file, "--format", "schedule", *AT).stderr


def test_npz_needs_a_file():
    with pytest.raises(InputError, match="npz needs --out"):
        raise run(DRAIN, "--format", "npz", *AT).exception
