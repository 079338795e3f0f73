"""Small files that would cost a command minutes, or block it, are refused at once with one message."""

import json
import os
import shutil
import signal
import time
from contextlib import contextmanager

import pytest

from ccmatic import records
from ccmatic.base import InputError, files
from ccmatic.questions.query import reading
from ccmatic.synthesis import solution_files
from ccmatic.synthesis.run_file import Store, read_run
from ccmatic.tradeoffs.findings import read_allowances
from support import ROOT, small_run
from support.cli import run
from support.policies import policy
from support.sampling import each_nth

#: CPU seconds that a refusal may take.
AT_ONCE = 5

HUGE = "1e30000000"


@contextmanager
def at_once():
    """Fail if what is within takes longer than AT_ONCE of CPU time, or blocks."""

    def give_up(*_):
        pytest.fail("it blocks")

    before, began = signal.signal(signal.SIGALRM, give_up), time.process_time()
    signal.alarm(120)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - began < AT_ONCE


def refused(*arguments, cwd="."):
    """The one line with which a command refuses what it is given."""
    with at_once():
        code, out, error = run(*arguments, cwd=cwd)
    assert (code, out) == (2, ""), error
    assert "fault of ccmatic" not in error and len(error) < 500 and error.count("\n") == 1
    return error


@pytest.fixture
def pipe(tmp_path):
    """Create a named pipe without a writer."""

    def make(name):
        os.mkfifo(tmp_path / name)
        return tmp_path / name

    return make


@pytest.mark.parametrize("name, arguments", [
    ("pipe.py", ["verify", "FILE", "--query", "g3"]),
    ("pipe.py", ["export", "FILE", "--target", "c"]),
    ("pipe.py", ["verify", "cc_qdel", "--model", "FILE", "--buffer", "any", "--horizon", "5"]),
    ("pipe.toml", ["verify", "cc_qdel", "--query", "FILE"]),
    ("pipe.toml", ["synth", "FILE"]),
    ("pipe.json", ["replay", "FILE"]),
    ("pipe.json", ["estimate", "FILE"]),
    ("pipe.json", ["check", "FILE"]),
    ("pipe.json", ["export", "FILE", "--target", "udp"]),
    ("pipe.json", ["trace", "export", "FILE", "--format", "schedule", "--rate", "1mbit", "--rtt", "1s", "--mss", "9"]),
    ("pipe.db", ["runs", "FILE"]),
    ("pipe.db", ["check-cover", "FILE"]),
    ("pipe.db", ["synth", "g3", "--run", "FILE"]),
    ("pipe.pcap", ["fit", "FILE", "--rtt", "40ms"]),
    ("pipe.npy", ["fit", str(ROOT / "examples/links/cellular.mahimahi"), "--received", "FILE", "--rtt", "40ms"]),
])  # fmt: skip
def test_a_pipe_is_no_file(name, arguments, pipe, tmp_path):
    error = refused(*(str(pipe(name)) if each == "FILE" else each for each in arguments), cwd=tmp_path)
    assert name in error


def test_a_device_is_no_file():
    with at_once(), pytest.raises(InputError, match="cannot read: a device; expected a regular file"):
        files.read_text("/dev/zero")


def test_a_pipe_among_solutions_is_not_read(pipe, tmp_path):
    """The files identify a folder of an earlier synthesis, and one of them is now a pipe."""
    asked = records.convert(reading.load("g3").record(), records.QueryRecord)
    written = records.SolutionsFile(made_by="", query=asked, complete=True, files={"found.py": "0" * 64})
    (tmp_path / solution_files.CONTENTS).write_text(records.line(written))
    pipe("found.py")
    with at_once(), pytest.raises(InputError, match=r"found\.py: no synthesis wrote this"):
        solution_files._require_own(tmp_path)


def test_a_certificate_that_is_a_pipe(pipe):
    from ccmatic.proving import result

    with at_once(), pytest.raises(InputError, match="expected a regular file"):
        result.read_certificate(pipe("lemma.json.gz"))


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", "1e-30000000", "9" * 10**5])
def test_numbers_in_policies(number, tmp_path):
    policy(tmp_path / "made.json")
    data = json.loads((tmp_path / "made.json").read_text())
    (tmp_path / "made.json").write_text(json.dumps({**data, "interval": number}))
    assert "the interval is" in refused("export", tmp_path / "made.json", "--target", "udp", "--out", tmp_path / "out")


@pytest.mark.parametrize("layers, message", [
    ([([[1.0]], [0.0])] * 20_000, "20001 layers; expected at most"),
    ([([[0.0] * 1024] * 1024, [0.0] * 1024)] * 2, "weights; expected at most"),
], ids=["layers", "weights"])  # fmt: skip
def test_networks_in_policies_have_a_size(layers, message, tmp_path):
    policy(tmp_path / "made.json", sizes=())
    data = json.loads((tmp_path / "made.json").read_text())
    width = len(layers[0][1])
    first = {"weights": [[0.0] * width] * 18, "bias": [0.0] * width}
    last = [{"weights": [[0.0]] * width, "bias": [0.0]}] if width > 1 else []
    data["layers"] = [first, *({"weights": weights, "bias": bias} for weights, bias in layers), *last]
    (tmp_path / "made.json").write_text(json.dumps(data))
    assert message in refused("export", tmp_path / "made.json", "--target", "udp", "--out", tmp_path / "out")


