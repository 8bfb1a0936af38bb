import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ApiError, Candor, ConnectionError, NotFoundError, RateLimitedError, TimeoutError, ValidationError } from "@candor/client";
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

test("wait beyond the budget of a call is not begun", async () => {
  const headers = { "retry-after": "60" };
  const limited: typeof fetch = async () =>
    new Response('{"error": {"code": "rate_limited", "message": "m", "request_id": "r"}}', { status: 429, headers });
  const client = new Candor({ apiKey: "cdr_live_x", baseUrl: "http://localhost", fetch: limited });
  await assert.rejects(client.me.get(), (error) => error instanceof RateLimitedError && error.retryAfter === 60);
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
