import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { ApiError, Candor, CandorError, ConnectionError, NotFoundError, RateLimitedError, TimeoutError, ValidationError } from "@candor/client";
import { FaultProxy } from "./proxy.js";
import { Service } from "./service.js";

let service: Service;
before(async () => (service = await Service.start()));
after(() => service.stop());

async function people(client: Candor): Promise<number> {
  let count = 0;
  for await (const _person of client.employees.list({ limit: 100 })) count++;
  return count;
}

test("200 creates through faults make 200 rows", { timeout: 120_000 }, async () => {
  const { live } = await service.organization();
  const proxy = await FaultProxy.start(service.url, "mixed");
  const client = new Candor({ apiKey: live.key, baseUrl: proxy.url, timeout: 1000, maxRetries: 10 });
  const numbers = Array.from({ length: 200 }, (_, number) => number);
  const create = async (number: number): Promise<string> => {
    const person = { email: `p${number}@example.com`, first_name: "P", last_name: String(number) };
    return (await client.employees.create(person)).id;
  };
  const workers = Array.from({ length: 20 }, async () => {
    const ids: string[] = [];
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) ids.push(await create(number));
    return ids;
  });
  const ids = new Set((await Promise.all(workers)).flat());
  assert.equal(ids.size, 200);
  assert.equal(await people(new Candor({ apiKey: live.key, baseUrl: service.url })), 200);
  const { counts, keys } = await proxy.report();
  const treatments = ["limited", "none", "reset", "reset_after", "slow_after", "truncated_after", "unavailable"];
  assert.deepEqual(Object.keys(counts).sort(), treatments);
  assert.equal(new Set(keys).size, 200, "each call has one key for all of its attempts");
  await proxy.stop();
});

test("retries end after the given number", async () => {
  const proxy = await FaultProxy.start(service.url, "reset");
  const client = await service.client({ baseUrl: proxy.url, maxRetries: 1 });
  await assert.rejects(client.me.get(), ConnectionError);
  await assert.rejects(client.departments.create({ name: "Sales" }, { maxRetries: 0 }), ConnectionError);
  const { counts, keys } = await proxy.report();
  assert.deepEqual([counts["reset"], keys.length], [3, 1], "also a call without retries has a key");
  await proxy.stop();
});

test("attempt without an answer in time is a timeout", async () => {
  const proxy = await FaultProxy.start(service.url, "slow_after");
  const client = await service.client({ baseUrl: proxy.url, maxRetries: 0, timeout: 200 });
  await assert.rejects(client.me.get(), TimeoutError);
  const controller = new AbortController();
  const call = client.me.get({ signal: controller.signal, timeout: 60_000 });
  controller.abort(new Error("given up"));
  await assert.rejects(call, { message: "given up" });
  await proxy.stop();
});

test("advice of the service overrides the status", async () => {
  let sent = 0;
  const answers = (status: number, advice: string): typeof fetch => async () => {
    sent++;
    const headers = { "candor-should-retry": advice, "content-type": "application/json" };
    return new Response(JSON.stringify({ error: { code: "conflict", message: "m", request_id: "r" } }), { status, headers });
  };
  const options = { apiKey: "cdr_live_x", baseUrl: "http://localhost", maxRetries: 2 };
  await assert.rejects(new Candor({ ...options, fetch: answers(409, "true") }).me.get(), ApiError);
  assert.equal(sent, 3);
  sent = 0;
  await assert.rejects(new Candor({ ...options, fetch: answers(503, "false") }).me.get(), ApiError);
  assert.equal(sent, 1);
});

const LIMITED = {
  error: { code: "rate_limited", message: "m", request_id: "r", details: [{ quota: "write", limit: 1, window_seconds: 60 }] },
};

type PlayedAnswer = [status: number, body: unknown, headers?: Record<string, string> | undefined];

