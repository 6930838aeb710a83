#!/usr/bin/env python3
"""Turns the text of a terminal (stdin, UTF-8 with SGR sequences) into an SVG (stdout) for light and dark pages.

FORCE_COLOR=1 COLUMNS=80 agentnative check examples/notes | python3 xtask/picture.py "TITLE" > docs/report.svg
"""

import re
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 8.4, 19, 16
COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
LIGHT = {
    "page": "#ffffff", "frame": "#d0d7de", "text": "#1f2328", "black": "#1f2328", "red": "#cf222e",
    "green": "#116329", "yellow": "#7d4e00", "blue": "#0550ae", "magenta": "#8250df", "cyan": "#1b7c83",
    "white": "#59636e",
}
DARK = {
    "page": "#0d1117", "frame": "#3d444d", "text": "#f0f6fc", "black": "#9198a1", "red": "#ff7b72",
    "green": "#3fb950", "yellow": "#d29922", "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#56d4dd",
    "white": "#b1bac4",
}


def style(classes, codes):
    """The classes of the text after an SGR sequence."""
    numbers = [int(code or 0) for code in codes.split(";")]
    for number in numbers:
        if number in (38, 48, 58):
            sys.exit(f"picture.py: only the 16 colours are known, found {codes}")
        if number == 0:
            classes = frozenset()
        elif number in (1, 2, 3, 4):
            classes |= {["bold", "dim", "italic", "underline"][number - 1]}
        elif number == 22:
            classes -= {"bold", "dim"}
        elif number == 39:
            classes -= set(COLOURS)
        elif number // 10 in (3, 9):
            classes = classes - set(COLOURS) | {COLOURS[number % 10]}
        elif number not in (23, 24):
            sys.exit(f"picture.py: unknown SGR code {number}")
    return classes


def spans(line, classes):
    """The parts of a line as (column, classes, text), and the classes after it."""
    found, column = [], 0
    for nth, part in enumerate(re.split("\x1b\\[([0-9;]*)m", line)):
        if nth % 2:
            classes = style(classes, part)
        elif part:
            found.append((column, classes, part))
            column += len(part)
    return found, classes


def rules(colours):
    classes = " ".join(f".{name} {{ fill: {colours[name]} }}" for name in COLOURS)
    page = f".page {{ fill: {colours['page']}; stroke: {colours['frame']} }}"
    return f"{page} text {{ fill: {colours['text']} }} {classes}"


def main():
    title = sys.argv[1]
    lines = sys.stdin.buffer.read().decode().rstrip("\n").split("\n")
    rows, classes, columns = [], frozenset(), 0
    for nth, line in enumerate(lines):
        found, classes = spans(line, classes)
        y = MARGIN + HEIGHT * nth + 14
        for column, names, text in found:
            columns = max(columns, column + len(text.rstrip()))
            if text.strip():
                lead = len(text) - len(text.lstrip(" "))
                x = MARGIN + WIDTH * (column + lead)
                attribute = f' class="{" ".join(sorted(names))}"' if names else ""
                text = text.strip(" ")
                length = f' textLength="{WIDTH * len(text):.1f}"'
                rows.append(f'<text x="{x:.1f}" y="{y}"{length}{attribute}>{escape(text)}</text>')
    width, height = 2 * MARGIN + WIDTH * columns, 2 * MARGIN + HEIGHT * len(lines)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
          f'viewBox="0 0 {width:.0f} {height}" xml:space="preserve" role="img" aria-label="{escape(title)}">')
    print(f"<title>{escape(title)}</title>")
    print("<style>")
    print("text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
          "white-space: pre }")
    print(".bold { font-weight: bold } .dim { opacity: 0.7 } .italic { font-style: italic } "
          ".underline { text-decoration: underline }")
    print(rules(LIGHT))
    print(f"@media (prefers-color-scheme: dark) {{ {rules(DARK)} }}")
    print("</style>")
    print(f'<rect class="page" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="6"/>')
    print("\n".join(rows))
    print("</svg>")


if __name__ == "__main__":
    main()
