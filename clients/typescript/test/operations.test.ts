import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Candor, type LogEntry, resources } from "@candor/client";
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
/** Writes that have no dry run. */
const WITHOUT_DRY_RUN = [
  "employees.invite",
  "identity_providers.check",
  "invitations.accept",
  "portal_links.exchange",
  "sign_in.begin",
  "sign_in.end",
  "test_data.reset",
  "webhooks.redeliver",
  "webhooks.replay_events",
  "webhooks.test",
];

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
  const methods = (of: object): string[] =>
    Object.entries(of).flatMap(([name, value]) => (typeof value === "function" && name !== "importCsv" ? [name] : []));
  const resources = Object.entries(client).filter(([, value]) => typeof value === "object");
  const ofResources = resources.flatMap(([name, resource]) =>
    methods(resource as object).map((method) => `${name}.${method}`),
  );
  return [...methods(client), ...ofResources].sort();
}

/** The method that a step names, and its arguments. */
function bound(client: Candor, step: Step): [Method, unknown[]] {
  const [resource, name] = step.call.includes(".") ? step.call.split(".").map(camel) : [undefined, camel(step.call)];
  const target = (resource ? client[resource as keyof Candor] : client) as unknown as Record<string, Method>;
  const values: unknown[] = [...(step.path ?? [])];
  if (step.csv !== undefined) values.push(step.csv);
  if (step.body !== undefined) values.push(step.body);
  if (step.query !== undefined) values.push(step.query);
  return [target[name!]!, values];
}

async function call(client: Candor, step: Step): Promise<unknown> {
  const [method, values] = bound(client, step);
  const answer = await method(...values);
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

/** The id of the last write of a key, by the audit log. */
async function newest(client: Candor, key: string): Promise<string | undefined> {
  return (await client.auditLog.list({ filter: { actor_id: key }, limit: 1 })).data[0]?.id;
}

test("dry run of every write changes nothing", { timeout: 120_000 }, async () => {
  const methods: string[] = [];
  const log = (entry: LogEntry): void => void methods.push(entry.method);
  const client = await service.client({ maxRetries: 0, log });
  const known = new Map<string, unknown>();
  const without = new Set<string>();
  const states = new Set<string | undefined>();
  const { key_id: own } = await client.me.get();
  for (const raw of JSON.parse(readFileSync(FILE, "utf8")) as Step[]) {
    const step = filled(raw, known) as Step;
    const used = step.key ? new Candor({ apiKey: step.key, baseUrl: service.url, log }) : client;
    const [method, values] = bound(used, step);
    const before = await newest(client, own);
    states.add(before);
    const preview = used.dryRun(method as () => Promise<never>, ...(values as []));
    const failure: unknown = await preview.then(() => undefined, (error: unknown) => error);
    const isRefused = /no dry run/.test(String(failure));
    const isExpected = (failure as { status?: number } | undefined)?.status === step.fails;
    assert.ok(isRefused || isExpected, `${step.call}: ${String(failure)}`);
    assert.equal(await newest(client, own), before, step.call);
    let answer: unknown = await call(used, step).catch((error: unknown) => {
      if ((error as { status?: number }).status !== step.fails) throw error;
    });
    while (step.wait && (answer as unknown[]).length === 0) answer = await call(used, step);
    const isRead = methods.at(-1) === "GET";
    if (isRefused && !isRead) without.add(step.call);
    assert.ok(isRefused || !isRead, step.call);
    if (step.as) known.set(step.as, answer);
  }
  assert.deepEqual([...without].sort(), WITHOUT_DRY_RUN);
  assert.ok(states.size > 60, "the log has the real writes");
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
  assert.match(first.response.requestId ?? "", /^req_/);
});

test("responses carry request id, quota and version beside the body", async () => {
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
  const effects = await client.dryRun(client.employees.create, body);
  assert.deepEqual([effects.status, effects.data.id, effects.data.email], [201, null, "dry@example.com"]);
  assert.deepEqual(effects.events, ["employee.created"]);
  const { id } = await client.employees.create(body);
  const update = await client.dryRun(client.employees.update, id, { first_name: "Wet" });
  assert.deepEqual(update.changes["first_name"], { from: "Dry", to: "Wet" });
  assert.equal((await client.employees.get(id)).first_name, "Dry");
  await assert.rejects(client.dryRun(client.employees.create, body), { name: "ConflictError", status: 409 });
  const csv = "email,first_name,last_name\nnew@example.com,New,Person\n";
  const reports = [
    await client.dryRun(client.employees.upsert, csv, { maxRetries: 0 }),
    await client.dryRun(client.employees.importCsv, csv),
  ];
  for (const report of reports) assert.deepEqual([report.data.created, report.plan?.[0]?.action], [1, "create"]);
  assert.equal((await client.employees.list()).data.length, 1);
});

test("dry run takes only methods of its client that write", async () => {
  const client = await service.client();
  const other = await service.client();
  const body = { name: "Sales" };
  const methods: unknown[] = [other.departments.create, client.departments.create.bind(null), client.request];
  for (const method of methods) {
    assert.throws(() => client.dryRun(method as typeof client.departments.create, body), /method of this client/);
  }
  await assert.rejects(client.dryRun(client.departments.list), /no dry run/);
  assert.deepEqual((await client.departments.list()).data, []);
});

test("parameters and options of a call are one object, and classes can be named", async () => {
  const client = await service.client();
  const departments: resources.Departments = client.departments;
  const { id } = await departments.create({ name: "Sales" });
  const { create } = client.employees;
  const person = await create({ email: "a@example.com", first_name: "A", last_name: "B", department_id: id });
  const read = await client.employees.get(person.id, { expand: ["department"], timeout: 5000 });
  assert.equal(read.department?.name, "Sales");
  const response = await client.employees.get(person.id).withResponse();
  const same = client.employees.get(person.id, { ifNoneMatch: response.etag });
  await assert.rejects(same, { name: "NotModifiedError" });
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
