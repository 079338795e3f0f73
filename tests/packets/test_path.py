"""The path in virtual time: it builds, runs controllers alone, is deterministic, and refuses wrong calls."""

import subprocess

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.judging import builds, running, subjects
from ccmatic.judging.recording import PACKET, REPLY, SAMPLE
from ccmatic.judging.scenario import Scenario
from ccmatic.worlds.runtime import compile_c
from support.machine import needs_compiler
from support.scenarios import MS, SECOND

pytestmark = needs_compiler

#: Reno as a library of controller.h.
RENO = """
#include "controller.h"
#include <stdlib.h>
#include <string.h>
struct controller { int64_t window, threshold, packet, recovery; };
struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    (void)seed;
    if (strcmp(name, "reno")) return NULL;
    struct controller *c = calloc(1, sizeof *c);
    *c = (struct controller){10 * packet, INT64_MAX, packet, -1};
    return c;
}
void controller_acked(struct controller *c, const struct controller_event *e)
{
    if (e->sent <= c->recovery || e->app_limited) return;
    c->window += c->window < c->threshold ? e->bytes : c->packet * e->bytes / c->window;
}
void controller_lost(struct controller *c, const struct controller_event *e)
{
    if (e->persistent) c->window = 2 * c->packet;
    if (e->sent <= c->recovery) return;
    c->recovery = e->now;
    c->window = c->window / 2 > 2 * c->packet ? c->window / 2 : 2 * c->packet;
    c->threshold = c->window;
}
int64_t controller_window(const struct controller *c) { return c->window; }
void controller_free(struct controller *c) { free(c); }
"""

HEAD = "ccmatic-path-1 reno\n30000000000 24000000 40000000 120000 10000000 1500 10000 1\n-1 0 0 0 1 0\n2 25000000\n"


@pytest.fixture(scope="module")
def reno(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield builds.controller_command(builds.shared_library("reno", {"reno.c": RENO}) / "reno.so")


def run(command, folder, text):
    folder.mkdir()
    (folder / "scenario.txt").write_text(text)
    done = subprocess.run(command, input=f"{folder}\n", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, '{"failure": null}\n'), done.stderr
    files = ("packets.bin", PACKET), ("replies.bin", REPLY), ("samples.bin", SAMPLE)
    return [np.fromfile(folder / name, kind) for name, kind in files]


def test_reno_fills_a_link(reno, tmp_path):
    text = HEAD + "1\n0 -1 40000000 0 - -\n1\n0 5000000000 10000000 0 0\n"
    packets, replies, samples = run(reno, tmp_path / "a", text)
    delivered = packets["size"][packets["released"] >= 0].sum() * 8
    assert 0.9 < delivered / 24e6 / 30 <= 1
    assert 0 < packets["lost"].sum() < 300 and len(replies) and len(samples)
    again = run(reno, tmp_path / "b", text)
    assert all(np.array_equal(x, y) for x, y in zip((packets, replies, samples), again, strict=True))


def test_a_flow_beside_another_shares_the_link(reno, tmp_path):
    text = HEAD + f"2\n0 -1 40000000 0 - -\n0 -1 40000000 1 {reno[1]} reno\n0\n"
    packets, _, samples = run(reno, tmp_path / "a", text)
    arrived = packets[packets["released"] >= 0]
    share = np.mean(arrived["flow"] == 0)
    assert 0.25 < share < 0.75 and set(samples["flow"]) == {0, 1}


#: A program that makes one wrong call, which CALL stands for.
WRONG = """
#include "path.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    char folder[4096];
    while (fgets(folder, sizeof folder, stdin)) {
        folder[strcspn(folder, "\\n")] = 0;
        struct path *path = path_open(folder);
        if (!path) return fprintf(stderr, "%s\\n", path_error()), 2;
        path_send(path, 1000, 0, 1500, 0);
        long long answer = (long long)(CALL);
        if (answer != -1) return fprintf(stderr, "answer %lld\\n", answer), 3;
        path_close(path, NULL);
        puts("{\\"failure\\": null}");
        fflush(stdout);
    }
    return 0;
}
"""


class Wrong:
    """The adaptor of such a program."""

    stack, controllers, toolchain, version = "wrong", ("wrong",), "cc", "1"

    def __init__(self, folder, call):
        source, self.program = folder / "wrong.c", folder / "wrong"
        source.write_text(WRONG.replace("CALL", call))
        library = builds.path_library()
        compile_c([f"-I{library}", "-o", str(self.program), str(source), f"-L{library}", "-lccmatic_path", "-ldl"])

    def build(self, version=None, source=None):
        return subjects.Program((str(self.program),), "wrong 1")


PLAN = Scenario(duration=SECOND, rate=24_000_000, rtt=40 * MS, buffer=60_000, jitter=10 * MS)


@pytest.mark.parametrize(
    "call, message",
    [
        ("path_send(path, 999, 0, 1500, 0)", "time runs backwards, from 1000 to 999 ns"),
        ("path_send(path, 1000, 1, 1500, 0)", "there is no flow 1; the subject has 1"),
        ("path_send(path, 1000, 0, 1501, 0)", "a packet of 1501 bytes; expected 1 to 1500"),
        ("path_reply(path, 1000, 0, 0)", "a reply of 0 bytes; expected 1 to 65535"),
    ],
)
def test_a_wrong_call_is_one_error(tmp_path, call, message):
    subject = subjects.Subject("wrong:wrong", Wrong(tmp_path, call), "wrong", "wrong")
    with pytest.raises(InputError) as error:
        running.run(subject, PLAN)
    assert str(error.value) == f"wrong:wrong calls the path in a wrong way: {message}"


@pytest.mark.parametrize(
    "was, now, message",
    [
        ("ccmatic-path-1", "ccmatic-path-9", "found 'ccmatic-path-9'; expected ccmatic-path-1"),
        ("24000000", "fast", "found 'fast'; expected a whole number"),
        ("120000", "1000", "its buffer does not hold a packet"),
        ("0 5000000000 10000000", "0 5000000000 10000001", "a hold of 10000001 ns is longer than D"),
        ("0 5000000000 10000000", "17 5000000000 10000000", "found an event of kind 17"),
        ("0 5000000000 10000000", "4 5000000000 10 3", "found flow 3; it has 1"),
        ("\n1\n0 5000000000 10000000 0 0", "", "it ends too early"),
        (" 0 - -", " 1 /nonesuch.so x", "cannot load /nonesuch.so"),
    ],
)
def test_a_wrong_scenario_is_one_error(reno, tmp_path, was, now, message):
    text = HEAD + "1\n0 -1 40000000 0 - -\n1\n0 5000000000 10000000 0 0\n"
    assert was in text
    (tmp_path / "scenario.txt").write_text(text.replace(was, now, 1))
    done = subprocess.run(reno, input=f"{tmp_path}\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
