// Uses openapi-fetch with types of openapi-typescript. Must compile under --strict, and pass against the service.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi-typescript/schema.js";

const [base, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: `${base}/v1`, headers: { Authorization: `Bearer ${key}` } });

type Event = components["schemas"]["Event"];

/** Reads members that only some events have: this compiles because `event` tells them apart. */
function subject(event: Event): string {
  switch (event.event) {
    case "observation.created":
    case "observation.updated":
      return event.data.observation;
    case "objective.created":
      return event.data.title;
    case "employee.created":
    case "employee.updated":
      return event.data.email;
    case "test.ping":
      return event.data.message;
    default:
      return event.event;
  }
}

// Compiles only if members with a default are optional, and if the answer is the resource alone.
const manager = await client.POST("/employees", {
  body: { email: "mara@example.com", first_name: "Mara", last_name: "Lindqvist", custom_fields: { city: "Oslo" } },
});
assert(manager.data, JSON.stringify(manager.error));
const report = await client.POST("/employees", {
  body: { email: "jonas@example.com", first_name: "Jonas", last_name: "Okafor", manager_id: manager.data.id },
  params: { header: { "Idempotency-Key": "jonas" } },
});
assert(report.data, JSON.stringify(report.error));
const [managerId, reportId] = [manager.data.id, report.data.id];
for (const observation of ["Explained it calmly.", "Wrote it down."]) {
  const body = { employee_id: reportId, type: "strength", observation } as const;
  const { response } = await client.POST("/observations", { body });
  assert.equal(response.status, 201);
}

/** Requests a page with several paths in `expand`. This client repeats the parameter for each path. */
const pageAt = (cursor?: string) =>
  client.GET("/observations", {
    params: { query: { limit: 1, cursor, expand: ["employee", "attributes"], "filter[manager_id]": managerId } },
  });

const texts: string[] = [];
let page = (await pageAt()).data;
for (;;) {
  assert(page);
  for (const it of page.data) {
    assert.equal(it.employee?.email, "jonas@example.com");
    assert.deepEqual(it.attributes, []);
    texts.push(it.observation);
  }
  if (!page.next_cursor) break;
  page = (await pageAt(page.next_cursor)).data;
}
assert.deepEqual(texts.sort(), ["Explained it calmly.", "Wrote it down."]);

// Combines a filter by custom field with another filter.
for (const [city, found] of [["Oslo", ["mara@example.com"]], ["Izmir", []]] as const) {
  const people = await client.GET("/employees", {
    params: { query: { filter: { "custom_fields.city": city }, "filter[role]": ["employee", "manager"] } },
  });
  assert.deepEqual(people.data?.data.map((it) => it.email), found);
}

const changed = await client.PATCH("/employees/{id}", {
  params: { path: { id: report.data.id } },
  body: { role: "manager", custom_fields: { city: null } },
});
assert(changed.data, JSON.stringify(changed.error));
assert.equal(changed.data.role, "manager");

// Compiles only if `field` is readable without narrowing the type of the entry in `details`.
const refused = await client.POST("/employees", { body: { email: "x@example.com", first_name: "", last_name: "X" } });
assert(refused.error);
assert.equal(refused.error.error.code, "validation_error");
assert.equal(refused.error.error.details?.[0]?.field, "first_name");

const feed = await client.GET("/events", { params: { query: { "filter[event]": ["employee.created"] } } });
assert.deepEqual(feed.data?.data.map(subject), ["mara@example.com", "jonas@example.com"]);
// An event type that is newer than this client must reach the `default` branch.
const later = { ...feed.data!.data[0], event: "goal.created", data: {} } as unknown as Event;
assert.equal(subject(later), "goal.created");
console.log("openapi-typescript: passed");
