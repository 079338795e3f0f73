"""Networks with tanh: they run where floats do, and are refused where a part has to be linear or exact."""

from functools import cache, partial
from itertools import pairwise
from math import tanh
from random import Random

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.controllers import parse
from ccmatic.deployment.emulation.kinds import flow
from ccmatic.deployment.exporting import header, write
from ccmatic.worlds.runtime.library import Library, StatefulSender, StepObservations
from support.machine import needs_compiler

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")

from support import networks  # noqa: E402  it imports onnx

PACKET = 1448
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
RATE = ("C_L", "C_U if qdel_L > 0 else C_L / 2", "q_U / R_m")
WINDOW = ("(sent - lost) / R_m", "(acked - acked[R_m]) / R_m")

#: Of the sum of the sizes of what a last layer adds up; single floats have 24 bits.
ROUNDING = 2**-20


def written(folder, inputs, output="rate"):
    """A network of two layers of tanh, and the sum of the sizes of the weights of the last."""
    dice, sizes = np.random.default_rng(3), (len(inputs), 8, 8, 1)
    layers = [(dice.normal(0, 0.4, (n, m)), dice.normal(0, 1, n)) for m, n in pairwise(sizes)]
    layers[-1] = np.abs(layers[-1][0]), layers[-1][1] + 20  # so that the rate is above 0
    file = networks.layered(folder / f"curved_{output}.onnx", inputs, layers, "Tanh", output)
    return file, float(sum(map(np.sum, map(np.abs, layers[-1]))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("networks")


@cache
def meant(file, inputs):
    """The network by ONNX's own evaluator, in packets per R_m."""
    judge = reference.ReferenceEvaluator(str(file))

    def outputs(*rows):
        given = {
            name: np.float32(column).reshape(-1, 1)
            for name, column in zip(inputs, zip(*rows, strict=True), strict=True)
        }
        return judge.run(None, given)[0][:, 0].tolist()

    return outputs


@needs_compiler
def test_a_rate_in_c_is_the_networks(folder):
    file, size = written(folder, RATE)
    library, dice = Library(header.make(file), STRICT), Random(1)
    drawn, rates, rows = [dice.choice((1, 10, 100)) * PACKET for _ in range(1000)], [], []
    for most in drawn:
        beliefs = {name: dice.randrange(most) for name in ("C_L", "C_U", "q_U")} | {"qdel_L": dice.randrange(2)}
        rates.append(library.decide(beliefs, PACKET))
        second = beliefs["C_U"] if beliefs["qdel_L"] else beliefs["C_L"] / 2
        rows.append([number / PACKET for number in (beliefs["C_L"], second, beliefs["q_U"])])
    for rate, expected in zip(rates, meant(file, RATE)(*rows), strict=True):
        assert abs(rate - expected * PACKET) < 1 + ROUNDING * size * PACKET
    assert len(set(rates)) > 500


@needs_compiler
def test_a_window_in_c_is_the_networks_also_of_large_counts(folder):
    """Counts are subtracted before they are rounded to floats."""
    file, size = written(folder, WINDOW, "window")
    dice, library, windows, rows = Random(2), Library(header.make(file), STRICT), [], []
    for _ in range(1000):
        sender, before = StatefulSender(library, PACKET), 2**45 + dice.randrange(2**20)
        acked, sent = before + dice.randrange(9 * PACKET), dice.randrange(9 * PACKET)
        for time, now in enumerate((before, acked), 5):
            sender.step(StepObservations(acked=now, sent=sent, time=time, delay=0))
        windows.append(sender.window())
        rows.append((sent / PACKET, (acked - before) / PACKET))
    for window, expected in zip(windows, meant(file, WINDOW)(*rows), strict=True):
        assert abs(window - expected * PACKET) < 1 + ROUNDING * size * PACKET
    assert len(set(windows)) > 300


@needs_compiler
def test_a_choice_by_linear_terms_is_exact_in_c(tmp_path):
    """Numbers that are the same in single floats are still told apart."""
    (tmp_path / "apart.py").write_text(
        "def rate(C_L, C_U, MSS, R_m):\n"
        "    unit = MSS / R_m\n"
        "    return 9 * unit + (tanh(unit, unit) if C_L < C_U else -1 * tanh(unit, unit))\n"
    )
    library = Library(header.make(tmp_path / "apart.py"), STRICT)
    more, less = (library.decide({"C_L": 2**30, "C_U": 2**30 + above}, 1000) for above in (1, 0))
    assert (more, less) == (int(9000 + 1000 * tanh(1)), int(9000 - 1000 * tanh(1)))


def test_the_program_reads_as_the_network_that_it_was_written_from(folder):
    controller = cm.load_controller(written(folder, RATE)[0])
    again = parse(controller.source)
    assert again.meaning == controller.meaning and "tanh(" in again.pretty()


def queries(file):
    """Return the queries for a solver, exact arithmetic or the kernel."""
    query = cm.Query(cm.Network("cbr_delay", buffer="infinite", horizon=3))
    beliefs = dict.fromkeys(cm.load_controller(file).parameters, 1)
    yield partial(cm.verify, file, query), "_0` is made of a tanh, which is not linear; expected ReLU"
    yield partial(cm.load_controller(file).rates, beliefs), "tanh has no exact value"


def test_what_has_to_be_linear_or_exact_is_refused_with_the_reason(folder):
    file, _ = written(folder, RATE)
    for run, reason in queries(file):
        with pytest.raises(InputError) as refused:
            run()
        assert reason in refused.value.message and refused.value.file == str(file)


@pytest.mark.parametrize("inputs, output", [(RATE, "rate"), (WINDOW, "window")])
def test_the_kernel_is_refused_by_name_and_user_space_is_written(inputs, output, folder, tmp_path):
    file, _ = written(folder, inputs, output)
    with pytest.raises(
        InputError, match="computes with fractions, which the kernel does not support; expected --target"
    ):
        cm.export(file, "bpf", tmp_path / "kernel")
    assert not (tmp_path / "kernel").exists()
    assert len(write(flow(f"policy:{file}").export, "udp", tmp_path / "user")) > 3


@pytest.mark.parametrize(
    "term, message",
    [
        ("tanh(C_L)", "expected `tanh(x, scale)`"),
        ("tanh(C_L, R_m)", "takes the tanh of `C_L` (rate) in `R_m` (time)"),
        ("tanh(C_L, C_U)", "in the scale `C_U`, expected a number above 0 times MSS or R_m"),
        ("tanh(C_L, 0 - MSS / R_m)", "in the scale `0 - MSS / R_m`"),
        ("tanh(C_L, D * MSS / R_m / R_m)", "in the scale `D * MSS / R_m / R_m`"),
    ],
)
def test_a_tanh_has_a_scale_above_0(term, message):
    with pytest.raises(InputError) as refused:
        parse(f"def rate(C_L, C_U, MSS, R_m, D):\n    return {term}")
    assert message in refused.value.message and refused.value.line == 2


@needs_compiler
def test_a_comparison_of_a_tanh_is_refused_in_c(tmp_path):
    source = "def rate(C_L, MSS, R_m):\n    unit = MSS / R_m\n    return C_L if tanh(C_L, unit) > unit / 2 else unit\n"
    (tmp_path / "compares.py").write_text(source)
    with pytest.raises(InputError, match="tanh"):
        header.make(tmp_path / "compares.py").header()
