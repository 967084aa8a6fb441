#!/usr/bin/env node
// Runs the program of claude-mem for this platform, which npm has installed beside this package.
const { spawnSync } = require("child_process");
const { name } = require("./package.json");
const program = process.platform === "win32" ? "claude-mem.exe" : "claude-mem";
let path;
try {
  path = require.resolve(`${name}-${process.platform}-${process.arch}/bin/${program}`);
} catch {
  console.error(`claude-mem: there is no program for ${process.platform} on ${process.arch}, or npm was told to leave optional packages out`);
  process.exit(1);
}
const done = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
if (done.error) console.error(`claude-mem: ${done.error.message}`);
process.exit(done.status ?? 1);
