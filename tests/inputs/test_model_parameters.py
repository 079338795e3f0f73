"""Models with parameters, their aliases, and models that are folders."""

import re
from fractions import Fraction

import numpy as np
import pytest
from ccmatic.models.ccac2021 import Waste

import ccmatic as cm
from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition, load_fluid, load_logs
from ccmatic.fitting import least, packet_log
from ccmatic.networks.simulation import Path, Simulation
from support import ROOT, cli
from support.machine import needs_compiler


def model(name, **options):
    return load_definition("models", "MODEL", name, **options)


@pytest.mark.parametrize("name", definitions.aliases("models"))
def test_an_alias_is_the_model_with_its_parameters(name):
    alias = definitions.aliases("models")[name]
    loaded, same = model(name), model(alias.of)
    assert vars(loaded).keys() == vars(same).keys() and type(loaded) is type(same)
    assert (
        loaded.flows == same.flows
        and loaded.variation == same.variation
        and loaded.default_jitter == same.default_jitter
    )


def test_parameters_set_fields():
    three = model("ccac2021:flows=3,composing=no,most_queue=3/2")
    assert (three.flows, three.waste, three.most_queue) == (3, Waste.NON_COMPOSING, Fraction(3, 2))
    assert model("varying:variation=5/4").name == "varying:variation=5/4"


def test_parameters_override_those_of_an_alias():
    assert model("two_flows:flows=3,R=2") == model("ccac2021:flows=3,delay=own,R=2") != model("two_flows")


@pytest.mark.parametrize(
    "name, message",
    [
        ("ccac:flows=2", "the model ccac has no parameter 'flows'"),
        ("ccac2021:flow=2", "no parameter 'flow'; did you mean 'flows'"),
        ("ccac2021:flows=9", "flows is 9; expected a whole number from 1 to 8"),
        ("ccac2021:D=-1", "D is '-1'; expected a whole number, at least 0"),
        ("ccac2021:most_queue=-1/2", "most_queue is '-1/2'; expected a number such as 3/2, at least 0"),
        ("ccac2021:flows=2,flows=3", "the parameter 'flows' is given twice"),
        ("ccac2021:flows=", "cannot read 'flows='"),
        ("ccac2021:waste=none", "waste is 'none'; expected one of composing, non-composing, constant-rate"),
        ("ccac2021:composing=no,waste=composing", "composing and waste of ccac2021 set the same"),
        ("varying:variation=1/2", "variation is 1/2; expected at least 1"),
        ("nowhere:flows=2", "there is no 'nowhere' in models"),
        ("smooth_windows:D=1", "the model smooth_windows has no parameter 'D'"),
        ("smooth_windows:composing=no", "the model smooth_windows has no parameter 'composing'"),
        ("two_flows:flow=3", "the model ccac2021 has no parameter 'flow'; did you mean 'flows'"),
    ],
)
def test_what_is_no_parameter_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        model(name)


def test_a_number_out_of_its_range_is_refused_where_the_name_is_read():
    """A network of such a model had no execution, or was refused for its horizon."""
    tried = set()
    for model in definitions.every("models", "MODEL"):
        for parameter, declared in model.parameters.items():
            if "number" in declared.expected:
                with pytest.raises(InputError, match=rf"^{parameter} is '?-1'?; expected "):
                    model.with_parameters({parameter: "-1"})
                tried.add(parameter)
    assert {"flows", "R", "D", "most_queue", "least", "budget", "window", "variation"} <= tried


def test_a_jitter_longer_than_any_trace_is_refused():
    with pytest.raises(InputError, match="the jitter is 999; expected a whole number of steps, 0 to 998"):
        cm.Network("ccac2021:D=999", "1", 1000)


