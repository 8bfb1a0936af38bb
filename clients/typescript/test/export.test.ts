import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Candor, type ExportLine, type RowData } from "@candor/client";
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
  const ids = lines.flatMap((line) => ("data" in line ? [String(line.data["id"])] : []));
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
  const isCurrent = (): boolean => rows.get(first)?.["updated_at"] === changed.updated_at;
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
  await client.observations.create({ employee_id: person, type: "strength", observation: "SECRET of the person" });
  await until(hasText);
  await client.employees.deactivate(person);
  await client.employees.erase(person);
  await until(() => !hasText());
  controller.abort();
  await following;
  assert.equal(rows.get(person)?.["first_name"], "Former");
});
