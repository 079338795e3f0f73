"""The parts of this machine that a run needs: network namespaces, TUN devices, processes, and a temporary folder.

A run creates these parts and removes them at the end. Their names contain the run's process id. So the next run can
remove the parts that a killed run left behind.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.deployment.emulation.link import MS
from ccmatic.worlds.runtime import require_tools

DEVICE, SENDER, RECEIVER = "ccm0", "10.77.0.1", "10.77.0.2"
NAMESPACES = Path("/run/netns")

#: A program that runs a command. The command ends when this process ends. (A `preexec_fn` could have this effect, too.
#: But a Python process that forks with a `preexec_fn` loses interrupts.)
TIED = Path(__file__).with_name("tied.c")

#: The fields of a line of `ss` before the congestion control: state, two queues, two addresses.
_BEFORE_CONGESTION_CONTROL = 5

#: The counters in the output of `ss --info`, in bytes and whole ms.
_NUMBER = re.compile(r"\b(bytes_sent|lastrcv|busy|rwnd_limited):(\d+)")

#: The largest number of bytes with which iperf3 negotiates a test. The negotiation uses a connection with the
#: machine's default congestion control.
_TALK = 10_000

#: The number of packets that may wait in a device for the emulator. An emulator that has a processor reads packets at
#: once.
QUEUE = 100_000

#: Settings that make TCP forget earlier connections, and that let only flows send packets.
SETTINGS = {"ipv6/conf/all/disable_ipv6": "1", "ipv4/tcp_no_metrics_save": "1"}


def require(flows=()):
    """Check that this machine and user can emulate a link with these FlowRequests."""
    if os.geteuid() != 0:
        raise InputError("emulation needs root, for network namespaces and TUN devices; run it with sudo")
    require_tools("ip", "cc", *(tool for request in flows for tool in getattr(request.flow, "tools", ())))
    if not os.path.exists("/dev/net/tun"):
        raise InputError("emulation needs /dev/net/tun; load the kernel's module with `modprobe tun`")


def build(source, folder, *options):
    program = Path(folder) / Path(source).stem
    _run(["cc", "-O2", *options, "-o", str(program), str(source)], f"cannot compile {Path(source).name}")
    return program


@contextmanager
def workplace(mtu, window, ecn=False):
    """Make two namespaces, each with a TUN device, and a folder. Yield the names (senders, receivers, folder).

    `window` is the number of bytes that a TCP flow may have in flight.
    """
    remove_what_is_left()
    mark = f"ccm-{os.getpid()}-"
    names = mark + "a", mark + "b"
    folder = Path(tempfile.mkdtemp(prefix=mark))
    try:
        build(TIED, folder)
        for name, address in zip(names, (SENDER, RECEIVER), strict=True):
            _make(name, address, mtu, window, ecn)
        yield *names, folder
    finally:
        for name in names:
            _remove(name)
        shutil.rmtree(folder, ignore_errors=True)


def remove_what_is_left():
    """Remove the namespaces and folders of killed runs, and end the processes of these runs."""
    for place, remove in ((NAMESPACES, _remove), (Path(tempfile.gettempdir()), None)):
        for name in os.listdir(place) if place.exists() else ():
            match = re.fullmatch(r"ccm-(\d+)-.+", name)
            if not match or alive(int(match[1])):
                continue
            if remove:
                remove(name)
            elif (place / name).lstat().st_uid == os.geteuid():
                shutil.rmtree(place / name, ignore_errors=True)


def alive(pid):
    """Return whether the process with the id `pid` runs.

    A process that has ended does not run, even if its parent process has not yet collected the exit code.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _make(name, address, mtu, window, ecn):
    _ip("netns", "add", name)
    # The kernel's buffers also hold metadata of packets. A size of four times the packets' bytes is enough.
    most = min(max(4 * window, 2**20), 2**30)
    settings = SETTINGS | {"ipv4/tcp_rmem": f"4096 {most} {most}", "ipv4/tcp_wmem": f"4096 {2**18} {most}"}
    settings["ipv4/tcp_ecn"] = str(int(ecn))
    script = "".join(f"[ ! -e /proc/sys/net/{key} ] || echo {value} > /proc/sys/net/{key}\n"
                     for key, value in settings.items())  # fmt: skip
    _ip("netns", "exec", name, "sh", "-ec", script)
    _ip("-n", name, "tuntap", "add", "dev", DEVICE, "mode", "tun")
    _ip("-n", name, "link", "set", "lo", "up")
    _ip("-n", name, "address", "add", f"{address}/24", "dev", DEVICE)
    _ip("-n", name, "link", "set", DEVICE, "mtu", str(mtu), "txqueuelen", str(QUEUE), "up")


