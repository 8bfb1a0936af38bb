// Uses the client that @hey-api/openapi-ts generates. Must compile under --strict, and pass against the service.

import assert from "node:assert/strict";
import { client } from "./hey-api/client.gen.js";
import {
  createEmployee, createObservation, listEmployees, listEvents, listObservations, updateEmployee, upsertEmployees,
} from "./hey-api/sdk.gen.js";
import type { Event } from "./hey-api/types.gen.js";

const [base, key] = process.argv.slice(2);
client.setConfig({ baseUrl: `${base}/v1`, auth: () => key });

/** Reads members that only some events have: this compiles because `event` tells them apart. */
function subject(event: Event): string {
  switch (event.event) {
    case "observation.created":
      return event.data.observation;
    case "objective.created":
      return event.data.title;
    case "employee.created":
      return event.data.email;
    case "test.ping":
      return event.data.message;
    default:
      return event.event;
  }
}

// Compiles only if the answer of a write is the resource alone.
const manager = await createEmployee({
  body: { email: "ines@example.com", first_name: "Ines", last_name: "Costa", custom_fields: { city: "Lagos" } },
});
assert(manager.data, JSON.stringify(manager.error));
const report = await createEmployee({
  body: { email: "ugur@example.com", first_name: "Uğur", last_name: "Demir", manager_id: manager.data.id },
  headers: { "Idempotency-Key": "ugur" },
});
assert(report.data, JSON.stringify(report.error));
const [managerId, reportId] = [manager.data.id, report.data.id];
for (const observation of ["Asked first.", "Shared the credit."]) {
  const { response } = await createObservation({ body: { employee_id: reportId, type: "strength", observation } });
  assert.equal(response?.status, 201);
}

/** Requests a page with a list of paths in `expand`. */
const pageAt = (cursor?: string) =>
  listObservations({
    query: { limit: 1, cursor, expand: ["employee", "attributes"], "filter[manager_id]": managerId },
  });

const texts: string[] = [];
let page = (await pageAt()).data;
for (;;) {
  assert(page);
  for (const it of page.data) {
    assert.equal(it.employee?.email, "ugur@example.com");
    assert.deepEqual(it.attributes, []);
    texts.push(it.observation);
  }
  if (!page.next_cursor) break;
  page = (await pageAt(page.next_cursor)).data;
}
assert.deepEqual(texts.sort(), ["Asked first.", "Shared the credit."]);

for (const [city, found] of [["Lagos", ["ines@example.com"]], ["Izmir", []]] as const) {
  const people = await listEmployees({
    query: { filter: { "custom_fields.city": city }, "filter[role]": ["employee", "manager"] },
  });
  assert.deepEqual(people.data?.data.map((it) => it.email), found);
}

const changed = await updateEmployee({ path: { id: report.data.id }, body: { role: "manager" } });
assert(changed.data, JSON.stringify(changed.error));
assert.equal(changed.data.role, "manager");

const refused = await createEmployee({ body: { email: "x@example.com", first_name: "", last_name: "X" } });
assert(refused.error);
assert.equal(refused.error.error.code, "validation_error");
assert.equal(refused.error.error.details?.[0]?.field, "first_name");

const uploaded = await upsertEmployees({ body: "email,first_name,last_name\nada@example.com,Ada,Example\n" });
assert.equal(uploaded.data?.data.created, 1, JSON.stringify(uploaded.error));

const feed = await listEvents({ query: { "filter[event]": ["observation.created"] } });
assert.deepEqual(feed.data?.data.map(subject).slice(-2), ["Asked first.", "Shared the credit."]);
const later = { ...feed.data!.data[0], event: "goal.created", data: {} } as unknown as Event;
assert.equal(subject(later), "goal.created");
console.log("@hey-api/openapi-ts: passed");
