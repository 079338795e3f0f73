"""An error in a file is reported with its position, the value found there, and the expected one."""

import json

import pytest

from ccmatic.base import InputError
from ccmatic.networks.traces import Trace
from support import ROOT

DATA = json.loads((ROOT / "results" / "gallery" / "late_drain.json").read_text())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data["columns"]["L"].__setitem__(3, "x"), "columns, L[3]: found 'x'; expected an exact number"),
        (lambda data: data["constants"].update(MSS=0.5), "constants, MSS: found '0.5'; expected an exact number"),
        (lambda data: data.update(controller=3), "controller: found 3; expected text or null"),
        (lambda data: data.update(horizon="7"), "horizon: found 7; expected a whole number"),
        (lambda data: data.update(horizon=-1), "horizon: found -1; expected a whole number, at least 0"),
        (lambda data: data.update(horizon=10**7), "horizon: found 10000000; expected a whole number, at most 1000000"),
        (lambda data: data.pop("broken"), "expected the key 'broken'"),
        (lambda data: data.update(note=""), "unknown key 'note'"),
        (lambda data: data["query"].update(property={"": None}), "query, property, : found None; expected"),
        (lambda data: data.update(format="ccmatic trace 9"), "its format is 'ccmatic trace 9'"),
    ],
)
def test_mistakes_in_a_trace(change, told):
    data = json.loads(json.dumps(DATA))
    change(data)
    with pytest.raises(InputError) as refused:
        Trace.from_json(json.dumps(data), "trace.json")
    assert told in str(refused.value) and str(refused.value).startswith("trace.json: ")
