// Builds the package in both module formats: `dist/esm` and `dist/cjs`.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
const tsc = ["node_modules/typescript/bin/tsc", "--project", "tsconfig.json", "--outDir"];
execFileSync(process.execPath, [...tsc, "dist/esm"], { stdio: "inherit" });
execFileSync(process.execPath, [...tsc, "dist/cjs", "--module", "CommonJS", "--moduleResolution", "Node10"], {
  stdio: "inherit",
});
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
writeFileSync("dist/esm/package.json", '{ "type": "module" }\n');
