#!/usr/bin/env python3
"""Solves a file of boards, one a line, by several servers, and loses none when one of them dies.

    PYTHONPATH=target/python examples/python/batch.py \\
        --server 127.0.0.1:50051 --server 127.0.0.1:50052 --out answers.tsv --resume boards.txt

Writes one line a board, in order: the board, its status and its solutions, parted by tabs. The same
command goes on where the file ends. Exits with 3 when boards are unanswered; the file ends before
the first of them. docs/clients.md says why sending a board twice is safe.
"""

import argparse
import heapq
import os
import random
import sys
import threading
import time
from collections import deque
from itertools import islice

import grpc
from sudoku.v1 import sudoku_pb2 as pb
from sudoku.v1 import sudoku_pb2_grpc as rpc

MESSAGE = 256  # boards
WINDOW = 16  # messages that one stream may owe answers for
AHEAD = 256  # messages that may be answered before one that comes before them
ATTEMPTS = 5  # how often a message is sent; only breaks count that it was the first to be hit by
PATIENCE = 60  # seconds without any answer
FINAL = {"INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"}
# A server that stopped without closing its connections is found out by pings.
PINGS = [("grpc.keepalive_time_ms", 5000), ("grpc.keepalive_timeout_ms", 5000)]


class Message:
    """Boards that are sent together, and where they stand in the job."""

    def __init__(self, first, boards):
        self.first, self.boards, self.attempts = first, boards, 0

    def __lt__(self, other):
        return self.first < other.first


class Job:
    """What is waiting, what is answered, and what was written. All of it under one lock."""

    def __init__(self, boards, first, out):
        self.boards, self.out, self.next = boards, out, first
        self.written, self.answers, self.again = first, {}, []
        self.fed, self.failure = False, None
        self.progress, self.last_error = time.monotonic(), "nothing was answered"
        self.changed = threading.Condition()

    def over(self):
        return self.failure is not None or (self.fed and self.written == self.next)

    def take(self, stream):
        """The next message for a stream, the earliest first; None when the stream is to end."""
        with self.changed:
            while not (self.over() or stream.ended):
                room = stream.open and len(stream.flight) < WINDOW
                ahead = self.next - self.written >= AHEAD * MESSAGE
                if room and (self.again or not (self.fed or ahead)):
                    message = heapq.heappop(self.again) if self.again else self.read()
                    if message.boards:
                        stream.flight.append(message)
                        return message
                else:
                    self.changed.wait()
            return None

    def read(self):
        message = Message(self.next, list(islice(self.boards, MESSAGE)))
        self.next += len(message.boards)
        self.fed = len(message.boards) < MESSAGE
        if self.fed:
            self.changed.notify_all()
        return message

    def answer(self, index, line):
        self.answers[index] = line
        self.progress = time.monotonic()
        while self.written in self.answers:
            self.out.write(self.answers.pop(self.written))
            self.written += 1

    def give_back(self, flight, error):
        """The stream broke: what it owes is sent again, by whoever has room."""
        self.last_error = error
        for place, message in enumerate(flight):
            message.attempts += place == 0
            if message.attempts >= ATTEMPTS:
                self.fail(f"board {message.first} was sent {ATTEMPTS} times in vain: {error}")
            heapq.heappush(self.again, message)

    def fail(self, reason):
        with self.changed:
            self.failure = self.failure or reason
            self.changed.notify_all()


class Stream:
    """One stream, and the messages that it owes answers for."""

    def __init__(self, job):
        self.job, self.flight, self.count = job, deque(), 0
        self.open = self.ended = False

    def requests(self):
        while message := self.job.take(self):
            yield pb.SolveBatchRequest(boards=message.boards)

    def run(self, stub, timeout):
        """Runs it to its end; why it broke, if it did."""
        broken = None
        try:
            call = stub.SolveBatch(self.requests(), timeout=timeout)
            call.initial_metadata()  # not a board is risked before the server has taken the call
            self.change(open=True)
            for response in call:
                with self.job.changed:
                    for result in response.results:
                        self.answer(result)
                    self.job.changed.notify_all()
        except grpc.RpcError as error:
            broken = error
        with self.job.changed:
            self.change(ended=True)
            if broken:
                self.job.give_back(self.flight, explain(broken))
        return broken

    def answer(self, result):
        message = self.flight[0]
        status = pb.SolveStatus.Name(result.status).removeprefix("SOLVE_STATUS_")
        board = message.boards.pop(0)
        self.job.answer(message.first, f"{board}\t{status}\t{' '.join(result.solutions)}\n")
        message.first += 1
        self.count += 1
        if not message.boards:
            self.flight.popleft()

    def change(self, **what):
        with self.job.changed:
            vars(self).update(what)
            self.job.changed.notify_all()


def explain(error):
    return f"{error.details()} ({error.code().name})"


def serve(job, server, deadline):
    """Streams to one server, one after the other, until the job is over."""
    wait = 0.05
    while not job.over():
        stream = Stream(job)
        with grpc.insecure_channel(server, options=PINGS) as channel:
            timeout = deadline and max(deadline - time.monotonic(), 0)
            error = stream.run(rpc.SudokuSolverStub(channel), timeout)
        if error and error.code().name in FINAL:
            job.fail(f"{server}: {explain(error)}")
        elif error:
            wait = 0.05 if stream.count else min(2 * wait, 5)
            with job.changed:
                # Up to half of it taken off by chance, so that not all clients come back at once.
                job.changed.wait_for(job.over, timeout=wait * random.uniform(0.5, 1))


def resume(path, boards):
    """How many boards have an answer in the file; cuts off a line that was torn."""
    finished, end = 0, 0
    with open(path, "a+b") as file:
        file.seek(0)
        for line in file:
            if not line.endswith(b"\n"):
                break
            board = next(boards, None)
            if board is None or line.split(b"\t")[0] != board.encode():
                sys.exit(f"{path} does not belong to this input: see its line {finished + 1}")
            finished, end = finished + 1, end + len(line)
        if finished or not os.path.getsize(path):
            file.truncate(end)
        else:
            sys.exit(f"{path} is no file of answers")
    return finished


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", action="append", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--deadline", type=float, metavar="SECONDS")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="SECONDS")
    parser.add_argument("file")
    args = parser.parse_args()
    if os.path.exists(args.out) and not args.resume:
        sys.exit(f"{args.out} is there already; --resume continues it")
    deadline = args.deadline and time.monotonic() + args.deadline
    with open(args.file, encoding="utf-8") as lines:
        boards = (line.strip() for line in lines if line.strip())
        first = resume(args.out, boards)
        with open(args.out, "a", encoding="utf-8") as out:
            job = Job(boards, first, out)
            for server in args.server:
                threading.Thread(target=serve, args=(job, server, deadline), daemon=True).start()
            with job.changed:
                while not job.changed.wait_for(job.over, timeout=0.2):
                    if deadline and time.monotonic() > deadline:
                        job.fail("the deadline of the job passed")
                    elif time.monotonic() - job.progress > args.patience:
                        job.fail(f"no answer for {args.patience} s: {job.last_error}")
                out.flush()
                written, failure = job.written, job.failure
    if failure:
        print(f"boards from {written} on are unanswered: {failure}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
