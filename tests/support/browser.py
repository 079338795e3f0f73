"""A headless browser for tests of pages."""

import shutil
import time
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1300",
)


@contextmanager
def opened(folder):
    """Open a browser with its profile and downloads in a folder. Skip the test if no browser is installed."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def until(browser, condition):
    """Wait until a condition of JavaScript is true."""
    deadline = time.monotonic() + 60
    while not browser.execute_script(f"return Boolean({condition})"):
        assert time.monotonic() < deadline, condition
        time.sleep(0.05)


def go(browser, t):
    """Move the slider of a trace to a step."""
    browser.execute_script(
        "const s = document.getElementById('step'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", t
    )


def texts(browser, selector):
    """The texts of the elements that a selector finds."""
    return [node.text for node in browser.find_elements("css selector", selector)]


@contextmanager
def as_wide_as(browser, width):
    """Set the window's width in pixels within the context."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
