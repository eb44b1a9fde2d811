#!/usr/bin/env python3
"""Draws the plots of docs/plots from the numbers beside them.

    benches/plots/draw.py            draws all
    benches/plots/draw.py --check    fails if a plot is not the one of its numbers
"""

import json
import math
import pathlib
import sys
from html import escape

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "plots"

WIDTH = 760
# Every plot brings its own ground: a reader's page may be light where his system is dark.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 16px; font-weight: 600 }
  .small { font-size: 12px; fill: #57606a }
  .ground { fill: #ffffff }
  .grid { stroke: #d8dee4 }
  .link { stroke: #afb8c1; stroke-width: 2 }
  .s0 { fill: #0550ae; stroke: #0550ae }
  .s1 { fill: #bc4c00; stroke: #bc4c00 }
  .s2 { fill: #6e7781; stroke: #6e7781 }
  .s3 { fill: #8250df; stroke: #8250df }
  text.s0, text.s1, text.s2, text.s3 { stroke: none }
  text.value { stroke: #ffffff; stroke-width: 4px; paint-order: stroke; font-size: 12px }
  polyline.s0, polyline.s1, polyline.s2, polyline.s3 { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9da7b3 }
    .ground { fill: #0d1117 }
    .grid { stroke: #30363d }
    .link { stroke: #6e7681 }
    text.value { stroke: #0d1117 }
    .s0 { fill: #79c0ff; stroke: #79c0ff }
    .s1 { fill: #ffa657; stroke: #ffa657 }
    .s2 { fill: #9da7b3; stroke: #9da7b3 }
    .s3 { fill: #d2a8ff; stroke: #d2a8ff }
  }
"""


def short(value):
    """1234567 as 1.2 M."""
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.3g}"


class Svg:
    """A drawing, line by line."""

    def __init__(self, height, title, subtitle, caption):
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            '<rect class="ground" width="100%" height="100%" rx="6"/>',
        ]
        self.text(20, 28, title, "title")
        self.text(20, 48, subtitle, "small")
        for number, line in enumerate(caption):
            self.text(20, height - 14 - 16 * (len(caption) - 1 - number), line, "small")

    def text(self, x, y, text, style="", anchor="start", rotate=False):
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if rotate else ""
        self.lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}"{turn}>'
            f"{escape(text)}</text>"
        )

    def line(self, x1, y1, x2, y2, style="grid"):
        self.lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>'
        )

    def dot(self, x, y, style):
        self.lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{style}"/>')

    def polyline(self, points, style):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.lines.append(f'<polyline points="{places}" class="{style}"/>')

    def legend(self, names):
        x = 20
        for number, name in enumerate(names):
            self.dot(x + 5, 68, f"s{number}")
            self.text(x + 15, 72, name, f"s{number}")
            x += 45 + 7 * len(name)

    def __str__(self):
        return "\n".join([*self.lines, "</svg>", ""])


def caption(measured, extra=""):
    """Where, when and of what the numbers are."""
    place = f"{measured['machine']}; {measured['date']}, commit {measured['commit']}"
    return [line for line in (extra, place) if line]


def decades(low, high):
    """The powers of ten around all values."""
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def solvers(measured):
    """A row of dots for each set."""
    rows = measured["rows"]
    who = [("engine", "batch engine"), ("sudoku", "crate sudoku 0.8"), ("single", "single-board solver")]
    top, step, left, right = 100, 30, 185, 640
    bottom = top + step * len(rows)
    svg = Svg(
        bottom + 92,
        "Boards a second on one core",
        "Solutions counted to 2 and the grids of them, from boards already parsed; further right is better",
        caption(measured, f"CPU time, median of the rounds; cpu level {rows[0]['cpu_level']}"),
    )
    svg.legend([name for _, name in who])
    rates = [row[key]["median"] for row in rows for key, _ in who]
    ticks = decades(min(rates), max(rates))

    def x(rate):
        return left + (right - left) * (math.log10(rate) - ticks[0]) / (ticks[-1] - ticks[0])

    for tick in ticks:
        svg.line(x(10**tick), top - 10, x(10**tick), bottom)
        svg.text(x(10**tick), bottom + 18, short(10**tick), "small", "middle")
    svg.text((left + right) / 2, bottom + 38, "boards a second (log scale)", "small", "middle")
    svg.text(WIDTH - 20, top - 14, "engine to sudoku", "small", "end")
    for number, row in enumerate(rows):
        y = top + step * number + 12
        svg.text(left - 15, y + 4, row["set"], anchor="end")
        svg.line(x(row["sudoku"]["median"]), y, x(row["engine"]["median"]), y, "link")
        for series, (key, _) in reversed(list(enumerate(who))):
            svg.dot(x(row[key]["median"]), y, f"s{series}")
        svg.text(WIDTH - 20, y + 4, f"{row['ratio']['median']:.1f} times", anchor="end")
    return svg


def draw_lines(svg, places, series, y_of, ticks, x_title, y_title):
    """Lines over evenly spaced places, each value written beside its point."""
    left, right, top, bottom = 80, 720, 95, 360

    def x(number):
        return left + 30 + (right - left - 60) * number / (len(places) - 1)

    def y(value):
        return bottom - (bottom - top) * y_of(value)

    for tick in ticks:
        svg.line(left, y(tick), right, y(tick))
        svg.text(left - 8, y(tick) + 4, short(tick), "small", "end")
    for number, place in enumerate(places):
        svg.text(x(number), bottom + 20, f"{place:,}", "small", "middle")
    svg.text((left + right) / 2, bottom + 42, x_title, "small", "middle")
    svg.text(28, (top + bottom) / 2, y_title, "small", "middle", rotate=True)
    for style, (_, values) in enumerate(series):
        points = [(x(number), y(value)) for number, value in enumerate(values)]
        svg.polyline(points, f"s{style}")
        for (px, py), value in zip(points, values):
            svg.dot(px, py, f"s{style}")
    for number in range(len(places)):
        # From the top down, each at its point or below the one before.
        free = top - 20
        for style, value in sorted(enumerate(v[number] for _, v in series), key=lambda s: -s[1]):
            free = max(free + 13, y(value) - 4)
            svg.text(x(number) + 9, free, f"{value:,.0f}", f"value s{style}")
    svg.legend([name for name, _ in series])


def messages(measured):
    """Server CPU by boards a message."""
    rows = measured["rows"]
    name = pathlib.PurePath(rows[0]["file"]).name.split(".")[0]
    names = {
        "rpc_server_cpu_nanos_per_board": "server in all",
        "rpc_server_cpu_beyond_engine_nanos_per_board": "beyond the engine's own",
        "engine_cpu_nanos_per_board": "the engine alone",
    }
    series = [(title, [row[field] for row in rows]) for field, title in names.items()]
    highest = max(value for _, values in series for value in values)
    step = next(10**power * part for power in range(1, 9) for part in (1, 2, 5)
                if highest <= 8 * part * 10**power)
    ticks = [step * number for number in range(math.ceil(highest / step) + 1)]
    svg = Svg(
        450,
        "What a board of SolveBatch costs the server",
        f"CPU time of all threads, in the kernel too, over loopback, on one core, median; set {name}",
        caption(measured),
    )
    places = [row["message_boards"] for row in rows]
    draw_lines(svg, places, series, lambda value: value / ticks[-1], ticks,
               "boards a message (log scale)", "ns of server CPU a board")
    return svg


def unary(measured):
    """Latency percentiles of calls by load."""
    rows = [row for row in measured["rows"] if "in_flight" in row]
    shares = ["99.9", "99", "90", "50"]
    series = [(f"{share} %", [row["solve"]["latency_us"][share] for row in rows]) for share in shares]
    values = [value for _, values in series for value in values]
    exponents = decades(min(values), max(values))

    def y_of(value):
        return (math.log10(value) - exponents[0]) / (exponents[-1] - exponents[0])

    rates = ", ".join(f"{row['solve']['calls_per_second']:,.0f}" for row in rows)
    svg = Svg(
        466,
        "How long a call of Solve takes",
        "Percentiles of the latency that a client of one connection sees, easy boards, over loopback",
        caption(measured, f"Calls a second at these loads: {rates}; client and server share the machine"),
    )
    places = [row["in_flight"] for row in rows]
    draw_lines(svg, places, series, y_of, [10**exponent for exponent in exponents],
               "calls in flight (log scale)", "latency in µs (log scale)")
    return svg


PLOTS = {"solvers": solvers, "messages": messages, "unary": unary}


def drawn(name):
    return str(PLOTS[name](json.loads((FOLDER / f"{name}.json").read_text())))


def draw(name):
    (FOLDER / f"{name}.svg").write_text(drawn(name))


def main():
    if sys.argv[1:] == ["--check"]:
        stale = [name for name in PLOTS if (FOLDER / f"{name}.svg").read_text() != drawn(name)]
        if stale:
            sys.exit(f"not the plots of their numbers: {', '.join(stale)}; run benches/plots/draw.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for name in PLOTS:
            draw(name)


if __name__ == "__main__":
    main()