/** A client whose attempts get these answers in turn, the last one for ever, and the requests that it sent. */
function played(...answers: PlayedAnswer[]): [Candor, Request[]] {
  const sent: Request[] = [];
  const answer: typeof fetch = async (url, init) => {
    sent.push(new Request(url, init));
    const [status, body, headers] = answers[Math.min(sent.length, answers.length) - 1]!;
    return new Response(JSON.stringify(body), { status, headers: headers ?? {} });
  };
  return [new Candor({ apiKey: "cdr_live_x", baseUrl: "http://localhost", fetch: answer }), sent];
}

/** Settles a call on a clock that only this function advances. Returns the seconds that it took. */
async function clocked(context: TestContext, call: () => Promise<unknown>): Promise<[unknown, number]> {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  let outcome: unknown;
  let isSettled = false;
  const settle = (value: unknown): void => void ([outcome, isSettled] = [value, true]);
  call().then(settle, settle);
  for (let second = 0; second < 200 && !isSettled; second++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isSettled) context.mock.timers.tick(1000);
  }
  const seconds = Date.now() / 1000;
  context.mock.timers.reset();
  return [outcome, seconds];
}

test("settings of a client are checked at once", () => {
  for (const baseUrl of ["127.0.0.1:8080", "ftp://localhost", "http://", "http://exa mple"]) {
    assert.throws(() => new Candor({ apiKey: "cdr_live_x", baseUrl }), /no URL of a service/);
  }
  const withPassword = { apiKey: "cdr_live_x", baseUrl: "https://ada:secret@localhost" };
  assert.throws(() => new Candor(withPassword), /a user or a password: leave them out/);
  const misspelled = { apiKey: "cdr_live_x", baseUrl: "http://localhost", base_url: "http://localhost" };
  assert.throws(() => new Candor(misspelled), /`base_url` is no option of a client/);
});

test("used-up quota is waited for within its window", async (context) => {
  const [client, sent] = played([429, LIMITED, { "retry-after": "52" }], [200, { data: 1 }]);
  const [answer, seconds] = await clocked(context, () => client.request("POST", "/things", { body: {} }));
  assert.deepEqual(answer, { data: 1 });
  assert.ok(seconds >= 52 && seconds <= 65, `${seconds} s`);
  assert.equal(new Set(sent.map((request) => request.headers.get("idempotency-key"))).size, 1);
  const [again] = played([429, LIMITED, { "retry-after": "40" }]);
  const [refused, spent] = await clocked(context, () => again.request("GET", "/me"));
  assert.ok(refused instanceof RateLimitedError && spent <= 65, "a second wait would pass the window");
});

test("wait beyond the longest one is not begun", async () => {
  const waits: [string, number, number | undefined][] = [["66", 429, undefined], ["31", 503, undefined], ["8", 429, 5000]];
  for (const [after, status, maxWait] of waits) {
    const [client, sent] = played([status, LIMITED, { "retry-after": after }]);
    await assert.rejects(client.request("GET", "/me", { maxWait }), ApiError);
    assert.equal(sent.length, 1, `${status} ${after}`);
  }
});

test("text of an error has its problems and its request", async () => {
  const operations = process.env["CANDOR_TEST_OPERATIONS"];
  const file = operations ? join(dirname(operations), "errors.json") : new URL("../../../errors.json", import.meta.url);
  interface Case {
    name: string;
    status: number;
    headers?: Record<string, string>;
    body: unknown;
    text: string;
  }
  const cases = JSON.parse(readFileSync(file, "utf8")) as Case[];
  assert.ok(cases.length >= 6);
  for (const { name, status, headers, body, text } of cases) {
    const [client] = played([status, body, headers]);
    await assert.rejects(client.request("GET", "/me", { maxRetries: 0 }), { message: text }, name);
  }
});