DOTTED = ".".join("a" * 50_000)


@pytest.mark.parametrize("text", [
    f"{DOTTED} = 1", f"[{DOTTED}]", f"[property]\na = {{ {DOTTED} = 1 }}", f"[property]\n{DOTTED[:8000]} = 1",
], ids=["key", "section", "within braces", "a shorter key"])  # fmt: skip
@pytest.mark.parametrize("command", [["verify", "cc_qdel", "--query"], ["train"]], ids=["verify", "train"])
def test_keys_in_toml(command, text, tmp_path):
    if command == ["train"]:
        pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")
    file = tmp_path / "asked.toml"
    file.write_text(f'{text}\n[network]\nmodel = "ccac"\nbuffer = "any"\nhorizon = 5\n')
    assert "asked.toml" in refused(*command, file)


def test_numbers_of_the_links_of_a_training(tmp_path):
    pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    from ccmatic.learning import LinkOptions

    with at_once(), pytest.raises(InputError, match="interval is"):
        LinkOptions(interval=HUGE)


@pytest.mark.parametrize("section, key", [
    ("environment", "steps"), ("environment", "flows"), ("environment", "window"), ("environment", "packet"),
    ("adversary", "runs"), ("adversary", "history"),
])  # fmt: skip
@pytest.mark.parametrize("number", [10**9, 10**100])
def test_how_much_an_adversary_plays(section, key, number, tmp_path):
    pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    asked = {"environment": {}, "adversary": {"target": "constant:40"}}
    asked[section][key] = number
    layer = records.LayerRecord([[0.0]], [0.0])
    file = records.AdversaryFile(query=asked, seed=1, threshold=0, layers=[layer], curve=[])
    (tmp_path / "made.json").write_text(records.line(file))
    assert " at most " in refused("attack", tmp_path / "made.json", "--against", "constant:40")


def test_numbers_of_simulated_paths():
    from ccmatic.networks.simulation import Path

    with at_once(), pytest.raises(InputError, match="rate is"):
        Path("cbr_delay", HUGE)


@pytest.mark.parametrize("allowance", ["0x10 * C", "1." + "0" * 5000 + "1 * C", f"{HUGE} * C", "1_0 * C"])
def test_numbers_of_allowances_are_read_or_refused(allowance):
    with at_once():
        try:
            read_allowances([allowance], "1", "1", "1000")
        except InputError as error:
            assert len(error.message) < 500


@pytest.mark.parametrize("number", [HUGE, "1." + "0" * 5000 + "1", "1/" + "9" * 5000, "1/0", "x"])
def test_numbers_of_tradeoffs(number):
    with at_once(), pytest.raises(InputError, match="C_0 is"):
        read_allowances(["1"], "1", number, "1000")


@pytest.mark.parametrize("shape", ["(10000000000000000000000,)", "(1000000000000,)"])
def test_the_length_of_an_array(shape, tmp_path):
    fields = "[('arrival', '<i8'), ('released', '<i8'), ('size', '<i4'), ('lost', '<i2')]"
    head = f"{{'descr': {fields}, 'fortran_order': False, 'shape': {shape}}}".ljust(181) + "\n"
    (tmp_path / "packets.npy").write_bytes(b"\x93NUMPY\x01\x00\xb6\x00" + head.encode())
    assert "not a log of `ccmatic emulate`" in refused("fit", tmp_path / "packets.npy", "--rtt", "40ms")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run of synthesis."""
    file = tmp_path_factory.mktemp("small") / "run.db"
    with pytest.MonkeyPatch.context() as patch:
        small_run.use(patch)
        small_run.make(file)
    return file


@pytest.mark.parametrize("as_", each_nth(3, ["\tAS\t", "/**/AS/**/", "\nAS\n"]))
def test_a_column_of_a_run_that_is_computed_is_refused(as_, small, tmp_path, monkeypatch):
    """It makes 60 MB of each row, however small the file is."""
    import sqlite3

    small_run.use(monkeypatch)
    shutil.copy(small, tmp_path / "run.db")
    with sqlite3.connect(tmp_path / "run.db") as database:
        columns = (
            "number INTEGER PRIMARY KEY, kind TEXT, candidate TEXT DEFAULT '[0]', source TEXT, way TEXT, seconds REAL"
        )
        database.execute("DROP TABLE events")
        database.execute(f"CREATE TABLE events ({columns}, trace TEXT{as_}(printf('%.*c', 60000000, 'x')))")
        database.executemany("INSERT INTO events (kind, seconds) VALUES ('solution', 0)", [()] * 10)
    with at_once(), pytest.raises(InputError, match="it has a table of its own"):
        read_run(tmp_path / "run.db")


def test_a_run_that_is_a_pipe_is_not_locked(pipe, monkeypatch):
    small_run.use(monkeypatch)
    query = reading.make("ccac", "any", 5, template="two_branches")
    with at_once(), pytest.raises(InputError, match="expected a regular file"):
        Store(pipe("run.db"), query)
