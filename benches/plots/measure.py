#!/usr/bin/env python3
"""Measures everything that the plots of docs/plots show, and draws them anew.

    benches/plots/measure.py             all of it: builds, then some 12 minutes on a quiet machine
    benches/plots/measure.py solvers     one plot: solvers, messages or unary

The numbers go to docs/plots/*.json as the programs print them, with the machine, the date, the commit
and the commands; draw.py makes the plots of them. Boards come from ../shared/data.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys

import draw

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = "../shared/data"
MESSAGES_FILE = f"{DATA}/easy_naked_singles.txt.gz"
MESSAGE_BOARDS = [1, 4, 16, 64, 256, 1024]

BUILD_PEERS = "cargo build --release --locked --manifest-path benches/peers/Cargo.toml"
BUILD_PROGRAM = "cargo build --release --locked"

# The builds, then the measurements of each plot.
PLOTS = {
    "solvers": (
        [BUILD_PEERS],
        ["taskset -c 1 benches/peers/target/release/peers --rounds 20 --json"],
    ),
    "messages": (
        [BUILD_PROGRAM],
        [
            "target/release/sudoku-solver bench --seconds 10 --output json"
            f" --message-boards {boards} {MESSAGES_FILE}"
            for boards in MESSAGE_BOARDS
        ],
    ),
    "unary": (
        ["cargo bench --locked --bench unary --no-run"],
        ["cargo bench --locked --bench unary -- --rounds 40 --output json"],
    ),
}


def run(command, **options):
    print(f"+ {command}", file=sys.stderr)
    return subprocess.run(command.split(), cwd=ROOT, check=True, **options)


def output(command):
    return run(command, stdout=subprocess.PIPE, text=True).stdout


def machine():
    """The CPU's name and how many of its threads there are."""
    names = [
        line.split(":", 1)[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{names[0] if names else os.uname().machine}, {os.cpu_count()} CPUs"


def measure(name):
    builds, commands = PLOTS[name]
    for build in builds:
        run(build)
    rows = []
    for command in commands:
        rows.extend(json.loads(line) for line in output(command).splitlines())
    measured = {
        "machine": machine(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": output("git describe --always --dirty --exclude=*").strip(),
        "commands": commands,
        "rows": rows,
    }
    file = draw.FOLDER / f"{name}.json"
    file.write_text(json.dumps(measured, indent=1) + "\n")


def main():
    names = sys.argv[1:] or list(PLOTS)
    unknown = [name for name in names if name not in PLOTS]
    if unknown:
        sys.exit(f"no plot is called {unknown[0]}; there are {', '.join(PLOTS)}")
    if not (ROOT / DATA).is_dir():
        sys.exit(f"skipped: {DATA}, where the boards come from, is not there")
    draw.FOLDER.mkdir(exist_ok=True)
    for name in names:
        measure(name)
        draw.draw(name)


if __name__ == "__main__":
    main()
