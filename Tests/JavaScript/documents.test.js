// The examples of docs/javascript.md run, and print what they say.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder, Relay } from "./support/relay.js";

const project = new URL("../../", import.meta.url);
const document = readFileSync(new URL("docs/javascript.md", project), "utf8");
const examples = [...document.matchAll(/(-->\n)?```javascript\n(.*?)```/gs)].filter(
  ([, comment]) => !comment,
);

test("there are examples", () => assert.ok(examples.length >= 3));

for (const [index, [, , code]] of examples.entries()) {
  test(`example ${index + 1} prints what it says`, async (t) => {
    const relay = await Relay.start(t, "rooms: { requests: true }");
    const path = folder(t);
    const program = code
      .replace(
        /from "\.\//g,
        `from "${new URL("Sources/JavaScript/relay-client/", project).pathname}`,
      )
      .replaceAll("ws://127.0.0.1:8080", relay.url);
    const sockets =
      'import { createRequire } from "node:module";\n' +
      'globalThis.WebSocket ??= createRequire("/")("ws");\n';
    writeFileSync(join(path, "example.mjs"), sockets + program);
    const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], {
      cwd: path,
      timeout: 60_000,
    });
    const said = [...code.matchAll(/\/\/ → (.*)\n/g)].map(([, line]) => `${line}\n`);
    assert.equal(stdout, said.join(""));
  });
}

test("every module is named", () => {
  const files = ["relay", "room", "client", "connection", "session", "shared", "react"];
  for (const file of files) assert.match(document, new RegExp(`\`${file}\\.js\``));
});
