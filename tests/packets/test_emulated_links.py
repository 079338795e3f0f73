"""The emulator's program compiles with the packets.h of each shipped link."""

import pytest

from ccmatic.deployment.emulation import machine, replay, run
from support import ROOT
from support.machine import needs_compiler

LINKS = sorted((ROOT / "models").glob("*/packets.h"))


@needs_compiler
@pytest.mark.parametrize("header", LINKS, ids=lambda header: header.parent.name)
def test_the_emulator_compiles(header, tmp_path):
    assert machine.build(run.SOURCE, tmp_path, *replay.link_options(header), "-O0").exists()
