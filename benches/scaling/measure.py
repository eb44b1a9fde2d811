#!/usr/bin/env python3
"""Measures what Envoy and more replicas cost, as CPU time a board, for docs/scaling.md.

    cargo build --release --locked && tests/peers.sh    first
    benches/scaling/measure.py                          some two minutes on a quiet machine

CPU time is that of all threads of a process, in the kernel too. Wall time says little here: replicas, Envoy and
client share the cores of one machine. The rounds of all rows take turns, and a row has the median of its rounds.
"""

import argparse
import gzip
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import threading
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOLVER = ROOT / "target/release/sudoku-solver"
ENVOY = ROOT / "target/peers/python/bin/envoy"
BOARDS = ROOT / "../shared/data/easy_naked_singles.txt.gz"
REPLICAS = "address: sudoku-solver-replicas, port_value: 50051"


def cpu_seconds(process):
    """CPU time of every thread of a process. None of ours ends before its process does."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def start(command, begun, ready):
    """A process, and what its log says where it has begun, once it is ready."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said = None
    for line in process.stderr:
        if found := re.search(begun, line):
            said = found[1]
        if re.search(ready, line):
            # A log that nobody reads would block it in the end.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, said
    raise SystemExit(f"{command[0]} ended")


def replica():
    command = [SOLVER, "serve", "--listen", "127.0.0.1:0", "--workers", "1"]
    return start(command, r"listening address=(\S+)", "listening")


class Envoy:
    """Envoy before replicas, with deploy/envoy.yaml and free ports."""

    def __init__(self, folder, replicas):
        config = (ROOT / "deploy/envoy.yaml").read_text()
        line = next(line for line in config.splitlines() if REPLICAS in line)
        lines = []
        for _, address in replicas:
            host, port = address.split(":")
            lines.append(line.replace(REPLICAS, f"address: {host}, port_value: {port}"))
        config = config.replace(line, "\n".join(lines))
        config = config.replace("port_value: 50050", "port_value: 0")
        config = config.replace("port_value: 9901", "port_value: 0")
        file = pathlib.Path(folder) / f"envoy-{len(replicas)}.yaml"
        file.write_text(config)
        command = [ENVOY, "--concurrency", "1", "--use-dynamic-base-id", "-c", file]
        self.process, self.admin = start(command, r"admin address: (\S+)", "starting workers")
        port = self.ask("/listeners").strip().rsplit(":", 1)[1]
        self.address = f"127.0.0.1:{port}"

    def ask(self, page):
        with urllib.request.urlopen(f"http://{self.admin}{page}") as answer:
            return answer.read().decode()

    def upstream_bytes(self):
        """Bytes to and from the replicas since the start."""
        stats = self.ask("/stats?filter=^cluster.replicas.upstream_cx_[tr]x_bytes_total")
        return [int(stats.split(f"cx_{way}x_bytes_total: ")[1].split()[0]) for way in "tr"]


def client_seconds():
    """CPU time of all clients that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


class Row:
    """One measurement: a client, the replicas that it reaches, and perhaps Envoy between them."""

    def __init__(self, name, boards, command, replicas, envoy=None):
        self.name, self.boards, self.command = name, boards, command
        self.replicas, self.envoy = replicas, envoy
        self.rounds = []

    def cpu(self):
        of_replicas = [cpu_seconds(process) for process, _ in self.replicas]
        return [*of_replicas, cpu_seconds(self.envoy.process) if self.envoy else 0.0]

    def round(self):
        before = self.cpu()
        sent = self.envoy.upstream_bytes() if self.envoy else [0, 0]
        client = client_seconds()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = 1e9 * (client_seconds() - client) / self.boards
        after = self.cpu()
        spent = [1e9 * (end - begin) / self.boards for begin, end in zip(before, after)]
        now = self.envoy.upstream_bytes() if self.envoy else [0, 0]
        moved = [(end - begin) / self.boards for begin, end in zip(sent, now)]
        *replicas, envoy = spent
        self.rounds.append([sum(replicas), envoy, client, *moved, max(replicas) / sum(replicas)])

    def print(self):
        medians = [statistics.median(column) for column in zip(*self.rounds)]
        replicas, envoy, client, sent, received, most = medians
        # `bench` measures engines in its own process as well.
        client = f"{client:.0f}" if "solve" in self.command else ""
        moved = f"{sent:.0f} / {received:.0f}" if self.envoy else ""
        low, high = min(row[0] for row in self.rounds), max(row[0] for row in self.rounds)
        print(
            f"| {self.name} | {replicas:.0f} ({low:.0f} to {high:.0f}) | {envoy:.0f} | {client} "
            f"| {moved} | {100 * most:.0f} % |",
            flush=True,
        )


def rows(folder, times):
    """Every measurement, with its processes running."""
    text = gzip.decompress(BOARDS.read_bytes()).decode()
    lines = len(text.split())
    few, many = pathlib.Path(folder) / "few.txt", pathlib.Path(folder) / "many.txt"
    few.write_text(text)
    many.write_text(text * times)
    three = [replica() for _ in range(3)]
    envoys = {count: Envoy(folder, three[:count]) for count in (1, 2, 3)}

    def bench(server, size, file):
        sizes = ["--seconds", "0", "--message-boards", str(size)]
        return [SOLVER, "bench", *sizes, "--server", server, file]

    for size, boards, file in ((1, lines, few), (256, lines * times, many)):
        name = f"{size} a message, one stream"
        address = three[0][1]
        yield Row(f"{name}, direct", boards, bench(address, size, file), three[:1])
        through = bench(envoys[1].address, size, file)
        yield Row(f"{name}, Envoy", boards, through, three[:1], envoys[1])
    for count in (1, 2, 3):
        # Six streams in all, however many replicas they are spread over.
        streams = ["--streams", str(6 // count)]
        servers = ",".join(address for _, address in three[:count])
        direct = [SOLVER, "solve", *streams, "--server", servers, many]
        yield Row(f"`solve`, {count} replicas, direct", lines * times, direct, three[:count])
    for count in (1, 2, 3):
        through = [SOLVER, "solve", "--streams", "6", "--server", envoys[count].address, many]
        name = f"`solve`, {count} replicas, Envoy"
        yield Row(name, lines * times, through, three[:count], envoys[count])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--times", type=int, default=20, help="the file so often, at 256 boards a message")
    given = arguments.parse_args()
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            all_rows = list(rows(folder, given.times))
            for row in all_rows:
                processes += [process for process, _ in row.replicas]
                processes += [row.envoy.process] if row.envoy else []
            for _ in range(given.rounds):
                for row in all_rows:
                    row.round()
        finally:
            for process in set(processes):
                process.kill()
    print("| ns of CPU a board | replicas, median (range) | Envoy | client | bytes to / from replicas | share of the busiest |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in all_rows:
        row.print()


if __name__ == "__main__":
    main()
