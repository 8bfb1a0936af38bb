import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Candor } from "@candor/client";
import { Service } from "./service.js";

interface Step {
  call: string;
  path?: string[];
  body?: object;
  csv?: string;
  query?: object;
  as?: string;
  count?: number;
  wait?: true;
  key?: string;
  /** Status of the error that the call must throw. */
  fails?: number;
}

type Method = (...values: unknown[]) => Promise<unknown>;

const FILE = process.env["CANDOR_TEST_OPERATIONS"] ?? new URL("../../../operations.json", import.meta.url);
const WAIT_MS = 20_000;

let service: Service;
before(async () => (service = await Service.start()));
after(() => service.stop());

/** The value with each `$name.member` replaced by what an earlier step answered. */
function filled(value: unknown, known: Map<string, unknown>): unknown {
  if (typeof value === "string" && value.startsWith("$")) {
    const [name, ...members] = value.slice(1).split(".");
    let found = known.get(name!);
    for (const member of members) found = (found as Record<string, unknown>)[member];
    // The token of an invitation and the code of a portal link are the end of their links.
    return /(accept_url|^\$link\.url)$/.test(value) ? String(found).split(/[=/#]/).at(-1) : found;
  }
  if (Array.isArray(value)) return value.map((entry) => filled(entry, known));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, filled(entry, known)]));
}

const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Every method of every resource, as `resource.method`. */
function operations(client: Candor): string[] {
  const members = (of: object): string[] =>
    Object.getOwnPropertyNames(of).filter((name) => !["constructor", "follow", "changes"].includes(name));
  const root = members(Object.getPrototypeOf(Candor.prototype) as object);
  const resources = Object.entries(client).filter(([name, value]) => name !== "core" && typeof value === "object");
  return [
    ...root,
    ...resources.flatMap(([name, resource]) => {
      const own = Object.getPrototypeOf(resource as object) as object;
      const inherited = Object.getPrototypeOf(own) as object;
      const all = [...members(own), ...(inherited === Object.prototype ? [] : members(inherited))];
      return all.map((method) => `${name}.${method}`);
    }),
  ].sort();
}

async function call(client: Candor, step: Step): Promise<unknown> {
  const [resource, name] = step.call.includes(".") ? step.call.split(".").map(camel) : [undefined, camel(step.call)];
  const target = (resource ? client[resource as keyof Candor] : client) as unknown as Record<string, Method>;
  const values: unknown[] = [...(step.path ?? [])];
  if (step.csv !== undefined) values.push(step.csv);
  if (step.body !== undefined) values.push(step.body);
  if (step.query !== undefined) values.push(step.query);
  const answer = await target[name!]!(...values);
  return isPage(answer) ? answer.data : answer;
}

function isPage(answer: unknown): answer is { data: unknown[] } {
  return typeof answer === "object" && answer !== null && "nextCursor" in answer;
}

test("every operation of the service is called", { timeout: 120_000 }, async () => {
  const client = await service.client({ maxRetries: 0 });
  const steps = JSON.parse(readFileSync(FILE, "utf8")) as Step[];
  const known = new Map<string, unknown>();
  for (const raw of steps) {
    const step = filled(raw, known) as Step;
    const used = step.key ? new Candor({ apiKey: step.key, baseUrl: service.url }) : client;
    if (step.fails !== undefined) {
      await assert.rejects(call(used, step), { status: step.fails }, step.call);
      continue;
    }
    let answer: unknown;
    try {
      answer = await call(used, step);
      const begun = Date.now();
      while (step.wait && (answer as unknown[]).length === 0 && Date.now() - begun < WAIT_MS) {
        answer = await call(used, step);
      }
    } catch (error) {
      const details = JSON.stringify((error as { details?: unknown }).details);
      assert.fail(`${step.call} ${JSON.stringify(step)}: ${(error as Error).message} ${details}`);
    }
    if (step.count !== undefined) assert.equal((answer as unknown[]).length, step.count, step.call);
    if (step.as) known.set(step.as, answer);
  }
  const called = new Set(steps.map((step) => step.call.split(".").map(camel).join(".")));
  assert.deepEqual(operations(client).filter((name) => !called.has(name)), []);
});

