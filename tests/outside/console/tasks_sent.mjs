// Tasks with what was sent and who changed what.
import { accessible } from "./looks.mjs";
import { eventually, heading, nav, settled } from "./page.mjs";
import { api } from "./service.mjs";

/** Sees a thin delivery with its headers: what the log has, and what would be sent now. */
export async function sent(page, { working, origin, check }) {
  const body = { url: working.url, event_types: ["department.created"], payload: "thin", headers: { "x-gateway": "Bearer 6f1c0e5b9a7d" } };
  const hook = await api("POST", "/webhooks", body);
  await api("POST", "/departments", { name: "Confidential laboratory" });
  const deliveries = async () => (await api("GET", `/webhooks/${hook.id}/deliveries`)).data;
  const [entry] = await eventually(deliveries, (data) => data.length > 0, "the department is delivered");
  await page.goto(`${origin}/console/webhooks/${hook.id}/deliveries/${entry.id}`);
  await page.getByText("The receiver has acknowledged the event.").waitFor();
  await page.getByRole("region", { name: "Request" }).getByText(`X-Service-Delivery-Id: ${entry.id}`).waitFor();
  const request = page.getByRole("region", { name: "What would be sent now" });
  await request.getByText("x-gateway: …9a7d").waitFor();
  await request.getByText('"payload": "thin"').waitFor();
  await accessible(page, "a thin delivery", check);
  check((await request.getByText("Confidential laboratory").count()) === 0, "the content of the event is shown as sent");
  await api("DELETE", `/webhooks/${hook.id}`);
}

/** Finds what was done to a person and by a key, both by name. */
export async function who(page, { data, check }) {
  await nav(page, "Audit log");
  const { name } = await api("GET", "/me");
  await page.getByRole("searchbox", { name: "Changed person" }).fill("Jonas Okafor");
  await page.getByRole("button", { name: /Jonas Okafor/ }).click();
  await page.waitForURL(new RegExp(`target=${data.jonas.id}`));
  await page.locator("select").filter({ hasText: name }).selectOption({ label: name });
  await page.waitForURL(/actor=key_/);
  await settled(page);
  await page.locator(".entry").filter({ hasText: "Person: created" }).first().waitFor();
  const others = await page.locator(".entry").filter({ hasNot: page.locator(`a[href*="target=${data.jonas.id}"]`) }).count();
  check(others === 0, `${others} entries are about others`);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL((url) => !url.search.includes("target"));
  await heading(page, "Audit log");
}

/** Chooses the people and the department of a subscription by name. */
export async function about(page, { data, check }) {
  await nav(page, "Webhooks");
  await page.getByRole("button", { name: "New subscription" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("searchbox", { name: "Add a person" }).fill("Jonas Okafor");
  await dialog.getByRole("button", { name: /Jonas Okafor/ }).click();
  await dialog.getByRole("checkbox", { name: "Product", exact: true }).check();
  await dialog.getByLabel(/URL of the receiver/).fill("http://127.0.0.1:9/hooks");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("1 person · 1 department").waitFor();
  const { data: hooks } = await api("GET", "/webhooks?limit=100");
  const made = hooks.find((one) => one.url === "http://127.0.0.1:9/hooks");
  check(made?.filter?.employee_id?.join() === data.jonas.id && made.filter.department_id?.join() === data.ruth.department_id, `the filter is ${JSON.stringify(made?.filter)}`);
  await api("DELETE", `/webhooks/${made.id}`);
}

/** Follows ids in the changes of the audit log to what they name, in a list and within an object. */
export async function trail(page, { data }) {
  const [observation] = (await api("GET", `/observations?filter[employee_id]=${data.ruth.id}&limit=1`)).data;
  const summary = await api("POST", "/summaries", { employee_id: data.ruth.id, author_id: data.ines.id, title: "Ruth, audited", body: "Calls are solved." });
  await api("PATCH", `/summaries/${summary.id}`, { included_observation_ids: [observation.id] });
  const hook = await api("POST", "/webhooks", { url: "http://127.0.0.1:9/trail", event_types: ["employee.updated"] });
  await api("PATCH", `/webhooks/${hook.id}`, { filter: { employee_id: [data.jonas.id] } });
  await nav(page, "Audit log");
  const changesOf = (action, id) => page.locator("li.entry").filter({ hasText: action }).filter({ hasText: id }).locator(".changes");
  await changesOf("Subscription: changed", hook.id).getByRole("link", { name: "Jonas Okafor" }).waitFor();
  await changesOf("Summary: changed", summary.id).getByRole("link", { name: observation.id }).click();
  await heading(page, "Observation about Ruth Abebe");
  await api("DELETE", `/webhooks/${hook.id}`);
}

/** Gets no answer about a legal hold: the screen does not say that there is none, and offers no erasure. The answer that there
 * is none is no failed request in the log of the browser. */
export async function unknown(page, { check, origin }) {
  const { id } = await api("POST", "/employees", { email: "held.or.not@example.com", first_name: "Uma", last_name: "Held" });
  await api("POST", `/employees/${id}/deactivate`, {});
  const body = JSON.stringify({ error: { code: "rate_limited", message: "Later." } });
  const asked = `**/employees/${id}?expand=*legal_hold`;
  const refuse = (route) => route.fulfill({ status: 429, headers: { "retry-after": "900" }, contentType: "application/json", body });
  await page.route(asked, refuse);
  await page.goto(`${origin}/console/people/${id}`);
  const card = page.getByRole("region", { name: "Data about this person" });
  const alert = page.locator("main").getByRole("alert").filter({ hasText: "Too many requests" });
  await alert.waitFor();
  check((await card.count()) === 0, "an unread person has data");
  await page.unroute(asked);
  await alert.getByRole("button", { name: "Try again" }).click();
  await card.getByText("None", { exact: true }).waitFor();
  await page.route(asked, refuse);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").getByLabel("Job title").fill("Archivist");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await alert.waitFor();
  for (const name of ["Hold the data", "Erase the data"]) check((await card.getByRole("button", { name }).count()) === 0, `${name} is offered`);
  check((await card.getByText("None", { exact: true }).count()) === 0, "an unknown hold is none");
  await page.unroute(asked);
  const failures = [];
  page.on("response", (response) => response.status() >= 400 && failures.push(`${response.status()} ${response.url()}`));
  await alert.getByRole("button", { name: "Try again" }).click();
  await card.getByRole("button", { name: "Erase the data" }).waitFor();
  await card.getByText("None", { exact: true }).waitFor();
  check(failures.length === 0, `a person without a hold causes ${failures}`);
}
