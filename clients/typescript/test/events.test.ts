import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import {
  Candor,
  type DeliveredEvent,
  type Employee,
  type Event,
  WebhookVerificationError,
  isErasedEvent,
  isKnownEvent,
  isThinEvent,
  webhooks,
} from "@candor/client";
import { getRequestListener } from "@hono/node-server";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { receiver as express } from "../examples/express.js";
import { receiver as hono } from "../examples/hono.js";
import { replicate } from "../examples/replica.js";
import { FaultProxy } from "./proxy.js";
import { Service } from "./service.js";

const PACKAGE = new URL("../../", import.meta.url);

let service: Service;
before(async () => (service = await Service.start()));
after(() => service.stop());

/** Returns a text of the data of an event, which is typed by the type of the event. */
function described(event: Event): string {
  switch (event.event) {
    case "employee.created":
      return event.data.email;
    case "observation.archived":
      return event.data.observation;
    case "test.ping":
      return event.data.message;
    default:
      return event.event;
  }
}

/** Returns a text, the URL or the id of a delivery, whichever it has. */
function delivered(event: DeliveredEvent): string {
  if (isThinEvent(event)) return event.data.url;
  return isErasedEvent(event) ? event.data.id : described(event);
}

async function hire(client: Candor, number: number): Promise<string> {
  const email = `p${number}@example.com`;
  await client.employees.create({ email, first_name: "P", last_name: String(number) });
  return email;
}

test("follow yields every event once, in order, through faults", { timeout: 60_000 }, async () => {
  const { live } = await service.organization();
  const proxy = await FaultProxy.start(service.url, "none", "reset_after", "none");
  const follower = new Candor({ apiKey: live.key, baseUrl: proxy.url });
  const writer = new Candor({ apiKey: live.key, baseUrl: service.url });
  const expected: string[] = [];
  const seen: string[] = [];
  const cursors: [number, string][] = [];
  const writing = (async () => {
    for (let number = 0; number < 130; number++) expected.push(await hire(writer, number));
  })();
  const filter = { event: ["employee.created" as const] };
  const onCursor = (cursor: string): void => void cursors.push([seen.length, cursor]);
  for await (const event of follower.events.follow({ filter, onCursor })) {
    seen.push(described(event));
    if (seen.length === 130) break;
  }
  await writing;
  assert.deepEqual(seen, expected);
  assert.ok((await proxy.report()).counts["reset_after"]);
  await proxy.stop();
  const controller = new AbortController();
  const rest: string[] = [];
  const [count, cursor] = cursors.find(([behind]) => behind > 0)!;
  const from = { cursor, filter, signal: controller.signal };
  for await (const event of writer.events.follow(from)) {
    rest.push(described(event));
    if (rest.at(-1) === expected.at(-1)) controller.abort();
  }
  assert.deepEqual(rest, expected.slice(count), "it goes on behind the stored cursor, and ends when aborted");
});

test("follow ends with errors that do not go away", async () => {
  const client = new Candor({ apiKey: "cdr_live_unknown", baseUrl: service.url });
  await assert.rejects(client.events.follow().next(), { name: "AuthenticationRequiredError" });
});

test("replica of the readme has every change", { timeout: 60_000 }, async () => {
  const client = await service.client();
  await hire(client, 1);
  const people = new Map<string, Employee>();
  const controller = new AbortController();
  const running = replicate(client, people, controller.signal);
  await until(() => people.size === 1);
  await hire(client, 2);
  const [first] = people.keys();
  await client.employees.update(first!, { job_title: "Engineer" });
  await until(() => people.size === 2 && people.get(first!)?.job_title === "Engineer");
  controller.abort();
  await running;
});

