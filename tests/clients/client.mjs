// A grpc-js client, built from the proto: client.mjs FOLDER_OF_NODE_MODULES ADDRESS

import assert from "node:assert/strict";
import { once } from "node:events";

import { connect, easy, grpc } from "./service.mjs";

const solver = connect();
const clashing = "55" + ".".repeat(79);

const solve = (request) =>
  new Promise((resolve, reject) =>
    solver.solve(request, (error, response) => (error ? reject(error) : resolve(response.result))),
  );

async function solvesOne() {
  const result = await solve({ board: easy[0] });
  assert.equal(result.status, "SOLVE_STATUS_UNIQUE");
  assert.equal(result.solutions.length, 1);
  assert.match(result.solutions[0], /^[1-9]{81}$/);
}

async function namesTheClashes() {
  const { status, clashes } = await solve({ board: clashing });
  assert.equal(status, "SOLVE_STATUS_CLASHING_GIVENS");
  assert.deepEqual(
    clashes.map(({ unit, unitNumber, digit, cells }) => [unit, unitNumber, digit, cells]),
    [
      ["UNIT_KIND_ROW", 1, 5, [0, 1]],
      ["UNIT_KIND_BOX", 1, 5, [0, 1]],
    ],
  );
}

async function refusesWhatIsNoBoard() {
  await assert.rejects(solve({ board: "12345" }), { code: grpc.status.INVALID_ARGUMENT });
}

async function streamsInOrder() {
  const call = solver.solveBatch();
  const statuses = [];
  call.on("data", (response) => {
    assert.equal(response.firstIndex, statuses.length);
    statuses.push(...response.results.map((result) => result.status));
  });
  const ended = once(call, "end");
  for (let round = 0; round < 100; round += 1) {
    if (!call.write({ boards: [...easy, clashing, "12345"] })) await once(call, "drain");
  }
  call.end();
  await ended;
  const oneRound = easy.map(() => "SOLVE_STATUS_UNIQUE");
  oneRound.push("SOLVE_STATUS_CLASHING_GIVENS", "SOLVE_STATUS_MALFORMED");
  assert.deepEqual(statuses, Array(100).fill(oneRound).flat());
}

async function answersBoardByBoard() {
  const call = solver.solveBatch();
  for (let index = 0; index < 3; index += 1) {
    call.write({ boards: [easy[index]], options: { solutionLimit: 1 } });
    const [response] = await once(call, "data");
    assert.equal(response.results[0].status, "SOLVE_STATUS_SOLVED");
  }
  call.on("data", () => assert.fail("one answer too many"));
  call.end();
  await once(call, "end");
}

for (const check of [
  solvesOne,
  namesTheClashes,
  refusesWhatIsNoBoard,
  streamsInOrder,
  answersBoardByBoard,
]) {
  await check();
  console.log("ok", check.name);
}
console.log("all ok");
solver.close();
