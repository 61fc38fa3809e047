// The library as a whole: its size, its types, and that it needs nothing.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const library = fileURLToPath(new URL("../../Sources/JavaScript/relay-client/", import.meta.url));
const modules = readdirSync(library).filter((name) => name.endsWith(".js"));

/** What a program downloads that imports a module, minified and compressed. */
function size(name) {
  const optional = ["./stream.js", "./poll.js", "node:crypto"].map((name) => `--external:${name}`);
  const bundle = execFileSync(
    "esbuild",
    ["--bundle", "--minify", "--format=esm", "--target=es2022", ...optional, `${library}${name}`],
    { maxBuffer: 2 ** 24, stdio: ["ignore", "pipe", "ignore"] },
  );
  return gzipSync(bundle, { level: 9 }).length;
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

test("it is small", (t) => {
  const sizes = { "client.js": 8 * 1024, "relay-client.js": 12 * 1024, "shared.js": 14 * 1024 };
  for (const [name, limit] of Object.entries(sizes)) {
    const bytes = size(name);
    t.diagnostic(`${name}: ${bytes} bytes`);
    assert.ok(bytes <= limit, `${name} has ${bytes} bytes`);
  }
});

test("each module can be read in one sitting", () => {
  for (const name of modules) {
    const lines = readFileSync(library + name, "utf8").split("\n");
    assert.ok(lines.length <= 400, `${name} has ${lines.length} lines`);
  }
});