/** Resolves once the condition holds; the test's timeout is the deadline. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function listening(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/candor` };
}

type Receiver = (secrets: string[], handle: (event: DeliveredEvent) => void) => RequestListener;

const RECEIVERS: [string, Receiver][] = [
  ["Express", (secrets, handle) => express(secrets, handle)],
  ["Hono", (secrets, handle) => getRequestListener(hono(secrets, handle).fetch)],
];

for (const [name, receiver] of RECEIVERS) {
  test(`${name} receives real deliveries and refuses forged ones`, { timeout: 60_000 }, async () => {
    const client = await service.client();
    const [secrets, events]: [string[], DeliveredEvent[]] = [[], []];
    const { server, url } = await listening(receiver(secrets, (event) => events.push(event)));
    const webhook = await client.webhooks.create({ url, event_types: ["*"] });
    secrets.push(webhook.secret);
    await client.webhooks.test(webhook.id);
    const email = await hire(client, 1);
    await until(() => events.length >= 2);
    const texts = events.map(delivered);
    assert.ok(texts.includes(email) && events.some((event) => event.event === "test.ping"), String(texts));
    // During a rotation either secret verifies.
    const rotated = await client.webhooks.update(webhook.id, { rotate_secret: true });
    assert.ok(rotated.secret && rotated.secret !== webhook.secret);
    secrets.splice(0, 1, rotated.secret);
    events.length = 0;
    await client.webhooks.test(webhook.id);
    await until(() => events.length > 0);
    const headers = { "webhook-id": "evt_1", "webhook-timestamp": `${Math.trunc(Date.now() / 1000)}` };
    const forged = { ...headers, "webhook-signature": "v1,AAAA", "content-type": "application/json" };
    assert.equal((await fetch(url, { method: "POST", headers: forged, body: "{}" })).status, 400);
    await client.webhooks.delete(webhook.id);
    server.closeAllConnections();
    server.close();
  });
}

test("signatures are those of Standard Webhooks", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const body = JSON.stringify({ id: "evt_1", event: "employee.promoted", data: { level: 3 } });
  const signed = (at: Date): Record<string, string> => ({
    "Webhook-Id": "evt_1",
    "Webhook-Timestamp": String(Math.trunc(at.getTime() / 1000)),
    "Webhook-Signature": new StandardWebhook(secret).sign("evt_1", at, body),
  });
  const event = await webhooks.unwrap(body, signed(new Date()), ["whsec_AAAA", secret]);
  assert.ok(!isThinEvent(event) && !isErasedEvent(event));
  assert.deepEqual([event, isKnownEvent(event), described(event)], [JSON.parse(body), false, "employee.promoted"]);
  const refused: [string, Record<string, string>, string][] = [
    [body.replace("3", "4"), signed(new Date()), secret],
    [body, signed(new Date(Date.now() - 301_000)), secret],
    [body, signed(new Date()), "whsec_AAAA"],
    [body, {}, secret],
  ];
  for (const [text, headers, key] of refused) {
    await assert.rejects(webhooks.unwrap(text, headers, key), WebhookVerificationError);
  }
  for (const empty of ["", "whsec_", ["whsec_AAAA", ""]]) {
    await assert.rejects(webhooks.unwrap(body, signed(new Date()), empty), /not valid/);
  }
});

test("a thin delivery has only a reference to its resource", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const url = "https://feedback.example.com/v1/employees/emp_1";
  const thin = { id: "evt_1", event: "employee.created", data: { id: "emp_1", type: "employee", url }, payload: "thin" };
  const [body, at] = [JSON.stringify(thin), new Date()];
  const event = await webhooks.unwrap(
    body,
    {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.trunc(at.getTime() / 1000)),
      "webhook-signature": new StandardWebhook(secret).sign("evt_1", at, body),
    },
    secret,
  );
  assert.deepEqual([event, isThinEvent(event), delivered(event)], [thin, true, url]);
});

test("a delivery whose data was erased has only an id", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const erased = { id: "evt_1", event: "employee.created", data: { id: "emp_1", erased: true } };
  const [body, at] = [JSON.stringify(erased), new Date()];
  const event = await webhooks.unwrap(
    body,
    {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.trunc(at.getTime() / 1000)),
      "webhook-signature": new StandardWebhook(secret).sign("evt_1", at, body),
    },
    secret,
  );
  assert.deepEqual([event, isErasedEvent(event), delivered(event)], [erased, true, "emp_1"]);
});

test("examples of the readme are those that run", async () => {
  const readme = readFileSync(new URL("README.md", PACKAGE), "utf8");
  for (const name of ["quickstart", "replica", "export-replica", "express", "hono"]) {
    const example = readFileSync(new URL(`examples/${name}.ts`, PACKAGE), "utf8");
    assert.ok(readme.includes(`\`\`\`ts\n${example}\`\`\``), `README.md differs from examples/${name}.ts`);
  }
  const { live } = await service.organization();
  const environment = { ...process.env, CANDOR_API_KEY: live.key, CANDOR_URL: service.url };
  const example = new URL("build/examples/quickstart.js", PACKAGE).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [example], { env: environment });
  assert.equal(stdout, "Ada Explained the outage to the customer calmly.\n");
});
