// A grpc-js client that compresses: compressed.mjs FOLDER_OF_NODE_MODULES ADDRESS taken|refused

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [folder, address, expected] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const definition = loader.loadSync("sudoku/v1/sudoku.proto", {
  includeDirs: [here("../../proto")],
  enums: String,
  longs: Number,
  defaults: true,
});
const { SudokuSolver } = grpc.loadPackageDefinition(definition).sudoku.v1;
const boards = readFileSync(here("../data/easy.txt"), "utf8")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"));

const connect = (options) =>
  new SudokuSolver(address, grpc.credentials.createInsecure(), options);
const gzip = connect({
  "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
});
const plain = connect({});

async function answers(solver) {
  const one = await new Promise((resolve, reject) =>
    solver.solve({ board: boards[0] }, (error, response) =>
      error ? reject(error) : resolve(response.result),
    ),
  );
  const call = solver.solveBatch();
  const results = [one];
  call.on("data", (response) => results.push(...response.results));
  const ended = once(call, "end");
  for (let round = 0; round < 20; round += 1) call.write({ boards });
  call.end();
  await ended;
  assert.equal(results.length, 1 + 20 * boards.length);
  return results.map(({ status, solutions }) => [status, solutions]);
}

async function refused(solver) {
  const unary = new Promise((resolve) => solver.solve({ board: boards[0] }, resolve));
  const call = solver.solveBatch();
  call.on("data", () => assert.fail("accepted"));
  const batch = once(call, "error");
  call.end({ boards });
  for (const error of [await unary, (await batch)[0]]) {
    assert.equal(error.code, grpc.status.UNIMPLEMENTED);
    assert.match(error.details, /--compression of the server is off/);
  }
}

if (expected === "taken") {
  assert.deepEqual(await answers(gzip), await answers(plain));
} else {
  await refused(gzip);
  await answers(plain);
}
console.log("all ok");
gzip.close();
plain.close();
