"""A trace as a page: in a headless browser, the slider leads to the numbers of the trace; text cannot become markup."""

import json
from dataclasses import replace
from itertools import combinations

import pytest

from ccmatic.answers.explanation import trace_page
from ccmatic.answers.explanation.reasons import number as number_of
from ccmatic.answers.verification import Judge, check_trace, replay
from ccmatic.controllers.several import HEAD
from ccmatic.networks.traces import ROLES, Trace
from ccmatic.questions import query as queries
from support import ROOT
from support.browser import as_wide_as, go, opened, texts
from support.cli import run
from support.flows import DOUBLING, trace_of_flows

GALLERY = ROOT / "results" / "gallery"
PAGE = GALLERY.parents[1] / "docs" / "gallery" / "late_drain.html"
LATE_DRAIN = GALLERY / "late_drain.json"
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&@DATA@"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.mark.parametrize("name", ["late_drain", "cc_qdel_small_buffer"])
def test_the_slider_shows_the_numbers_of_the_trace(browser, tmp_path, name):
    trace = Trace.load(GALLERY / f"{name}.json")
    code, _, err = run("replay", GALLERY / f"{name}.json", "--html", tmp_path / "page.html", cwd=tmp_path)
    assert code == 0, err
    browser.get((tmp_path / "page.html").as_uri())
    for t in (0, 2, trace.horizon - 1):
        go(browser, t)
        assert f"t = {t} " in texts(browser, "#shown")[0]
        for column, values in trace.columns.items():
            assert texts(browser, f'#now [data-column="{column}"]') == [str(values[t])]
    assert [message for message in browser.get_log("browser") if message["level"] == "SEVERE"] == []


def test_the_slider_moves_over_a_trace_of_a_controller_with_state(browser, tmp_path):
    asked = {"what": "S[T-1] - S[0] < 1/10 * C * T", "given": "L[0] == 0", "periodic": "2"}
    query = queries.make("ccac2021", "infinite", 8, property="avoids", thresholds=asked)
    judgement = Judge(query).judge(query.controller("constant_window"))
    (tmp_path / "page.html").write_text(trace_page(judgement.trace, report=judgement.report))
    browser.get((tmp_path / "page.html").as_uri())
    for t in (0, 3, 7):
        go(browser, t)
        assert texts(browser, '#now [data-column="cwnd"]') == [str(judgement.trace.columns["cwnd"][t])]
        assert texts(browser, "#laws li")
    assert [message for message in browser.get_log("browser") if message["level"] == "SEVERE"] == []


def test_objectives_turn_red_at_the_end_and_the_branch_is_marked(browser, tmp_path):
    trace = Trace.load(LATE_DRAIN)
    (tmp_path / "page.html").write_text(trace_page(trace))
    browser.get((tmp_path / "page.html").as_uri())
    go(browser, trace.horizon - 2)
    assert texts(browser, "#objectives > .broken") == []
    for t in range(1, trace.horizon):
        go(browser, t)
        shown = "rate = 1/2·C_L" if trace.columns["qdel_L"][t - 1] > 4 else "rate = 2·C_L"
        assert [line.strip() for line in texts(browser, "#controller .true")][-1] == shown
    go(browser, trace.horizon - 1)
    broken = [text.splitlines() for text in texts(browser, "#objectives > .broken")]
    assert all("not met" in " ".join(text) for text in broken)
    assert tuple(name for name in trace.broken for text in broken if name in " ".join(text)) == trace.broken
    assert any("8.5 C·R_m, more than 8.3" in line for text in broken for line in text)
    assert "S cannot be less: served within jitter" in texts(browser, "#laws li")


def test_a_page_of_several_flows_shows_each_and_names_its_controller(browser, tmp_path):
    trace = trace_of_flows(3)
    (tmp_path / "page.html").write_text(trace_page(trace))
    browser.get((tmp_path / "page.html").as_uri())
    assert texts(browser, ".lane h2") == [f"Flow {number}, doubling" for number in (1, 2, 3)]
    assert texts(browser, "#who") == ["The controller is doubling."]
    for t in (0, 3):
        go(browser, t)
        shown = " ".join(texts(browser, "figure .names"))
        for number in (1, 2, 3):
            assert f"window{number} = {number_of(trace.columns[f'window{number}'][t])}" in shown
    assert [message for message in browser.get_log("browser") if message["level"] == "SEVERE"] == []


