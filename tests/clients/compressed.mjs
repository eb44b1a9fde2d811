// A grpc-js client that compresses: compressed.mjs FOLDER_OF_NODE_MODULES ADDRESS taken|refused

import assert from "node:assert/strict";
import { once } from "node:events";

import { connect, easy as boards, grpc } from "./service.mjs";

const expected = process.argv[4];
const gzip = connect({
  "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
});
const plain = connect();

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
