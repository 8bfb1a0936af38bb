import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Candor, type CsvReport } from "@candor/client";
import { joined, split } from "../src/csv.js";

interface Table {
  splits: { name: string; file: string; rows: number; bytes?: number; duplicates: number; parts: unknown[] }[];
  report: { file: string; rows: number; answers: CsvReport[]; joined: CsvReport };
}

const OPERATIONS = process.env["CANDOR_TEST_OPERATIONS"];
const FILE = OPERATIONS ? join(dirname(OPERATIONS), "csv.json") : new URL("../../../csv.json", import.meta.url);
const TABLE = JSON.parse(readFileSync(FILE, "utf8")) as Table;

test("files are divided by the rules of the table", () => {
  assert.ok(TABLE.splits.length >= 5);
  for (const { name, file, rows, bytes, parts, duplicates } of TABLE.splits) {
    assert.deepEqual(split(file, rows, bytes), { parts, duplicates }, name);
  }
});

test("report has the row numbers of the whole file", () => {
  const { file, rows, answers, joined: wanted } = TABLE.report;
  const { parts, duplicates } = split(file, rows);
  assert.deepEqual(joined(parts, answers, duplicates), wanted);
});

test("file that cannot be divided is sent as it is", () => {
  const rows = "x\n".repeat(3);
  for (const start of ['email\n"a', "name\n", "email\nb\rc\n", `email\n${",".repeat(500)}\n`]) {
    const { parts } = split(start + rows, 2);
    assert.deepEqual(parts.map((part) => part.text), [start + rows]);
  }
});

test("import of a long file is sent in parts with keys of their own", async () => {
  const keys: (string | null)[] = [];
  const sizes: number[] = [];
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    keys.push(new Headers(init?.headers).get("idempotency-key"));
    sizes.push(String(init?.body).split("\n").length - 2);
    const data = { created: sizes.at(-1), updated: 0, deactivated: 0, skipped: 0, errors: [] };
    return new Response(JSON.stringify({ data }));
  };
  const client = new Candor({ apiKey: "cdr_live_x", baseUrl: "http://localhost", fetch });
  const rows = Array.from({ length: 10_001 }, (_, number) => `p${number}@example.com\n`);
  const file = new TextEncoder().encode(`email\n${rows.join("")}`);
  const report = await client.employees.importCsv(file, { idempotencyKey: "k" });
  await client.employees.importCsv("email\na@example.com\n", { idempotencyKey: "k", empty: "clear" });
  assert.deepEqual([report.data.created, sizes, keys], [10_001, [10_000, 1, 1], ["k-1", "k-2", "k"]]);
  await assert.rejects(client.employees.importCsv(new Uint8Array([255])), /UTF-8/);
});
