"""The notebook runs from its first cell to its last, by the Python API alone, and is kept without outputs."""

import json

import pytest

from support import ROOT

TOUR = ROOT / "examples" / "tour.ipynb"


def test_the_notebook_is_kept_without_outputs_and_uses_the_api_alone():
    cells = [cell for cell in json.loads(TOUR.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    imports = [line.strip() for cell in cells for line in cell["source"] if "import" in line]
    assert imports == ["import ccmatic as cm"]


@pytest.mark.slow
def test_the_notebook_runs():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(TOUR, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(TOUR.parent)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    data = [output["data"] for output in shown if "data" in output]
    assert any("image/png" in each for each in data)
    assert any("cautious: violated" in each["text/plain"] for each in data)
    assert any("['holds', 'holds', 'holds', 'holds']" in each["text/plain"] for each in data)
    assert any(": holds; " in each["text/plain"] for each in data)