test("URL without a scheme or host is refused", () => {
  for (const baseUrl of ["localhost:8080", "ftp://example.com", "https://", "http:///v1"]) {
    assert.throws(() => new Candor({ apiKey: "cdr_live_x", baseUrl }), /http:\/\/ or https:\/\//, baseUrl);
  }
});

test("headers of client and call are sent, the key is that of the client", async () => {
  let sent: Request | undefined;
  const answer: typeof fetch = async (url, init) => {
    sent = new Request(url, init);
    return new Response("{}");
  };
  const headers = { "X-Trace": "client", "X-Gate": "a", Authorization: "none" };
  const client = new Candor({ apiKey: "cdr_live_x", baseUrl: "http://localhost", fetch: answer, headers });
  await client.request("PUT", "/v1/things", { body: {}, query: { a: 1 }, headers: { "x-trace": "call" } });
  const names = ["x-trace", "x-gate", "authorization"];
  assert.deepEqual(names.map((name) => sent?.headers.get(name)), ["call", "a", "Bearer cdr_live_x"]);
  assert.deepEqual([sent?.method, sent?.url], ["PUT", "http://localhost/v1/things?a=1"]);
  assert.throws(() => client.request("GET", "things"), CandorError);
});

test("unknown option is refused before a request is sent", async () => {
  const [client, sent] = played([200, {}]);
  const csv = "email,first_name,last_name\n";
  const any = (options: object): never => options as never;
  const calls: (() => Promise<unknown>)[] = [
    () => client.employees.upsert(csv, any({ dryRun: true })),
    () => client.employees.upsert(csv, any({ dry_run: true })),
    () => client.departments.create({ name: "Sales" }, any({ dry_run: true })),
    () => client.departments.create({ name: "Sales" }, any({ ifmatch: "x" })),
    () => client.me.get(any({ dryRun: true })),
    () => client.departments.list(any({ time_out: 1 })).then((page) => page.data),
    () => client.departments.list(any({ filters: {} })).then((page) => page.data),
  ];
  for (const call of calls) await assert.rejects(call(), /is no option of/);
  assert.equal(sent.length, 0);
  await client.dryRun(client.departments.create, { name: "Sales" });
  await client.dryRun(client.employees.upsert, csv, { maxRetries: 0 });
  assert.deepEqual(sent.map((request) => new URL(request.url).search), ["?dry_run=true", "?dry_run=true"]);
});

test("errors have the class of their code and typed details", async () => {
  const client = await service.client();
  await assert.rejects(client.employees.get("emp_01KJPWD6M24DF9HWRAYHFSFV52"), (error) => {
    assert.ok(error instanceof NotFoundError && error.status === 404 && error.code === "not_found");
    assert.match(error.requestId ?? "", /^req_/);
    return true;
  });
  await assert.rejects(client.employees.create({ email: "x", first_name: "", last_name: "B" }), (error) => {
    assert.ok(error instanceof ValidationError);
    assert.deepEqual(error.details.map((detail) => detail.field).sort(), ["email", "first_name"]);
    return true;
  });
});

test("unknown codes, words and members do not break the client", async () => {
  const later = { error: { code: "on_fire", message: "m", request_id: "r", details: [{ heat: 3 }], colour: "red" } };
  const options = { apiKey: "cdr_live_x", baseUrl: "http://localhost" };
  const failing: typeof fetch = async () => new Response(JSON.stringify(later), { status: 418 });
  await assert.rejects(new Candor({ ...options, fetch: failing }).me.get(), (error) => {
    assert.ok(error instanceof ApiError && error.constructor === ApiError && error.code === "on_fire");
    return true;
  });
  const body = JSON.stringify({ id: "obs_1", type: "epiphany", mood: { new: true } });
  const growing: typeof fetch = async () => new Response(body, { status: 200 });
  const observation = await new Candor({ ...options, fetch: growing }).observations.get("obs_1");
  const word: string = observation.type;
  assert.deepEqual([word, observation], ["epiphany", JSON.parse(body)]);
  const html: typeof fetch = async () => new Response("<html>", { status: 500 });
  await assert.rejects(new Candor({ ...options, fetch: html, maxRetries: 0 }).me.get(), ApiError);
});