test("every page of a list is read", async () => {
  const client = await service.client();
  for (let number = 0; number < 7; number++) await client.departments.create({ name: `D${number}` });
  const names: string[] = [];
  for await (const department of client.departments.list({ limit: 3, sort: "name" })) names.push(department.name);
  assert.deepEqual(names, ["D0", "D1", "D2", "D3", "D4", "D5", "D6"]);
  const first = await client.departments.list({ limit: 3, sort: "name" });
  const rest = await client.departments.list({ limit: 10, sort: "name", cursor: first.nextCursor! });
  assert.deepEqual([first.data.length, first.hasMore, rest.data.length, rest.hasMore], [3, true, 4, false]);
  assert.match(first.answer.requestId ?? "", /^req_/);
});

test("answers carry request id, quota and version beside the body", async () => {
  const client = await service.client();
  const created = await client.departments.create({ name: "Sales" }, { idempotencyKey: "k" }).withResponse();
  assert.deepEqual([created.status, created.data.name, created.replayed, created.retries], [201, "Sales", false, 0]);
  assert.ok(created.rateLimit!.limit > created.rateLimit!.remaining && created.etag);
  const again = await client.departments.create({ name: "Sales" }, { idempotencyKey: "k" }).withResponse();
  assert.deepEqual([again.replayed, again.data.id], [true, created.data.id]);
  const read = client.departments.get(created.data.id, { ifNoneMatch: created.etag });
  await assert.rejects(read, { name: "NotModifiedError" });
  const stale = client.departments.update(created.data.id, { name: "S" }, { ifMatch: '"0"' });
  await assert.rejects(stale, { name: "ConflictError", status: 412 });
});

test("dry run has the effects of a call and changes nothing", async () => {
  const client = await service.client();
  const body = { email: "dry@example.com", first_name: "Dry", last_name: "Run" };
  const effects = await client.employees.create(body, { dryRun: true });
  assert.deepEqual([effects.status, effects.data.id, effects.data.email], [201, null, "dry@example.com"]);
  assert.deepEqual(effects.events, ["employee.created"]);
  const { id } = await client.employees.create(body);
  const update = await client.employees.update(id, { first_name: "Wet" }, { dryRun: true });
  assert.deepEqual(update.changes["first_name"], { from: "Dry", to: "Wet" });
  assert.equal((await client.employees.get(id)).first_name, "Dry");
  await assert.rejects(client.employees.create(body, { dryRun: true }), { name: "ConflictError", status: 409 });
});

test("member that is left out and null are different", async () => {
  const client = await service.client();
  const person = { email: "a@example.com", first_name: "A", last_name: "B", job_title: "Engineer" };
  const { id } = await client.employees.create(person);
  assert.equal((await client.employees.update(id, { first_name: "C" })).job_title, "Engineer");
  assert.equal((await client.employees.update(id, { job_title: null })).job_title, null);
});

test("settings are checked, and addresses completed", async () => {
  const { live } = await service.organization();
  for (const baseUrl of [service.url, `${service.url}/`, `${service.url}/v1`, `${service.url}/v1/`]) {
    const entries: object[] = [];
    const client = new Candor({ apiKey: live.key, baseUrl, environment: "live", log: (entry) => entries.push(entry) });
    assert.equal((await client.me.get()).environment, "live");
    assert.equal(entries.length, 1);
    assert.ok(!JSON.stringify(entries).includes(live.key));
  }
  assert.throws(() => new Candor({ apiKey: live.key, baseUrl: service.url, environment: "test" }), /not a test key/);
  assert.throws(() => new Candor({ apiKey: "", baseUrl: "" }), /No API key/);
});
