"""The page of the workbench in a headless browser: write, verify, scrub, fix, verify."""

import subprocess
import sys
import time
from fractions import Fraction

import pytest

from ccmatic.base import read_text
from ccmatic.records import WorkbenchFile, read_record
from ccmatic.workbench import answers
from support.browser import as_wide_as, go, opened, texts, until

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

#: As it is typed: the editor indents, and Backspace leaves the branch.
BACKSPACE = "\ue003"
LATE = f"def rate(C_L, qdel_L, R_m):\nif qdel_L > 4 * R_m:\nreturn C_L / 2\n{BACKSPACE}return 2 * C_L\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("workbench")


@pytest.fixture(scope="module")
def browser(folder):
    with opened(folder) as browser:
        yield browser


def serve(folder, *arguments):
    command = [sys.executable, "-m", "ccmatic", "workbench", "--folder", str(folder), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def link(folder):
    process = serve(folder)
    yield process.stdout.readline().strip().removeprefix("Open ")
    process.terminate()
    process.communicate()


@pytest.fixture
def page(browser, link):
    """The page as it begins."""
    browser.get("about:blank")
    browser.get(link)
    until(browser, "document.querySelector('#name')?.value && document.querySelectorAll('#example option').length > 9")
    yield browser
    leave(browser)


def leave(browser):
    """Check that no error occurred, and prevent a question about unsaved text on the next page."""
    assert [message for message in browser.get_log("browser") if message["level"] == "SEVERE"] == []
    browser.execute_script("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")


def write(browser, text):
    """Type a controller in place of the one that is there; the editor indents after a colon, as people expect."""
    from selenium.webdriver.common.keys import Keys

    editor = browser.find_element("css selector", ".cm-content")
    editor.click()
    editor.send_keys(Keys.CONTROL + "a")
    editor.send_keys(Keys.DELETE)
    editor.send_keys(text)


def fill(browser, name, text):
    field = browser.find_element("id", name)
    field.clear()
    field.send_keys(text)


def verify(browser):
    browser.find_element("id", "verify").click()
    until(browser, "document.querySelector('#stop').hidden && document.querySelector('#status').textContent")


def test_write_verify_scrub_fix_verify(page, folder):
    write(page, LATE)
    fill(page, "name", "late")
    fill(page, "on", "ccac, buffer infinite, jitter 1 rtt")
    fill(page, "start", "queue <= 3 bdp")
    fill(page, "steps", "9")
    fill(page, "expect", "queue <= 7 bdp\nloss <= 1 packet")
    verify(page)
    assert texts(page, "#wrong") == [""] and texts(page, "#problem") == [""]
    assert [text.split()[1] for text in texts(page, "#answers b")] == ["violated", "holds"]

    source = page.execute_script("return [...document.querySelectorAll('.cm-line')].map((line) => line.textContent)")
    assert source[:4] == [
        "def rate(C_L, qdel_L, R_m):",
        "    if qdel_L > 4 * R_m:",
        "        return C_L / 2",
        "    return 2 * C_L",
    ]
    drains = []
    for t in range(9):
        go(page, t)
        if t:
            assert texts(page, ".cm-line.ran") == [
                line.strip() for line in (source[1:3] if drains[-1] else source[3:4])
            ]
            assert texts(page, ".cm-line.failed") == ([] if drains[-1] else [source[1].strip()])
        drains.append(float(Fraction(texts(page, "#now [data-column=qdel_L]")[0])) > 4)
    assert False in drains[:-1]
    go(page, 8)
    assert "not met" in texts(page, "#objectives > .broken")[0]

    write(page, LATE.replace("4 * R_m", "R_m / 2"))
    assert texts(page, ".cm-line.ran") == [] and "Press Verify" in texts(page, "#stale")[0]
    verify(page)
    assert [text.split()[1] for text in texts(page, "#answers b")] == ["holds", "holds"]
    assert texts(page, "#stale") == [""] and page.find_elements("css selector", "#step") == []

    page.find_element("id", "save").click()
    until(page, "document.querySelector('#saved').textContent.startsWith('Saved')")
    assert "R_m / 2" in (folder / "late.py").read_text()


def test_a_shared_file_opens_again(page, folder, browser):
    verify(page)
    page.find_element("id", "share").click()
    file = folder / "my_controller.workbench.json"
    deadline = time.monotonic() + 20
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    record = read_record(read_text(file), WorkbenchFile, str(file))
    assert [part for part in answers.reopen(record) if "answer" in part]
    leave(browser)
    process = serve(folder, str(file))
    try:
        browser.get(process.stdout.readline().strip().removeprefix("Open "))
        until(browser, "document.querySelector('#step')")
        assert "violated" in texts(browser, "#answers b")[0]
    finally:
        process.terminate()
        process.communicate()


def test_what_is_refused_is_marked(page):
    write(page, "import os\n")
    page.find_element("id", "verify").click()
    until(page, "!document.querySelector('#wrong').hidden")
    assert texts(page, "#wrong")[0].startswith("my_controller.py:1: found `import os`, expected")
    assert texts(page, ".cm-line.wrong") == ["import os"]
    fill(page, "on", "ccac, bufer 1 bdp")
    page.find_element("id", "verify").click()
    write(page, "def rate(C_L):\nreturn C_L\n")
    page.find_element("id", "verify").click()
    until(page, "!document.querySelector('#fault').hidden")
    assert "did you mean 'buffer 1 bdp'?" in texts(page, "#fault")[0]


MISTAKES = [
    ("on", "ccca, buffer 1 bdp", "did you mean 'ccac'?"),
    ("expect", "queue <= 2 bpd", "did you mean 'bdp'?"),
    ("expect", "delay <= 1/2 rtt", "no whole number of steps"),
    ("start", "converge", "did you mean 'converged'?"),
    ("steps", "1", "needs at least"),
    ("name", "a b", "expected letters, digits"),
]


def test_a_mistake_in_a_field_is_shown_there(page):
    for field, text, message in MISTAKES:
        right = page.find_element("id", field).get_property("value")
        fill(page, field, text)
        page.find_element("id", "verify").click()
        until(page, "!document.querySelector('#fault').hidden")
        assert message in texts(page, "#fault")[0] and texts(page, "#problem") == [""]
        marked = page.find_element("css selector", "[aria-invalid]")
        assert marked.get_attribute("id") == field and marked == page.switch_to.active_element
        below = "return arguments[1].getBoundingClientRect().top - arguments[0].getBoundingClientRect().bottom"
        assert 0 <= page.execute_script(below, marked, page.find_element("id", "fault")) < 40
        marked.send_keys("x")
        assert texts(page, "#fault") == [""] and page.find_elements("css selector", "[aria-invalid]") == []
        fill(page, field, right)


def test_saved_is_said_only_of_the_text_as_it_is(page, folder):
    for change in (lambda: write(page, "def rate(C_L):\nreturn C_L\n"), lambda: fill(page, "name", "renamed")):
        fill(page, "name", "said")
        (folder / "said.py").unlink(missing_ok=True)
        page.find_element("id", "save").click()
        until(page, "document.querySelector('#saved').textContent.startsWith('Saved')")
        change()
        assert texts(page, "#saved") == [""]


def test_another_controller_gets_a_question_that_suits_it(page):
    select = "document.querySelector('#example')"
    for name, on in (("reno", "ccac, buffer 1 bdp, jitter 1 rtt"), ("cubic", "ideal, buffer 1 bdp")):
        if name == "cubic":
            fill(page, "on", on)
        page.execute_script(f"{select}.value = '{name}'; {select}.dispatchEvent(new Event('change'))")
        until(page, f"document.querySelector('#name').value === '{name}'")
        values = [page.find_element("id", field).get_property("value") for field in ("on", "expect", "start", "steps")]
        assert values == [on, "utilisation >= 50%", "any", ""]


def test_stop_and_ask_something_else(page):
    fill(page, "on", "ccac, buffer any, jitter 1 rtt")
    fill(page, "steps", "40")
    fill(page, "start", "any")
    fill(page, "expect", "utilisation >= 40% over every 30 rtt")
    page.find_element("id", "verify").click()
    until(page, "document.querySelector('#status').textContent.includes(', 1 s')")
    page.find_element("id", "stop").click()
    until(page, "document.querySelector('#stop').hidden")
    assert texts(page, "#status") == ["Stopped."]
    fill(page, "steps", "")
    fill(page, "expect", "queue <= 4 bdp")
    verify(page)
    assert texts(page, "#answers b") == ["✗ violated"]


def test_without_the_token_the_page_says_what_to_do(browser, link):
    browser.get("about:blank")
    browser.get(link.partition("#")[0])
    browser.execute_script("sessionStorage.clear()")
    browser.refresh()
    until(browser, "!document.querySelector('#problem').hidden")
    assert "open the link that ccmatic printed" in texts(browser, "#problem")[0]
    browser.get_log("browser")


def test_the_page_fits_its_window(page):
    for width in (1400, 400):
        with as_wide_as(page, width):
            verify(page)
            go(page, 5)
            assert page.execute_script("return document.documentElement.scrollWidth") <= width
            slider = page.find_element("id", "step")
            assert page.execute_script(
                "const box = arguments[0].getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight",
                slider,
            ), width


@pytest.mark.slow
def test_every_field_has_a_name_and_the_keyboard_is_enough(page):
    from selenium.webdriver.common.keys import Keys

    fields = page.find_elements(
        "css selector", "input:not([hidden]), textarea, select, button:not([hidden]), .cm-content"
    )
    assert len(fields) >= 11 and [field for field in fields if field.is_displayed() and not field.accessible_name] == []
    page.find_element("css selector", ".cm-content").send_keys(Keys.CONTROL + Keys.ENTER)
    until(page, "document.querySelector('#step')")
    page.find_element("css selector", "#answers button").send_keys(Keys.ARROW_RIGHT)
    assert texts(page, "#shown") == ["t = 2 of 8"]
    reached = set()
    page.execute_script("document.activeElement.blur(); document.querySelector('#example').focus()")
    for _ in range(25):
        reached.add(page.execute_script("return document.activeElement.id || document.activeElement.className"))
        page.switch_to.active_element.send_keys(Keys.TAB)
    assert {"open", "save", "share", "on", "expect", "start", "steps", "verify", "name", "step"} <= reached
    assert any("cm-content" in each for each in reached), "Tab reaches the editor, and leaves it"


#: The least contrast of the texts that are seen with what is behind them, by WCAG 2.
CONTRAST = """
const light = (colour) => {
  const linear = (part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => linear(part / 255));
  return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
};
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const found = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || !node.checkVisibility() || node.closest("svg, option, noscript, script")) continue;
  const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
  found.push([(a + .05) / (b + .05), `${node.tagName} ${node.className} ${node.textContent.slice(0, 30)}`]);
}
return found.sort((x, y) => x[0] - y[0])[0];
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(page, scheme):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    verify(page)
    go(page, 3)
    least, where = page.execute_script(CONTRAST)
    assert least >= 4.5, where
