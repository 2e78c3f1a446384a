"""A gallery in a browser, and how its colours stand off each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Page:
    """The gallery in a browser."""

    def __init__(self, browser: Any, path: Path, width: int = 1280) -> None:
        self.browser = browser
        browser.set_window_size(width, 900)
        browser.get(path.as_uri())

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def js(self, code: str, *arguments: Any) -> Any:
        return self.browser.execute_script(code, *arguments)

    def shown(self) -> int:
        return self.js("return document.querySelectorAll('.item:not([hidden])').length")

    def choose(self, name: str, value: str) -> None:
        from selenium.webdriver.support.select import Select

        Select(self.all(f"[name={name}]")[0]).select_by_visible_text(value)

    def press(self, keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(keys).perform()


CONTRAST = """
const luminance = (c) => c.match(/[0-9.]+/g).slice(0, 3).map(Number)
  .map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
const element = document.querySelector(arguments[0]);
const [a, b] = [getComputedStyle(element).color, getComputedStyle(element.closest('.item')).backgroundColor].map(luminance);
return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
"""
