#!/usr/bin/env node
// Runs the binary of the platform package that npm installed beside this package.
"use strict";
const { spawn } = require("node:child_process");

// Returns the C library of this machine: Node.js reports a version only for glibc.
function libc() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl";
}

function packageName() {
  const { platform, arch } = process;
  return `@candor/${platform}-${arch}${platform === "linux" ? `-${libc()}` : ""}`;
}

function findBinary(name) {
  try {
    return require.resolve(`${name}/candor`);
  } catch {
    console.error(
      `cannot start candor: the package ${name} is not installed. ` +
        "Install candor with its optional dependencies, on Linux or macOS (x64 or arm64).",
    );
    process.exit(1);
  }
}

const child = spawn(findBinary(packageName()), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`cannot start candor: ${error.message}`);
  process.exit(1);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // A terminal sends SIGINT to both processes, and a second one would end the drain delay of the service.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
