"""A trace as a page: in a headless browser, the slider leads to the numbers of the trace; text cannot become markup."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ccmatic import query as queries
from ccmatic.explanation import page
from ccmatic.traces import Trace
from ccmatic.verification import Judge, check_trace, replay
from support.cli import run

GALLERY = Path(__file__).parent.parent / "results" / "gallery"
PAGE = GALLERY.parents[1] / "docs" / "gallery" / "late_drain.html"
LATE_DRAIN = GALLERY / "late_drain.json"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1300",
)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&@DATA@"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


def go(browser, t):
    browser.execute_script(
        "const s = document.getElementById('step'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", t
    )


def texts(browser, selector):
    return [node.text for node in browser.find_elements("css selector", selector)]


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
    (tmp_path / "page.html").write_text(page(judgement.trace, judgement.report))
    browser.get((tmp_path / "page.html").as_uri())
    for t in (0, 3, 7):
        go(browser, t)
        assert texts(browser, '#now [data-column="cwnd"]') == [str(judgement.trace.columns["cwnd"][t])]
        assert texts(browser, "#laws li")
    assert [message for message in browser.get_log("browser") if message["level"] == "SEVERE"] == []


def test_objectives_turn_red_at_the_end_and_the_branch_is_marked(browser, tmp_path):
    trace = Trace.load(LATE_DRAIN)
    (tmp_path / "page.html").write_text(page(trace, replay(trace)))
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


def hostile():
    trace = Trace.load(LATE_DRAIN)
    query = replay(trace).query
    named = replace(trace, controller=None, broken=(), query={**trace.query, "model": HOSTILE, "buffer": HOSTILE})
    report = check_trace(query, named)
    return named, replace(report, reason=HOSTILE)


def test_hostile_text_stays_text():
    named, report = hostile()
    text = page(named, report)
    assert text.count("<script") == 2 and text.count("</script>") == 2 and "<img" not in text


def test_hostile_text_is_not_run(browser, tmp_path):
    named, report = hostile()
    (tmp_path / "page.html").write_text(page(named, report))
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.title.startswith("A trace of") and HOSTILE in texts(browser, "#title")[0]
    assert browser.find_elements("css selector", "img") == []


def test_the_page_needs_nothing_else():
    trace = Trace.load(LATE_DRAIN)
    text = page(trace, replay(trace))
    assert "src=" not in text and "href=" not in text and "@import" not in text and "url(" not in text
    assert "default-src 'none'" in text


def test_the_gallery_has_the_page_of_today():
    """Made by `ccmatic replay results/gallery/late_drain.json --html docs/gallery/late_drain.html`."""
    trace = Trace.load(LATE_DRAIN)
    assert PAGE.read_text(encoding="utf-8") == page(trace, replay(trace))