@pytest.mark.parametrize("width", [1400, 400])
def test_a_page_fits_its_window_and_names_of_lines_do_not_overlap(browser, tmp_path, width):
    trace = trace_of_flows(2)
    (tmp_path / "page.html").write_text(trace_page(trace))
    with as_wide_as(browser, width):
        browser.get((tmp_path / "page.html").as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        for names in browser.find_elements("css selector", ".names"):
            boxes = [node.rect for node in names.find_elements("css selector", ":scope > span")]
            for one, other in combinations(boxes, 2):
                apart = one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
                assert apart or one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]


def test_all_numbers_can_be_read_without_a_script(browser, tmp_path):
    trace = trace_of_flows(2)
    (tmp_path / "page.html").write_text(trace_page(trace))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((tmp_path / "page.html").as_uri())
        browser.find_element("css selector", "summary").click()
        rows = [row.split() for row in texts(browser, "#all tbody tr")]
        assert rows == [[str(value) for value in row.values()] for row in trace.rows()]
        assert browser.find_elements("css selector", "figure polyline")
        assert not browser.find_element("css selector", "#step").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("flows", [1, 2, 3])
def test_a_page_has_a_lane_for_each_of_several_flows(flows):
    trace = trace_of_flows(flows)
    text = trace_page(trace)
    assert text.count('<section class="lane"') == (flows if flows > 1 else 0)
    for title in ("Shares of what is served, by flow and step (C)", "Bytes that wait, by flow (C·R_m)"):
        assert (title in text) == (flows > 1)
    assert text.count("<figure") == (2 + 2 * flows if flows > 1 else 2)


def test_flows_with_controllers_of_their_own_are_named():
    source = "".join(HEAD.format(number, name) + DOUBLING for number, name in ((1, "first"), (2, "second")))
    trace = trace_of_flows(2, controller=source, name=None)
    text = trace_page(trace)
    assert "Flow 1 runs first, flow 2 runs second." in text
    assert "<h3>Flow 1: first</h3>" in text and "<h3>Flow 2: second</h3>" in text and "Flow 2, second</h2>" in text


def test_lines_that_coincide_are_dashed():
    """The window and the state that it is."""
    trace = trace_of_flows(2)
    text = trace_page(trace)
    assert 'stroke-dasharray="6 6"' in text and "<polyline" in text


def test_light_and_dark_have_a_colour_for_each_role():
    trace = trace_of_flows(2)
    light, dark = trace_page(trace).split("prefers-color-scheme: dark", 1)
    for role in ("sent", "served", "lost", "truth", "belief", "probe", "jitter"):
        assert f"--{role}: {ROLES[role]};" in light and f"--{role}: #" in dark


def hostile():
    trace = Trace.load(LATE_DRAIN)
    query = replay(trace).query
    named = replace(trace, controller=None, broken=(), query={**trace.query, "model": HOSTILE, "buffer": HOSTILE})
    report = check_trace(query, named)
    return named, replace(report, reason=HOSTILE)


def test_hostile_text_stays_text():
    named, report = hostile()
    text = trace_page(named, report=report)
    assert text.count("<script") == 2 and text.count("</script>") == 2 and "<img" not in text


def test_a_hostile_name_of_a_controller_stays_text():
    trace = trace_of_flows(2, name=HOSTILE)
    text = trace_page(trace)
    assert text.count("<script") == 2 and text.count("</script>") == 2 and "<img" not in text


def test_hostile_text_is_not_run(browser, tmp_path):
    named, report = hostile()
    (tmp_path / "page.html").write_text(trace_page(named, report=report))
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.title.startswith("A trace of") and HOSTILE in texts(browser, "#title")[0]
    assert browser.find_elements("css selector", "img") == []


@pytest.mark.parametrize("name, value", [("C", "0"), ("C", "-1")])
@pytest.mark.parametrize("file", [LATE_DRAIN, GALLERY / "starvation" / "copa.json"], ids=["one flow", "two flows"])
def test_a_link_that_makes_no_sense_is_refused(file, name, value, tmp_path):
    data = json.loads(file.read_text())
    data["constants"][name] = value
    (tmp_path / "trace.json").write_text(json.dumps(data))
    code, _, err = run("replay", "trace.json", "--html", "page.html", cwd=tmp_path)
    assert code == 2 and "cannot draw the trace; expected at least a step" in err


def test_the_page_needs_nothing_else():
    trace = Trace.load(LATE_DRAIN)
    text = trace_page(trace)
    assert "src=" not in text and "href=" not in text and "@import" not in text and "url(" not in text
    assert "default-src 'none'" in text


@pytest.mark.slow
def test_the_gallery_has_the_page_of_today():
    """Made by `ccmatic replay results/gallery/late_drain.json --html docs/gallery/late_drain.html`."""
    trace = Trace.load(LATE_DRAIN)
    assert PAGE.read_text(encoding="utf-8") == trace_page(trace)
