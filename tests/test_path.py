"""The path in virtual time: it builds, runs controllers alone, and is deterministic."""

import subprocess

import numpy as np
import pytest

from ccmatic.judging import builds
from ccmatic.judging.recording import PACKET, REPLY, SAMPLE
from support.machine import needs_compiler

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
