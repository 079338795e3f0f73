"""A decimal is the number that its digits say, alike in TOML, flags and controllers."""

import json
from fractions import Fraction

import pytest

from ccmatic import controllers as cca
from ccmatic.base.errors import InputError
from ccmatic.questions import query as queries

QUERY = '[network]\nmodel = "ccac"\nhorizon = {horizon}\nbuffer = {buffer}\n[property]\nutilisation = {utilisation}\n'


def query(folder, horizon="6", buffer="1", utilisation="1"):
    (folder / "query.toml").write_text(QUERY.format(horizon=horizon, buffer=buffer, utilisation=utilisation))
    return queries.load(str(folder / "query.toml"))


@pytest.mark.parametrize("written", ["0.3", "3e-1", "0.3_0", '"0.3"', '"3/10"'])
def test_decimals_in_toml(written, tmp_path):
    found = query(tmp_path, buffer=written, utilisation=written)
    assert (found.property.utilisation, found.buffer.size) == (Fraction(3, 10), Fraction(3, 10))
    assert query(tmp_path, horizon="6.0").horizon == 6


@pytest.mark.parametrize("written", ["inf", "nan", "1e400000000", '"0x1"', "0.3.1"])
def test_what_is_no_decimal_in_toml(written, tmp_path):
    with pytest.raises(InputError) as caught:
        query(tmp_path, utilisation=written)
    assert caught.value.file == str(tmp_path / "query.toml")


@pytest.mark.parametrize("digits", ["0.1", "0.3", "1e-1", "0.30000000000000000000001"])
def test_decimals_in_toml_flags_and_controllers(digits, tmp_path):
    in_flags = queries.make("ccac", "1", "6", thresholds={"utilisation": digits}).property.utilisation
    in_controller = cca.parse(f"G = {digits}\ndef rate(C_L): return G * C_L").rate({"C_L": 1})
    assert query(tmp_path, utilisation=digits).property.utilisation == in_flags == in_controller == Fraction(digits)
    assert cca.parse(f"def rate(C_L): return {digits} * C_L").rate({"C_L": 1}) == in_flags
    record = json.loads(json.dumps(query(tmp_path, utilisation=digits).record()))
    assert queries.from_record(record).property.utilisation == in_flags
