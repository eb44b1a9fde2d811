#!/usr/bin/env python3
"""Measures everything that the plots of docs/plots show, and draws them anew.

    benches/plots/measure.py             all of it: builds, then some 5 minutes on a quiet machine
    benches/plots/measure.py solvers     one plot: solvers, messages or unary
    benches/plots/measure.py --quick     a fifth of the rounds, to try it out

The numbers go to docs/plots/*.json as the programs print them, with the machine, the date, the commit
and the commands; draw.py makes the plots of them. Boards come from ../shared/data.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

import draw

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = "../shared/data"
BOARDS = f"{DATA}/easy_naked_singles.txt.gz"
MESSAGE_BOARDS = [1, 4, 16, 64, 256, 1024]


def plan(quick):
    """For each plot, its build and its measurements."""
    rounds, seconds = (4, 4) if quick else (20, 20)
    # On one core: where two share their time, as the threads of a core do, each slows the other's engine
    # down, and that would look like a cost of the wire.
    bench = f"taskset -c 1 target/release/sudoku-solver bench --seconds {seconds} --output json"
    return {
        "solvers": (
            "cargo build --release --locked --manifest-path benches/peers/Cargo.toml",
            [f"taskset -c 1 benches/peers/target/release/peers --rounds {rounds} --json"],
        ),
        "messages": (
            "cargo build --release --locked",
            [f"{bench} --message-boards {boards} {BOARDS}" for boards in MESSAGE_BOARDS],
        ),
        "unary": (
            "cargo bench --locked --bench unary --no-run",
            [f"cargo bench --locked --bench unary -- --rounds {rounds} --output json"],
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


def measure(name, commit, build, commands):
    run(build)
    rows = [json.loads(line) for command in commands for line in output(command).splitlines()]
    measured = {
        "machine": machine(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": commit,
        "commands": commands,
        "rows": rows,
    }
    file = draw.FOLDER / f"{name}.json"
    file.write_text(json.dumps(measured, indent=1) + "\n")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("plots", nargs="*", metavar="PLOT", help="solvers, messages, unary")
    arguments.add_argument("--quick", action="store_true", help="to try it out")
    chosen = arguments.parse_args()
    plots = plan(chosen.quick)
    unknown = [name for name in chosen.plots if name not in plots]
    if unknown:
        arguments.error(f"no plot is called {unknown[0]}; there are {', '.join(plots)}")
    if not (ROOT / DATA).is_dir():
        sys.exit(f"{DATA}, where the boards come from, is not there")
    draw.FOLDER.mkdir(exist_ok=True)
    # Before the first file is written: what is measured is as committed.
    commit = output("git describe --always --dirty --exclude=*").strip()
    for name in chosen.plots or plots:
        measure(name, commit, *plots[name])
        draw.draw(name)


if __name__ == "__main__":
    main()
