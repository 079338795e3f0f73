"""The notebook has the outputs of its cells, uses the Python API alone, and runs from its first cell to its last."""

import json
import runpy

import pytest

from support import ROOT

TOUR = ROOT / "examples" / "tour.ipynb"


def test_the_notebook_has_its_outputs_and_uses_the_api_alone():
    cells = [cell for cell in json.loads(TOUR.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in cells)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    assert "error" not in {output["output_type"] for cell in cells for output in cell["outputs"]}
    imports = [line.strip() for cell in cells for line in cell["source"] if "import" in line]
    assert imports == ["import ccmatic as cm"]


def test_the_site_has_the_notebook_as_a_page_with_its_outputs():
    text = runpy.run_path(str(ROOT / "docs" / "notebook_page.py"))["page"](TOUR)
    assert "# A tour of ccmatic" in text and "cautious: violated" in text and "](data:image/png;base64," in text


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