def test_two_jitters_that_differ_are_refused():
    """That of the name was dropped, and the answer was about another network than it names."""
    with pytest.raises(InputError, match="the jitter is 1, and the model's name says D=2; expected one of the two"):
        cm.Network("ccac2021:D=2", "1", 5, jitter=1)
    network = cm.Network("ccac2021:D=2", "1", 5, jitter="2")
    assert network.jitter == cm.Network("ccac2021:D=2", "1", 5).jitter == 2
    with pytest.raises(InputError, match="D=2"):
        cm.Query(network, "avoids", what="S[0] > A[0]").on(jitter=3)
    assert cm.Network("ccac2021", "1", 5, jitter=3).jitter == 3
    asked = ["--model", "ccac2021:D=2", "--jitter", "1", "--buffer", "1", "--horizon", "5"]
    for command in (["verify", "constant_window", *asked], ["worst", "constant_window", *asked]):
        code, _, said = cli.run(*command)
        assert code == 2 and "D=2" in said and len(said.splitlines()) == 1


LAWS = """

from ccmatic.contracts import number
from ccmatic.models.ccac import CCAC


class Faster(CCAC):
    name = "faster"
    parameters = {"variation": number("variation")}

    def __init__(self, variation=1):
        self.variation = variation
        super().__init__()


MODEL = Faster()
"""


def test_a_folder_is_a_model_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faster").mkdir()
    (tmp_path / "faster" / "laws.py").write_text(LAWS)
    assert model("./faster:variation=3/2", allow_code=True).variation == Fraction(3, 2)
    assert cm.Network("./faster", "1", 4).model.name == "faster"
    asked = ["verify", "always_c_l", "--buffer", "infinite", "--horizon", "4", "--property", "avoids"]
    code, said, _ = cli.run(*asked, "--threshold", "what=S[0] > A[0]", "--model", "./faster:variation=2")
    assert code == 0 and "holds" in said
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty/laws.py: cannot read: no such file"):
        model("./empty", allow_code=True)


def test_a_folder_says_what_jitter_its_logs_need(tmp_path):
    """Its own logs.py replaces that of the model of which it is a subclass."""
    (tmp_path / "laws.py").write_text(LAWS)
    (tmp_path / "logs.py").write_text(
        "import numpy as np\n\nfrom ccmatic.contracts import Lines\n\n"
        "def least_jitter(rows, x, variation):\n"
        "    none = np.zeros((len(rows), 1))\n    return none[:, 0] + 7, Lines(none + 7, none)\n"
    )
    log = packet_log("short", np.array([0, 1]), np.array([2, 9]), np.array([1500, 1500]))
    stretch = np.array([0]), np.array([2])
    assert least(log, model(str(tmp_path), allow_code=True), *stretch)[0] == 7
    assert least(log, model("ccac"), *stretch)[0] < 1


@needs_compiler
def test_a_world_that_a_model_lacks_is_named(tmp_path):
    (tmp_path / "laws.py").write_text(
        "from ccmatic.contracts import Model\n\nclass Lacks(Model):\n    name = 'lacks'\n\n"
        "    def network(self, x):\n        return ()\n\nMODEL = Lacks()\n"
    )
    lacks = model(str(tmp_path), allow_code=True)
    with pytest.raises(InputError, match=r"the model lacks has no packets.h; expected one beside its laws, in .*"):
        Path(lacks, rate=10, jitter=1)
    with pytest.raises(InputError, match="the model lacks has no fluid.py"):
        load_fluid(lacks)
    (tmp_path / "fluid.py").write_text("def begin():\n    pass\n")
    with pytest.raises(InputError, match="it defines no advance; expected a function of this name"):
        load_fluid(lacks)
    with pytest.raises(InputError, match="the model lacks has no logs.py"):
        load_logs(lacks)
    (tmp_path / "packets.h").write_text("no C\n")
    with pytest.raises(InputError, match="refused the C code"):
        Simulation(Path(lacks, rate=10, jitter=1))


def test_the_table_of_parameters_is_that_of_the_model():
    """docs/reference/stateful.md: each parameter, its words, and the one that the model has without it."""
    page = (ROOT / "docs/reference/stateful.md").read_text("utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines()]
    table = {row[0].strip(" `"): row[3:] for row in rows if len(row) == 5}
    default = model("ccac2021")
    assert {*default.parameters} == {*table} - {"parameter", "---"}
    for name, parameter in default.parameters.items():
        values, usual = table[name]
        if "one of" in parameter.expected:
            assert ", ".join(re.findall("`(.*?)`", values)) == parameter.expected.removeprefix("one of ")
        if name != "most_queue":
            assert model(f"ccac2021:{name}={usual.strip(' `')}") == default
