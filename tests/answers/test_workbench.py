"""The workbench: the clients that its server accepts, its refusals, and the check of shared files."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ccmatic.base import InputError
from ccmatic.logic.solving import SolverOptions
from ccmatic.records import TraceFile, WorkbenchFile, WorkbenchQuestion, convert, data
from ccmatic.workbench import answers, begin
from ccmatic.workbench import files as workbench_files
from support.cli import run
from support.json_schemas import validate
from support.machine import watched
from support.sampling import each_nth

EXAMPLE = data(begin(None))
FIXED = {**EXAMPLE, "controller": EXAMPLE["controller"].replace("qdel_L > 4 * R_m", "qdel_L > R_m / 2")}


def question(**changes):
    return convert({**EXAMPLE, **changes}, WorkbenchFile)


def answered(asked):
    """The answers to a question, in order."""
    return [part["answer"] for part in answers.verify(asked, SolverOptions(timeout=60)) if "answer" in part]


class Served:
    """The workbench of a folder, served by the command."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "ccmatic", "workbench", "--folder", str(folder), *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.link = self.process.stdout.readline().strip().removeprefix("Open ")
        self.host, _, self.token = self.link.removeprefix("http://").partition("/#")

    def ask(self, method, path, body=None, **headers):
        """The status and the text of a response; a header that is None is not sent."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        given = {"Authorization": f"Bearer {self.token}", **headers}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection.request(method, path, body, {name: value for name, value in given.items() if value is not None})
        response = connection.getresponse()
        self.headers = response.headers
        return response.status, response.read().decode()

    def parts(self, path, body):
        status, text = self.ask("POST", path, body)
        assert status == 200, text
        return [json.loads(line) for line in text.splitlines() if line != "{}"]

    def begin(self, questions):
        """Ask questions; return the connection and the response, from which a worker has begun to decide the first."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        asked = json.dumps(questions).encode()
        connection.request("POST", "/api/verify", asked, {"Authorization": f"Bearer {self.token}"})
        response = connection.getresponse()
        while not (part := json.loads(response.readline())):
            pass  # The server sends {} while a worker starts.
        assert part["deciding"] == questions["questions"][0]["expect"]
        return connection, response

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    pytest.importorskip("starlette", reason="starlette is not installed")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    server = Served(tmp_path_factory.mktemp("folder"))
    yield server
    server.end()


API = [
    ("GET", "/api/begin"),
    ("GET", "/api/controllers/cubic"),
    ("POST", "/api/verify"),
    ("POST", "/api/reopen"),
    ("POST", "/api/save"),
]


@pytest.mark.parametrize("token", [None, "", "Bearer", "Bearer wrong", "Basic {}", "Bearer {}x", "{}"])
@pytest.mark.parametrize("method, path", API)
def test_without_the_token_nothing_is_told(served, method, path, token):
    status, text = served.ask(method, path, Authorization=token and token.format(served.token))
    assert status == 401 and "token" in text and served.token not in text


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "127.0.0.1:1", "localhost.example.org:{port}", ""])
@pytest.mark.parametrize("path", ["/", "/editor.js", "/api/begin"])
def test_another_name_of_this_machine_is_refused(served, host, path):
    port = served.host.partition(":")[2]
    status, text = served.ask("GET", path, Host=host.format(port=port))
    assert status == 403 and "machine" in text


