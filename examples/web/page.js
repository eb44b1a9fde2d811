// Solves boards from a page, by gRPC-Web. README.md says how it is built and served.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { BadRequestSchema } from "./gen/error_details_pb.js";
import { SolveStatus, SudokuSolver } from "./gen/sudoku/v1/sudoku_pb.js";

// Browsers cannot go on sending while they read. To them a batch is one message, of up to 49,152 boards,
// and a stream of answers.
const OneMessage = {
  ...SudokuSolver,
  methods: SudokuSolver.methods.map((method) =>
    method.methodKind === "bidi_streaming" ? { ...method, methodKind: "server_streaming" } : method,
  ),
};

/** A line of what was found: the status, and the first solution if there is one. */
const line = (result) => [SolveStatus[result.status], ...result.solutions.slice(0, 1)].join(" ");

async function solveOne(solver, boards, options) {
  const { result } = await solver.solve({ board: boards[0] }, options);
  return line(result);
}

async function solveAll(solver, boards, options) {
  const lines = [];
  for await (const { results } of solver.solveBatch({ boards }, options)) lines.push(...results.map(line));
  return lines.join("\n");
}

/** The code of an error and its text; and, where a field of the request is wrong, which. */
function explain(error) {
  const { code, rawMessage } = ConnectError.from(error);
  const wrong = ConnectError.from(error).findDetails(BadRequestSchema);
  const fields = wrong.flatMap(({ fieldViolations }) => fieldViolations.map(({ field }) => field));
  return [`${Code[code]}: ${rawMessage}`, ...fields.map((field) => `wrong field: ${field}`)].join("\n");
}

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { server, token, boards } = Object.fromEntries(new FormData(event.target));
  const output = document.getElementById("output");
  output.textContent = "...";
  const solver = createClient(OneMessage, createGrpcWebTransport({ baseUrl: server }));
  const options = { timeoutMs: 10_000, headers: token ? { authorization: `Bearer ${token}` } : {} };
  const solve = event.submitter.value === "all" ? solveAll : solveOne;
  try {
    output.textContent = await solve(solver, boards.trim().split("\n"), options);
    output.className = "";
  } catch (error) {
    output.textContent = explain(error);
    output.className = "error";
  }
});
