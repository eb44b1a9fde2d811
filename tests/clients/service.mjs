// What the grpc-js clients begin with: a script FOLDER_OF_NODE_MODULES ADDRESS, and the client built from the proto.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [folder, address] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const loader = require("@grpc/proto-loader");
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const definition = loader.loadSync("sudoku/v1/sudoku.proto", {
  includeDirs: [here("../../proto")],
  enums: String,
  longs: Number,
  defaults: true,
});

export const grpc = require("@grpc/grpc-js");
const { SudokuSolver } = grpc.loadPackageDefinition(definition).sudoku.v1;

export const connect = (options = {}) =>
  new SudokuSolver(address, grpc.credentials.createInsecure(), options);

/** Boards with one solution. */
export const easy = readFileSync(here("../data/easy.txt"), "utf8")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"));