def _remove(name):
    if (NAMESPACES / name).exists():
        processes = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout
        for pid in map(int, processes.split()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        close_connections(name)
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def close_connections(namespace, port=None):
    """Close the TCP connections of a namespace now; if `port` is given, only the connections to this port.

    Otherwise the kernel would keep the namespace and the unsent bytes of an ended process for minutes, and would try to
    send these bytes.
    """
    to = ["dport", "=", f":{port}"] if port else []
    _sockets(namespace, "--kill", *to)


@dataclass(frozen=True)
class Connection:
    """The sender's end of a TCP connection that carries data in one direction."""

    congestion_control: str  #: the name of the connection's congestion control
    lasted: int  #: the time in ns since the connection was established
    idle: int  #: the time in ns in which the sender had nothing to send, or the receiver's window was full


def connection(namespace, port):
    """Return the Connection from a namespace to a port that has sent the most bytes, if more than `_TALK`."""
    return busiest(_sockets(namespace, "--info", "dport", "=", f":{port}"))


def busiest(output):
    """Return the Connection that has sent the most bytes, according to the output of `ss --info`."""
    connections = [(line.split(), dict(_NUMBER.findall(line))) for line in output.splitlines()]
    words, numbers = max(connections, key=lambda connection: int(connection[1].get("bytes_sent", 0)), default=((), {}))
    if int(numbers.get("bytes_sent", 0)) <= _TALK:
        return None
    lasted, busy, no_room = (int(numbers.get(name, 0)) for name in ("lastrcv", "busy", "rwnd_limited"))
    return Connection(words[_BEFORE_CONGESTION_CONTROL], MS * lasted, MS * max(0, lasted - busy + no_room))


def _sockets(namespace, *options):
    command = ["ip", "netns", "exec", namespace, "ss", "--tcp", "--all", "--numeric", "--no-header", "--oneline"]
    return subprocess.run([*command, *options], capture_output=True, text=True).stdout


def _ip(*words):
    _run(["ip", *words], "cannot prepare the network")


def _run(command, failure):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"{failure}: {' '.join(command[:6])}: {done.stderr.strip()}")


class NotReady(InputError):
    """Raised if something that a flow or the link needs did not start in time.

    The reason is a busy machine, so another attempt may succeed.
    """


class Process:
    """A command that runs in a separate process group, and in a namespace if one is given.

    The command dies with this process.
    """

    def __init__(self, what, command, folder, namespace=None, stdin=subprocess.DEVNULL):
        self.what = what
        stem = Path(folder) / re.sub(r"\W+", "-", what)
        self._out, self._err = (stem.with_suffix(end) for end in (".out", ".err"))
        within = ["ip", "netns", "exec", namespace] if namespace else []
        command = [Path(folder) / TIED.stem, *within, *command]
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self._popen = subprocess.Popen(
                list(map(str, command)), stdin=stdin, stdout=out, stderr=err, start_new_session=True
            )
        self._looks = None
        self._stopped = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()

    @property
    def code(self):
        return self._popen.poll()

    @property
    def output(self):
        """The complete lines that the command has printed."""
        return self._out.read_text(errors="replace").split("\n")[:-1]

    def look(self):
        """Record, for `held`, whether the process is stopped and how long the process has waited for a processor."""
        with suppress(OSError, IndexError):
            folder = Path(f"/proc/{self._popen.pid}")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            now, waited = time.monotonic_ns(), int((folder / "schedstat").read_text().split()[1])
            first, (before, _) = self._looks or ((now, waited), (now, waited))
            self._stopped += now - before if state in "Tt" else 0
            self._looks = first, (now, waited)

    @property
    def held(self):
        """Two times in ns: how long the process was stopped or waited for a processor; and the time between looks."""
        if not self._looks:
            return 0, 0
        (begin, before), (end, waited) = self._looks
        return self._stopped + waited - before, end - begin

    def wait_until_ready(self, seconds=20):
        """Wait until the command prints its first line."""
        end = time.monotonic() + seconds
        while not self.output:
            self.check()
            if time.monotonic() > end:
                raise NotReady(f"{self.what} is not ready after {seconds} s")
            time.sleep(0.005)

    def check(self):
        """Raise InputError, with the last line of the command's standard error, if the command has ended."""
        if self.code is not None:
            lines = self._err.read_text(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else "it printed no error"
            raise InputError(f"{self.what} ended with code {self.code}: {reason}")


@contextmanager
def stopping_cleanly():
    """Make a request to terminate act like Ctrl-C while the context lasts, so that the process cleans up."""

    def interrupt(*_):
        raise KeyboardInterrupt

    signals = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
