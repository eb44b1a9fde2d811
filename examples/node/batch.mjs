#!/usr/bin/env node
// Solves a file of boards, one a line, by several servers, and loses none when one of them dies.
//
//   npm install @grpc/grpc-js @grpc/proto-loader
//   node examples/node/batch.mjs --server 127.0.0.1:50051 --server 127.0.0.1:50052 \
//     --out answers.tsv --resume boards.txt
//
// Writes one line a board, in order: the board, its status and its solutions, parted by tabs. The
// same command goes on where the file ends. Exits with 3 when boards are unanswered; the file ends
// before the first of them. docs/clients.md says why sending a board twice is safe.

import { createReadStream, existsSync, openSync, statSync, truncateSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import readline from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const require = createRequire(`${process.env.NODE_MODULES_FOLDER ?? process.cwd()}/`);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const MESSAGE = 256; // boards
const WINDOW = 16; // messages that one stream may owe answers for
const AHEAD = 256; // messages that may be answered before one that comes before them
const ATTEMPTS = 5; // how often a message is sent; only breaks count that it was the first to be hit by
const { UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED, INVALID_ARGUMENT } = grpc.status;
const FINAL = new Set([UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED, INVALID_ARGUMENT]);
// A server that stopped without closing its connections is found out by pings.
const PINGS = { "grpc.keepalive_time_ms": 5000, "grpc.keepalive_timeout_ms": 5000 };

const proto = fileURLToPath(new URL("../../proto/sudoku/v1/sudoku.proto", import.meta.url));
const definition = loader.loadSync(proto, { enums: String, longs: Number, defaults: true });
const { SudokuSolver } = grpc.loadPackageDefinition(definition).sudoku.v1;
const explain = (error) => `${error.details} (${grpc.status[error.code]})`;

/** What is waiting, what is answered, and what was written. */
class Job {
  constructor(lines, first, out) {
    Object.assign(this, { lines, out, next: first, written: first, answers: new Map(), again: [] });
    Object.assign(this, { fed: false, failure: null, progress: Date.now(), lastError: "nothing came" });
    this.waiting = new Set();
  }

  over() {
    return this.failure !== null || (this.fed && this.written === this.next);
  }

  /** Resolves when something has changed. */
  changed() {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  change() {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  fail(reason) {
    this.failure ??= reason;
    this.change();
  }

  /** Puts the next message into the flight of a stream, the earliest first; null when it is to end. */
  async take(stream) {
    while (!this.over() && !stream.ended) {
      const room = stream.open && stream.flight.length < WINDOW;
      const ahead = this.next - this.written >= AHEAD * MESSAGE;
      if (room && this.again.length > 0) {
        this.again.sort((one, other) => one.first - other.first);
        stream.flight.push(this.again.shift());
        return stream.flight.at(-1);
      }
      if (room && !this.fed && !ahead && !this.reading) await this.read();
      else await this.changed();
    }
    return null;
  }

  /** Reads a message, for whoever has room for it then. */
  async read() {
    this.reading = true;
    const boards = [];
    while (boards.length < MESSAGE && !this.fed) {
      const { value, done } = await this.lines.next();
      if (done) this.fed = true;
      else if (value.trim()) boards.push(value.trim());
    }
    if (boards.length > 0) this.again.push({ first: this.next, boards, attempts: 0 });
    this.next += boards.length;
    this.reading = false;
    this.change();
  }

  answer(index, line) {
    this.answers.set(index, line);
    this.progress = Date.now();
  }

  /** Writes what is answered, in order. */
  write() {
    let lines = "";
    for (let line; (line = this.answers.get(this.written)) !== undefined; this.written += 1) {
      this.answers.delete(this.written);
      lines += line;
    }
    if (lines) writeSync(this.out, lines);
  }

  /** The stream broke: what it owes is sent again, by whoever has room. */
  giveBack(flight, error) {
    this.lastError = error;
    if (flight.length > 0 && ++flight[0].attempts >= ATTEMPTS) {
      this.fail(`board ${flight[0].first} was sent ${ATTEMPTS} times in vain: ${error}`);
    }
    this.again.push(...flight);
  }
}

/** Runs one stream to its end: how much it answered, and why it broke, if it did. */
async function run(job, client, deadline) {
  const stream = { flight: [], open: false, ended: false, count: 0 };
  const call = client.solveBatch(new grpc.Metadata(), { deadline });
  // Not a board is risked before the server has taken the call.
  call.on("metadata", () => {
    stream.open = true;
    job.change();
  });
  call.on("data", ({ results }) => {
    for (const { status, solutions } of results) {
      const message = stream.flight[0];
      const name = status.replace("SOLVE_STATUS_", "");
      job.answer(message.first, `${message.boards.shift()}\t${name}\t${solutions.join(" ")}\n`);
      message.first += 1;
      stream.count += 1;
      if (message.boards.length === 0) stream.flight.shift();
    }
    job.write();
    job.change();
  });
  const ended = new Promise((resolve) => {
    call.on("error", resolve);
    call.on("status", ({ code }) => code === grpc.status.OK && resolve(null));
  }).then((error) => {
    stream.ended = true;
    if (error) job.giveBack(stream.flight, explain(error));
    job.change();
    return error;
  });
  for (let message; (message = await job.take(stream)) !== null; ) {
    // A copy: what is answered is taken out of the message.
    call.write({ boards: [...message.boards] });
  }
  // The server shall see that the job was finished, if it is there to see it.
  if (stream.open && !job.failure) call.end();
  else if (!stream.ended) call.cancel();
  if (job.over()) setTimeout(() => call.cancel(), 1000).unref();
  return { count: stream.count, error: await ended };
}

/** Streams to one server, one after the other, until the job is over. */
async function serve(job, server, deadline) {
  let wait = 50;
  while (!job.over()) {
    const client = new SudokuSolver(server, grpc.credentials.createInsecure(), PINGS);
    const { count, error } = await run(job, client, deadline);
    client.close();
    if (error && !job.over() && FINAL.has(error.code)) job.fail(`${server}: ${explain(error)}`);
    if (error === null || job.over()) continue;
    wait = count > 0 ? 50 : Math.min(2 * wait, 5000);
    // Up to half of it taken off by chance, so that not all clients come back at once.
    await Promise.race([sleep(wait * (0.5 + Math.random() / 2)), ended(job)]);
  }
}

async function ended(job) {
  while (!job.over()) await job.changed();
}

const exit = (code, text) => {
  console.error(text);
  process.exit(code);
};

/** How many boards have an answer in the file; cuts off a line that was torn. */
async function resume(path, lines) {
  let [finished, end] = [0, 0];
  const size = existsSync(path) ? statSync(path).size : 0;
  if (size === 0) return 0;
  for await (const line of readline.createInterface({ input: createReadStream(path) })) {
    const bytes = Buffer.byteLength(line) + 1;
    if (end + bytes > size) break;
    let board = "";
    for (let read; !board && !(read = await lines.next()).done; ) board = read.value.trim();
    if (!board || line.split("\t")[0] !== board) {
      exit(1, `${path} does not belong to this input: see its line ${finished + 1}`);
    }
    finished += 1;
    end += bytes;
  }
  if (finished === 0) exit(1, `${path} is no file of answers`);
  truncateSync(path, end);
  return finished;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: "string", multiple: true },
    out: { type: "string" },
    resume: { type: "boolean" },
    deadline: { type: "string", default: "Infinity" }, // seconds
    patience: { type: "string", default: "60" }, // seconds without any answer
  },
});
if (!values.server || !values.out || positionals.length !== 1) {
  exit(2, "usage: batch.mjs --server HOST:PORT... --out FILE [--resume] FILE");
}
if (existsSync(values.out) && !values.resume) {
  exit(1, `${values.out} is there already; --resume continues it`);
}
const lines = readline
  .createInterface({ input: createReadStream(positionals[0]) })
  [Symbol.asyncIterator]();
const first = await resume(values.out, lines);
const job = new Job(lines, first, openSync(values.out, "a"));
const until = Date.now() + 1000 * Number(values.deadline);
const watch = setInterval(() => {
  if (Date.now() > until) job.fail("the deadline of the job passed");
  if (Date.now() > job.progress + 1000 * Number(values.patience)) {
    job.fail(`no answer for ${values.patience} s: ${job.lastError}`);
  }
}, 200);
await Promise.all(values.server.map((server) => serve(job, server, until)));
clearInterval(watch);
if (job.failure) exit(3, `boards from ${job.written} on are unanswered: ${job.failure}`);
