import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Candor, type ExportLine, isErasedEvent, isExportRow, type RowData } from "@candor/client";
import { copy, follow } from "../examples/export-replica.js";
import { FaultProxy } from "./proxy.js";
import { Service } from "./service.js";

let service: Service;
before(async () => (service = await Service.start()));
after(() => service.stop());

async function hire(client: Candor, number: number): Promise<string> {
  const person = { email: `p${number}@example.com`, first_name: "P", last_name: String(number) };
  return (await client.employees.create(person)).id;
}

/** Returns a text of a line, whose data is typed by the type of the line. */
function described(line: ExportLine): string {
  switch (line.type) {
    case "header":
      return line.events_cursor;
    case "checkpoint":
      return line.cursor;
    case "end":
      return JSON.stringify(line.counts);
    case "employee":
      return line.data.email;
    case "message":
      return line.data.body;
    default:
      return line.data.id.slice(0, 4);
  }
}

test("type of a line tells its members", async () => {
  const client = await service.client({});
  await hire(client, 1);
  await client.departments.create({ name: "Sales" });
  const texts: string[] = [];
  for await (const line of client.export({ resources: ["employees", "departments"] })) texts.push(described(line));
  assert.deepEqual(texts.slice(1), ["p1@example.com", "dep_", '{"employees":1,"departments":1}']);
  for await (const batch of client.events.changes()) {
    const changed = batch.upserts.map((row) => (row.type === "employee" ? row.data.email : row.type));
    assert.deepEqual(changed, ["p1@example.com", "department"]);
    break;
  }
});

test("rows of later versions are kept, and other lines skipped", async () => {
  const lines = [
    { type: "header", events_cursor: "c", started_at: "", resources: [], api_version: "v1" },
    { type: "progress", percent: 50 },
    { type: "badge", data: { id: "bdg_1", colour: "red" } },
    { type: "end", counts: {} },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const fetch = async (): Promise<Response> => new Response(text);
  const shown: ExportLine[] = [];
  const client = new Candor({ apiKey: "cdr_live_x", baseUrl: "http://localhost", fetch });
  for await (const line of client.export()) shown.push(line);
  assert.deepEqual(shown, [lines[0], lines[2], lines[3]]);
  assert.deepEqual(shown.filter(isExportRow).map((row) => row.data.id), ["bdg_1"]);
});

test("export through faults yields every row once", { timeout: 60_000 }, async () => {
  const { live } = await service.organization();
  const proxy = await FaultProxy.start(service.url, "truncated_after", "unavailable", "reset_after", "none");
  const reader = new Candor({ apiKey: live.key, baseUrl: proxy.url });
  const writer = new Candor({ apiKey: live.key, baseUrl: service.url });
  const hired: string[] = [];
  for (let number = 0; number < 5; number++) hired.push(await hire(writer, number));
  const lines: ExportLine[] = [];
  for await (const line of reader.export({ resources: ["employees"] })) lines.push(line);
  const types = lines.map((line) => line.type);
  assert.deepEqual(types, ["header", "employee", "employee", "employee", "employee", "employee", "end"]);
  const ids = lines.filter(isExportRow).map((line) => line.data.id);
  assert.deepEqual(ids, hired.sort());
  assert.equal((await proxy.report()).counts["truncated_after"], 1);
  await proxy.stop();
});

test("replica of an export equals the data", { timeout: 60_000 }, async () => {
  const client = await service.client({});
  const first = await hire(client, 1);
  const rows = new Map<string, RowData>();
  const position = await copy(client, rows);
  const changed = await client.employees.update(first, { job_title: "Engineer" });
  const controller = new AbortController();
  const following = follow(client, rows, position, controller.signal);
  const isCurrent = (): boolean => JSON.stringify(rows.get(first)).includes(changed.updated_at);
  const end = Date.now() + 20_000;
  while (!isCurrent() && Date.now() < end) await new Promise((done) => setTimeout(done, 10));
  controller.abort();
  await following;
  assert.deepEqual(rows.get(first), await client.employees.get(first));
});

test("replica keeps nothing of an erased person", { timeout: 60_000 }, async () => {
  const client = await service.client({});
  const person = await hire(client, 1);
  const rows = new Map<string, RowData>();
  const position = await copy(client, rows);
  const controller = new AbortController();
  const following = follow(client, rows, position, controller.signal);
  const hasText = (): boolean => JSON.stringify([...rows.values()]).includes("SECRET");
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((done) => setTimeout(done, 10));
  };
  const { id } = await client.observations.create({ employee_id: person, type: "strength", observation: "SECRET of the person" });
  await client.conversations.create({ title: "SECRET, too", participant_ids: [await hire(client, 2), await hire(client, 3)], about: { type: "observation", id } });
  await until(hasText);
  await client.employees.deactivate(person);
  await client.employees.erase(person);
  await until(() => !hasText());
  controller.abort();
  await following;
  assert.match(JSON.stringify(rows.get(person)), /"first_name":"Former"/);
  for await (const event of client.events.follow({ filter: { event: ["erasure.completed"] } })) {
    assert.equal(event.event, "erasure.completed");
    break;
  }
  const erased: string[] = [];
  for await (const event of client.events.list()) if (isErasedEvent(event)) erased.push(event.data.id);
  assert.ok(erased.includes(person));
});
