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
  const request = page.getByRole("region", { name: "Request" });
  await request.getByText("What would be sent now").waitFor();
  await request.getByText("x-gateway: …9a7d").waitFor();
  await request.getByText('"payload": "thin"').waitFor();
  await accessible(page, "a thin delivery", check);
  check((await page.getByText("Confidential laboratory").count()) === 0, "the content of the event is shown as sent");
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
  await page.locator(".entry").filter({ hasText: "employee.create" }).first().waitFor();
  const others = await page.locator(".entry").filter({ hasNot: page.locator(`a[href*="target=${data.jonas.id}"]`) }).count();
  check(others === 0, `${others} entries are about others`);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL((url) => !url.search.includes("target"));
  await heading(page, "Audit log");
}

/** Chooses the people of a subscription by name. */
export async function about(page, { data, check }) {
  await nav(page, "Webhooks");
  await page.getByRole("button", { name: "New subscription" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("searchbox", { name: "Add a person" }).fill("Jonas Okafor");
  await dialog.getByRole("button", { name: /Jonas Okafor/ }).click();
  await dialog.getByLabel(/URL of the receiver/).fill("http://127.0.0.1:9/hooks");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("1 person").waitFor();
  const { data: hooks } = await api("GET", "/webhooks?limit=100");
  const made = hooks.find((one) => one.url === "http://127.0.0.1:9/hooks");
  check(made?.filter?.employee_id?.join() === data.jonas.id, `the filter is ${JSON.stringify(made?.filter)}`);
  await api("DELETE", `/webhooks/${made.id}`);
}
