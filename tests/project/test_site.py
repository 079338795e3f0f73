"""The site in a headless browser: pages fit the window, and a tool finds them accessible."""

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from support import ROOT
from support.browser import as_wide_as, opened, until

pytestmark = pytest.mark.slow

#: Pages with tables, figures, code, equations, and signatures of functions.
PAGES = (
    "",
    "tutorial/",
    "reports/findings/",
    "starvation/",
    "jitter/",
    "how-it-works/",
    "reference/cli/",
    "reference/encoding/",
    "reference/fit/",
    "reference/api/verify/",
    "reports/worst/",
)

#: The theme's name of each colour scheme.
SCHEMES = {"light": "default", "dark": "slate"}

#: The rules that the tool checks. Its rule that the tab key stops at blocks that scroll is left to browsers.
RULES = [
    "color-contrast",
    "empty-heading",
    "heading-order",
    "image-alt",
    "link-name",
    "page-has-heading-one",
    "svg-img-alt",
]

#: What the tool finds, as "rule: element".
FOUND = """
axe.run(document, {runOnly: {type: "rule", values: arguments[0]}, resultTypes: ["violations"]}).then(
  ({violations}) => arguments[1](violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`))),
  (error) => arguments[1]([String(error)]),
);
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print no request."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the site, built and served."""
    for needed in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "--site-dir", str(folder)], cwd=ROOT, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.strip("/") or "home")
def test_a_page_fits_and_is_accessible(browser, site, page, width, scheme):
    axe = pytest.importorskip("axe_core_python.base", reason="axe-core-python is not installed").AXE_SCRIPT
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(f"{site}assets/site.css")  # has no script that remembers the scheme
    browser.execute_script("localStorage.clear()")
    with as_wide_as(browser, width):
        browser.get(site + page)
        assert browser.execute_script("return document.body.dataset.mdColorScheme") == SCHEMES[scheme]
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script(OUTSIDE) == []
        browser.execute_script(axe)
        assert browser.execute_async_script(FOUND, RULES) == []


#: The tables, blocks of code, equations and figures that reach beyond the window, and do not scroll within themselves.
OUTSIDE = """
const right = document.documentElement.clientWidth;
const scrolls = (element) => element.closest("pre code, .md-typeset__scrollwrap, .equations, :is(p, ul):has(math)");
return [...document.querySelectorAll(".md-content :is(table, pre, math, img, svg)")]
  .filter((element) => !scrolls(element) && element.getBoundingClientRect().right > right)
  .map((element) => element.outerHTML.slice(0, 200));
"""


def test_the_button_beside_a_console_copies_its_commands(browser, site):
    browser.get(f"{site}jitter/")
    until(browser, "document.querySelector('.language-console [data-clipboard-target]')")
    copied = browser.execute_script("""
        const text = [];
        document.execCommand = () => text.push(document.activeElement.value);
        document.querySelector(".language-console [data-clipboard-target]").click();
        return text;
    """)
    assert copied == ["ccmatic fit examples/links/cellular.mahimahi --rtt 40ms --horizon 19"]


def test_search_finds_the_page_on_jitter(browser, site):
    browser.get(site)
    browser.execute_script("document.querySelector('.md-search__input').focus()")
    browser.find_element("css selector", ".md-search__input").send_keys("jitter realistic")
    until(browser, "document.querySelector('.md-search-result__link')")
    links = [link.get_attribute("href") for link in browser.find_elements("css selector", ".md-search-result__link")]
    assert any(link.startswith(f"{site}jitter/") for link in links[:3]), links
