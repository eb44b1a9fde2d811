// The page of examples/web in headless Chromium, from two origins of which the server knows the first:
// browser.mjs FOLDER_OF_NODE_MODULES NAMED_ORIGIN OTHER_ORIGIN SERVER TOKEN

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [folder, named, other, server, token] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/`)("playwright-core");
const read = (path) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const easy = read("../data/easy.txt")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"));

/** Fills the form in, presses a button, and returns what the page then says. */
async function ask(page, { boards, button = "Solve the first", token: sent = token }) {
  await page.fill("[name=server]", server);
  await page.fill("[name=token]", sent);
  // Not typed, as the others are: a long text would take minutes.
  await page.locator("[name=boards]").evaluate((input, text) => (input.value = text), boards.join("\n"));
  await page.click(`text=${button}`);
  const output = page.locator("#output", { hasNotText: /^(\.\.\.)?$/ });
  return output.innerText();
}

async function solvesABoard(page) {
  assert.match(await ask(page, { boards: easy }), /^UNIQUE [1-9]{81}$/);
}

async function solvesManyInOneMessage(page) {
  const boards = [...Array(200).fill(easy).flat(), "12345"];
  const lines = (await ask(page, { boards, button: "Solve all" })).split("\n");
  assert.equal(lines.length, boards.length);
  assert.ok(lines.slice(0, -1).every((line) => /^UNIQUE [1-9]{81}$/.test(line)));
  assert.equal(lines.at(-1), "MALFORMED");
}

async function readsWhatIsWrong(page) {
  const said = await ask(page, { boards: [easy[0].replace(".", "!")] });
  assert.match(said, /^InvalidArgument: board: .*'!'/);
  assert.match(said, /wrong field: board$/);
}

async function readsThatATokenIsWrong(page) {
  assert.match(await ask(page, { boards: easy, token: "" }), /^Unauthenticated: this server asks for a token/);
  assert.match(await ask(page, { boards: easy, token: "guess" }), /^Unauthenticated: the token/);
}

async function readsThatAMessageIsTooLong(page) {
  const said = await ask(page, { boards: [".".repeat(5 << 20)] });
  assert.match(said, /^ResourceExhausted: the message is longer than 4194304 bytes/);
}

const browser = await chromium.launch({
  executablePath: execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim(),
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(named);
  for (const check of [
    solvesABoard,
    solvesManyInOneMessage,
    readsWhatIsWrong,
    readsThatATokenIsWrong,
    readsThatAMessageIsTooLong,
    solvesABoard,
  ]) {
    await check(page);
    console.log("ok", check.name);
  }
  // The browser says why to its console only; to the page, that there was no answer.
  const reasons = [];
  page.on("console", (message) => reasons.push(message.text()));
  await page.goto(other);
  assert.match(await ask(page, { boards: easy }), /^Unknown: Failed to fetch/);
  assert.match(reasons.join("\n"), /blocked by CORS policy/);
  console.log("ok otherOriginsAreRefused");
} finally {
  await browser.close();
}
console.log("all ok");