def test_localhost_is_this_machine(served):
    port = served.host.partition(":")[2]
    assert served.ask("GET", "/api/begin", Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/workbench.js", "/workbench.css", "/editor.js", "/trace.js", "/trace.css"])
def test_the_files_of_the_page_name_nothing_elsewhere(served, path):
    status, text = served.ask("GET", path, Authorization=None)
    assert status == 200 and served.token not in text
    policy = served.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "http" not in policy
    assert "*" not in policy and "frame-ancestors 'none'" in policy
    assert not any(mark in text for mark in ('src="http', 'href="http', "@import", "url(http", 'from "http'))


OUTSIDE = [
    "/../setup.cfg",
    "/%2e%2e/setup.cfg",
    "/api/controllers/..%2f..%2fsetup",
    "/api/controllers/%2fetc%2fpasswd.py",
    "/begin.json",
    "/worker.py",
    "/editor/package.json",
    "/api/controllers/nobody",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_to_another_file(served, path):
    assert served.ask("GET", path)[0] in (400, 404)


@pytest.mark.parametrize("path", ["/api/verify", "/api/reopen", "/api/save"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"name": 1}', b"[" * 5000, b'{"a": 1, "a": 2}'])
def test_malformed_requests_are_bad_input(served, path, body):
    status, text = served.ask("POST", path, body)
    assert status == 400 and json.loads(text)["message"]


def test_a_request_that_is_too_large_is_bad_input(served):
    status, text = served.ask("POST", "/api/save", b"[" + b" " * 2**23 + b"]")
    assert status == 400 and "8 MiB" in text


def test_save_writes_in_the_folder_once(served):
    folder = json.loads(served.ask("GET", "/api/begin")[1])["folder"]
    status, text = served.ask("POST", "/api/save", {"name": "mine.py", "controller": "first\n"})
    assert status == 200 and json.loads(text)["path"] == os.path.join(folder, "mine.py")
    status, _ = served.ask("POST", "/api/save", {"name": "mine.py", "controller": "second\n"})
    with open(os.path.join(folder, "mine.py")) as file:
        assert status == 409 and file.read() == "first\n"
    status, _ = served.ask("POST", "/api/save", {"name": "mine.py", "controller": "second\n", "replace": True})
    with open(os.path.join(folder, "mine.py")) as file:
        assert status == 200 and file.read() == "second\n"
    assert os.listdir(folder) == ["mine.py"]


@pytest.mark.parametrize(
    "name",
    [
        "../x.py",
        "/tmp/x.py",
        "a/b.py",
        "..py",
        ".py",
        ".hidden.py",
        "x.txt",
        "x.py\n",
        "x\0.py",
        "",
        "é.py",
        "..\\x.py",
    ],
)
def test_save_leads_nowhere_else(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(InputError, match="expected one such as"):
        workbench_files.save(folder, name, "text", True)
    assert [*tmp_path.rglob("*")] == [folder]


def test_save_follows_no_link(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.py").write_text("other")
    (tmp_path / "folder" / "x.py").symlink_to(tmp_path / "other.py")
    with pytest.raises(InputError, match="link"):
        workbench_files.save(tmp_path / "folder", "x.py", "text", True)
    assert (tmp_path / "other.py").read_text() == "other"


def test_a_controller_is_answered_and_its_process_serves_again(served):
    *_, last = served.parts("/api/verify", EXAMPLE)
    answer = last["answer"]
    assert answer["verdict"] == "violated" and len(answer["lines"]) == answer["data"]["steps"]
    [*_, last] = served.parts("/api/verify", FIXED)
    assert last["answer"]["verdict"] == "holds" and "trace" not in last["answer"]


HOSTILE = [
    ("import os\n", 1, "found `import os`"),
    ("def rate(C_L):\n    return __import__('os').system('touch owned')\n", 2, "found call"),
    ("def rate(C_L):\n    import os\n    return C_L\n", 2, "found `import os`"),
    ("from os import system as rate\n", 1, "found `from os import"),
    (
        "window: bytes = above(0)\ndef update(window):\n    window = open('x')\ndef send(window):\n    return window\n",
        3,
        "open('x')",
    ),
    ("def rate(C_L)\n    return C_L\n", 1, "not Python"),
    ("full = observation('../x.py')\n", 1, "is a path"),
]


@pytest.mark.parametrize("source, line, message", HOSTILE)
def test_what_is_no_controller_is_refused_with_file_and_line(served, source, line, message):
    *_, last = served.parts("/api/verify", {**EXAMPLE, "controller": source})
    refused = last["refused"]
    assert (refused["file"], refused["line"]) == ("my_controller.py", line) and message in refused["message"]


MODEL = "open('owned', 'w')\n"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"on": "./model.py, buffer infinite"}, "is no model that ccmatic ships"),
        ({"on": "model.py:flows=2, buffer infinite"}, "is no model that ccmatic ships"),
        ({"on": "cac, buffer infinite"}, "did you mean 'ccac'?"),
        ({"questions": [{"expect": "share >= 20% beside ./model.py"}]}, "is a path"),
        ({"questions": []}, "found 0 expectations"),
        ({"name": "../my"}, "the name is"),
        ({"questions": [{"expect": "queue <= 4 bdp"}, {"expect": "que <= 4"}]}, "que"),
    ],
)
def test_nothing_of_a_file_is_run(changes, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    with pytest.raises(InputError) as refused:
        answered(question(**changes))
    assert message in str(refused.value)
    assert os.listdir(tmp_path) == ["model.py"]


def shared():
    """A shared file with its counterexample, as the page makes it."""
    [answer] = answered(question())
    validate(
        made := {**EXAMPLE, "questions": [{"expect": answer["expect"], "trace": answer["trace"]}]}, "WorkbenchFile"
    )
    return made


def test_a_shared_file_opens_with_its_counterexample(tmp_path):
    (tmp_path / "shared.json").write_text(json.dumps(shared()))
    parts = [*answers.reopen(begin(str(tmp_path / "shared.json")))]
    answer = parts[-1]["answer"]
    assert answer["verdict"] == "violated" and "10 bdp" in answer["measured"] and "<figure" in answer["body"]


@pytest.mark.parametrize(
    "forge, message",
    each_nth(
        2,
        [
            (lambda made: made["questions"][0].update(expect="queue <= 20 bdp"), "shows nothing"),
            (lambda made: made.update(controller=FIXED["controller"]), "of another controller"),
            (lambda made: made.update(horizon=8), "horizon"),
            (lambda made: made["questions"][0]["trace"]["columns"]["A"].__setitem__(3, "77"), "shows nothing"),
            (lambda made: made.update(on="ccac, buffer 1 bdp, jitter 1 rtt"), "beta|shows nothing"),
        ],
    ),
)
def test_a_forged_file_shows_nothing(forge, message):
    forge(made := shared())
    with pytest.raises(InputError, match=message):
        list(answers.reopen(convert(made, WorkbenchFile)))


def test_a_trace_is_a_trace_file():
    [answer] = answered(question())
    assert isinstance(convert({"expect": "x", "trace": answer["trace"]}, WorkbenchQuestion).trace, TraceFile)


@pytest.mark.parametrize("file", ["no_such.py", "no_such.json", "text.json", "network.onnx"])
def test_a_file_that_cannot_be_opened(tmp_path, file):
    (tmp_path / "text.json").write_text("{}")
    code, out, err = run("workbench", file, cwd=tmp_path)
    assert code == 2 and out == "" and file in err


def test_a_folder_that_is_not_there(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    code, out, err = run("workbench", "--folder", tmp_path / "none")
    assert code == 2 and out == "" and "the folder does not exist" in err


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = run("workbench")
    assert code == 2 and err == "ccmatic: the workbench needs uvicorn: pip install 'ccmatic[workbench]'\n"


#: A question that takes minutes.
LONG = {**EXAMPLE, "on": "ccac, buffer any, jitter 1 rtt", "horizon": 60, "start": "any"}
LONG["questions"] = [{"expect": "utilisation >= 40% over every 30 rtt"}]


def workers(process):
    """The processes that answer, of a server."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return file.read().split()


def test_stop_ends_the_process_and_others_are_answered_meanwhile(served):
    connection, response = served.begin(LONG)
    begun = time.monotonic()
    assert served.ask("GET", "/api/begin")[0] == 200 and time.monotonic() - begun < 5
    before = workers(served.process)
    response.close()
    connection.close()  # what Stop does
    deadline = time.monotonic() + 10
    while len(workers(served.process)) >= len(before) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(workers(served.process)) < len(before)
    assert served.parts("/api/verify", EXAMPLE)[-1]["answer"]["verdict"] == "violated"


@pytest.mark.real_time
def test_an_interrupt_ends_all_within_two_seconds(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    server = Served(tmp_path)
    server.begin(LONG)
    deciding = workers(server.process)
    with watched() as late:
        begun = time.monotonic()
        _, err = server.end()
        took = time.monotonic() - begun
    assert took < 2 + max(late) / 1000
    assert (server.process.returncode, err.strip()) == (130, "ccmatic: interrupted")
    assert deciding and not any(os.path.exists(f"/proc/{pid}/exe") for pid in deciding)


@pytest.mark.slow
def test_a_question_takes_no_longer_than_it_may():
    parts = [*answers.verify(convert(LONG, WorkbenchFile), SolverOptions(timeout=1))]
    assert parts[-1]["answer"]["verdict"] == "unknown"
