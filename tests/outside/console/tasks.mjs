// Tasks of people, each from reading to the row in the database.
import { readFile } from "node:fs/promises";
import { api } from "./service.mjs";
import { away, days, flood, names, paste } from "./tasks_away.mjs";
import { agreed, person, refusals, returned } from "./tasks_entrance.mjs";
import { back, cancel, strangers, tabs, ticks } from "./tasks_history.mjs";
import { columns, csv, files, parts } from "./tasks_import.mjs";
import { progress } from "./tasks_progress.mjs";
import { colleague, frugal, mine, rights, team } from "./tasks_bound.mjs";
import { draft, german, jump, keyboard, list, messages, undo } from "./tasks_find.mjs";
import { addresses, provider } from "./tasks_sign_in.mjs";
import { about, sent, trail, unknown, who } from "./tasks_sent.mjs";
import { filters, older, reasons, unread } from "./tasks_waits.mjs";
import { approve, ask, delegate, find, hire, leave, left, many, observe, organization, plan, print, provide, resend, summarize, talk } from "./tasks_write.mjs";
import { LIMIT_MS, eventually, heading, more, nav } from "./page.mjs";

/** Finds out why a webhook did not arrive, corrects the receiver, and sends it again. */
async function webhook(page, { failing, check }) {
  await nav(page, "Webhooks");
  await page.getByRole("link", { name: "Deliveries", exact: true }).click();
  await page.getByRole("combobox", { name: "Result" }).selectOption("failed");
  await page.getByRole("table").getByRole("link", { name: "employee.created" }).first().click();
  const now = page.getByRole("region", { name: "Event now" });
  await now.getByText("The receiver answered with an error").waitFor();
  await now.getByText("The receiver has not acknowledged the event").waitFor();
  await page.getByText("X-Service-Event-Id:").waitFor();
  failing.state.status = 200;
  const before = failing.state.received.length;
  await page.getByRole("button", { name: "Resend now" }).click();
  await page.getByText("The delivery is queued").waitFor();
  await page.locator(".steps").getByText("Success").first().waitFor();
  await now.getByText("The receiver has acknowledged the event.").waitFor();
  check((await page.getByText("The receiver answered with an error").count()) === 0, "a delivered event still fails");
  check(failing.state.received.length > before, "the receiver got nothing");
  await page.getByRole("button", { name: "Requests" }).click();
  await page.getByRole("button", { name: "Python" }).click();
  await page.getByText("candor.webhooks.").first().waitFor();
}

/** Replays what was not acknowledged after a dry count, tests, and rotates the secret. */
async function replay(page, { data }) {
  await page.goto(page.url().replace(/\/console.*/, `/console/webhooks/${data.hooks[0].id}`));
  await page.getByRole("button", { name: "Replay" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/events would be delivered/).waitFor();
  await dialog.getByRole("button", { name: "Replay" }).click();
  await page.getByText(/deliveries are queued/).waitFor();
  await more(page, "Rotate the secret");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate the secret" }).click();
  await page.getByRole("dialog").getByText("whsec_").waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send a test" }).click();
  await page.getByText(/The receiver answered the test with 200 after/).waitFor();
}

/** Changes a manager, and finds out who did it and what it was before. */
async function manager(page, { data, check }) {
  await nav(page, "People");
  await page.getByRole("searchbox", { name: "Search" }).fill("Ruth Abebe");
  await page.getByRole("table").getByRole("link", { name: "Ruth Abebe" }).click();
  await heading(page, "Ruth Abebe");
  await page.getByText("reports to Ines Duarte").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Remove: Ines Duarte" }).click();
  await dialog.getByRole("searchbox", { name: "Manager" }).fill("Jonas Okafor");
  await dialog.getByRole("button", { name: /Jonas Okafor/ }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { manager_id } = await api("GET", `/employees/${data.ruth.id}`);
  check(manager_id === data.jonas.id, "the manager is not stored");
  await page.reload();
  await heading(page, "Ruth Abebe");
  const entry = page.locator(".steps li").filter({ hasText: "Manager:" }).first();
  await entry.getByText("Changed", { exact: true }).waitFor();
  await entry.locator("del").getByText("Ines Duarte").waitFor();
  await entry.locator("ins").getByText("Jonas Okafor").waitFor();
  await entry.getByText("checks").waitFor();
}

/** Downloads the data about a person, holds it, ends the hold, and erases the person. */
async function erase(page, { check }) {
  const email = "leaver@example.com";
  const { id } = await api("POST", "/employees", { email, first_name: "Noor", last_name: "Haddad" });
  await api("POST", "/observations", { employee_id: id, type: "strength", observation: "Noor answered every letter." });
  await api("POST", `/employees/${id}/deactivate`, {});
  await page.goto(page.url().replace(/\/console.*/, `/console/people/${id}`));
  await heading(page, "Noor Haddad");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the data" }).click()]);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  check(lines.some(({ data }) => data?.observation === "Noor answered every letter."), "the data lacks the observation");
  check(lines.at(-1).type === "end", "the data has no end");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Hold the data" }).click();
  await dialog.getByLabel("Reason").fill("Case 2026-17");
  await dialog.getByRole("button", { name: "Hold the data" }).click();
  await page.getByText("Case 2026-17").waitFor();
  check((await page.getByRole("button", { name: "Erase the data" }).count()) === 0, "held data can be erased");
  await page.getByRole("button", { name: "End the hold" }).click();
  await dialog.getByRole("button", { name: "End the hold" }).click();
  await page.getByRole("button", { name: "Erase the data" }).click();
  await dialog.getByText("Observations", { exact: true }).waitFor();
  const begin = dialog.getByRole("button", { name: "Erase the data" });
  check(await begin.isDisabled(), "an erasure begins without the address");
  await dialog.getByLabel("E-mail address, to confirm").fill(email);
  await begin.click();
  await heading(page, "Former employee");
  check((await page.getByText("Noor answered every letter.").count()) === 0, "erased texts are shown");
  check((await page.getByRole("button", { name: "Reactivate" }).count()) === 0, "an erased person can be reactivated");
  await page.getByText("The name is erased.").getByRole("link", { name: "Erasures" }).click();
  await page.getByRole("table").getByText(id).waitFor();
  const { data: [erasure] } = await api("GET", "/erasures");
  check(erasure.employee_id === id, "the erasure is not stored");
}

/** Sees what a period would remove, saves it after a confirmation, and switches it off again. */
async function retain(page, { check }) {
  await nav(page, "People");
  await page.getByRole("link", { name: "Retention" }).click();
  await page.getByRole("combobox", { name: "Archived observations" }).selectOption("P3Y");
  await page.getByRole("table", { name: "Preview" }).getByText("Archived observations").waitFor();
  const save = page.getByRole("button", { name: "Save the periods" });
  await save.click();
  await page.getByRole("dialog").getByText("removes nothing for 7 days").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Save the periods" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("The periods are saved").waitFor();
  const stored = await api("GET", "/organization");
  check(stored.retention.archived_observations === "P3Y", "the period is not stored");
  check(stored.retention.deactivated_people === null, "another period is stored");
  await page.getByRole("combobox", { name: "Archived observations" }).selectOption("");
  await save.click();
  await page.getByRole("dialog").getByRole("button", { name: "Save the periods" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const kept = await api("GET", "/organization");
  check(kept.retention.archived_observations === null, "the rule is still on");
}

/** Finds an observation by two words and sees its context. */
async function search(page) {
  await nav(page, "Feedback");
  await page.getByRole("searchbox", { name: "Search" }).fill("angry customer");
  await page.locator("mark").getByText("angry").waitFor();
  await page.getByRole("link", { name: "Open", exact: true }).first().click();
  await heading(page, "Observation about Ruth Abebe");
  await page.getByText("The contract was renewed.").waitFor();
}

/** Approves three objectives and rejects one with a reason. */
async function review(page, { data, check }) {
  await nav(page, "Feedback");
  await page.getByRole("link", { name: "Objectives", exact: true }).click();
  await page.getByRole("combobox", { name: "State" }).selectOption("in_review");
  for (const goal of data.goals.slice(0, 3)) {
    await page.getByRole("button", { name: `Approve: ${goal.title}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("link", { name: data.goals[3].title }).click();
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  await page.getByRole("dialog").getByLabel(/Reason/).fill("Not measurable: name a number.");
  await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const [at, goal] of data.goals.entries()) {
    const stored = await api("GET", `/employee-objectives/${goal.id}`);
    const expected = at < 3 ? ["approved", "in_progress"].includes(stored.status) : stored.status === "proposed" && stored.submitted_at === null;
    check(expected, `${goal.title} is ${stored.status}`);
  }
  const history = await api("GET", `/employee-objectives/${data.goals[3].id}/history`);
  check(history.data.some((entry) => entry.comment?.startsWith("Not measurable")), "the reason is not stored");
}

/** Sees at a glance whether all is well. */
async function glance(page) {
  await page.getByRole("img", { name: /Attempts of the last 24 hours: \d+ delivered, \d+ failed/ }).waitFor();
  for (const name of ["Delivered, 24 hours", "Queue", "Failing subscriptions", "95th percentile"]) await page.getByText(name, { exact: true }).first().waitFor();
  await page.getByRole("img", { name: /Requests of the last 24 hours: [1-9]\d* answered, \d+ refused or failed/ }).waitFor();
  await page.getByRole("region", { name: "Requests by hour, last 24 hours" }).getByText("200", { exact: true }).waitFor();
  await page.getByText("Connector has issues").waitFor();
  await page.getByText("Assignment overdue").waitFor();
}

/** Creates a scoped key, uses it, sees its last use, rotates and revokes it. */
async function key(page, { check, origin }) {
  await nav(page, "API keys");
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Integrator");
  await dialog.getByRole("button", { name: "All that only read" }).click();
  check(await dialog.getByLabel("Observations · read").isChecked() && !(await dialog.getByLabel("Observations · write").isChecked()), "all that read are other scopes");
  await dialog.getByRole("button", { name: "None" }).click();
  await dialog.getByText("Tick at least one.").waitFor();
  await dialog.getByLabel("Webhooks · read").check();
  await dialog.getByRole("button", { name: "Create" }).click();
  const secret = await dialog.locator(".secret code").innerText();
  await page.getByRole("button", { name: "I have stored it" }).click();
  const status = async (path) => (await fetch(`${origin}/v1${path}`, { headers: { authorization: `Bearer ${secret}` } })).status;
  check((await status("/webhooks")) === 200 && (await status("/employees")) === 403, "the scope does not hold");
  const row = page.getByRole("row").filter({ hasText: "Integrator" });
  const used = async () => {
    await page.reload();
    await row.waitFor();
    return row.locator("td[data-label='Last used']").innerText();
  };
  await eventually(used, (text) => !text.includes("Never"), "the last use is shown");
  await page.getByRole("button", { name: "Rotate: Integrator" }).click();
  await dialog.getByRole("button", { name: "Rotate" }).click();
  await dialog.locator(".secret code").waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Revoke: Integrator" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoked", { exact: true }).waitFor();
  await page.getByText("Key “Integrator” revoked").waitFor();
  await eventually(() => status("/webhooks"), (code) => code === 401, "the key ends");
}

/** Gives an integrator a link that shows webhooks only, for an hour, and takes it back. */
async function link(page, { browser, check, origin }) {
  await nav(page, "API keys");
  await page.getByRole("button", { name: "New portal link" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Integrator of payroll");
  await dialog.getByRole("combobox", { name: "Access" }).selectOption({ label: "Webhooks and events, read only" });
  await dialog.getByRole("combobox", { name: "Ends" }).selectOption({ label: "In 1 hour" });
  await dialog.getByRole("button", { name: "Create" }).click();
  const url = await dialog.locator(".secret code").innerText();
  check(url.startsWith(`${origin}/console/webhooks#code=cdr_link_`), `the link is ${url}`);
  await page.getByRole("button", { name: "I have stored it" }).click();
  const row = page.getByRole("row").filter({ hasText: "Integrator of payroll" });
  await row.getByText("Link not opened").waitFor();
  const visit = async () => {
    const context = await browser.newContext();
    context.setDefaultTimeout(LIMIT_MS);
    const integrator = await context.newPage();
    await integrator.goto(url);
    return integrator;
  };
  const integrator = await visit();
  await integrator.getByRole("dialog").getByText("org_").waitFor();
  check((await integrator.getByRole("heading", { name: "Webhooks" }).count()) === 0, "a link opens without a question");
  await integrator.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
  await heading(integrator, "Webhooks");
  check(!integrator.url().includes("#"), "the code stays in the address");
  const screens = await integrator.getByRole("navigation", { name: "Screens" }).first().getByRole("link").allInnerTexts();
  check(screens.join() === "Today,Webhooks,Events", `the integrator sees ${screens}`);
  check((await integrator.getByRole("button", { name: "New subscription" }).count()) === 0, "the link may write");
  await integrator.reload();
  await heading(integrator, "Webhooks");
  const second = await visit();
  await second.getByText("The link no longer opens").waitFor();
  await second.context().close();
  await page.reload();
  await row.getByText("Expires soon").waitFor();
  const { data: keys } = await api("GET", "/api-keys?limit=100");
  const { expires_at, created_at, scopes } = keys.find((one) => one.name === "Integrator of payroll");
  check(new Date(expires_at) - new Date(created_at) === 3_600_000 && scopes.join() === "webhooks:read,events:read", `the key has ${scopes} until ${expires_at}`);
  await page.getByRole("button", { name: "Revoke: Integrator of payroll" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoked", { exact: true }).waitFor();
  await eventually(async () => {
    await integrator.getByRole("link", { name: "Deliveries", exact: true }).click().catch(() => {});
    await integrator.reload();
    return integrator.locator("h1").first().innerText();
  }, (text) => /Open the console|Sign in again/.test(text), "the link is taken back");
  await integrator.context().close();
}

/** Opens a link over a session: it stays until the person agrees, also if it cannot be checked. A key in the address is ignored. */
async function over(page, { check, origin }) {
  const made = await api("POST", "/portal-links", { name: "Other organization", scopes: ["webhooks:read"], expires_in: 3600, start: "/webhooks" });
  const account = page.locator(".account").first();
  const before = await account.innerText();
  await page.goto(made.url.replace(/^https?:\/\/[^/]+/, origin));
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Other organization").waitFor();
  check((await account.innerText()) === before, "the link replaced the session");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  await heading(page, "Webhooks");
  check((await account.innerText()) === before, "a refused link replaced the session");
  await page.goto(`${origin}/console/people#key=cdr_live_${"x".repeat(43)}`);
  await heading(page, "People");
  check((await account.innerText()) === before && !page.url().includes("#"), "a key in the address was taken");
  const second = await api("POST", "/portal-links", { name: "Second link", scopes: ["webhooks:read"], expires_in: 3600 });
  const link = second.url.replace(/^https?:\/\/[^/]+/, origin);
  const refused = { status: 403, contentType: "application/json", body: JSON.stringify({ error: { code: "permission_denied", message: "Not now." } }) };
  await page.route("**/v1/me", (route) => route.fulfill(refused));
  const checked = page.waitForResponse((response) => response.url().endsWith("/v1/me"));
  await Promise.all([checked, page.goto(link)]);
  await page.unroute("**/v1/me");
  await page.goto(`${origin}/console/people`);
  await heading(page, "People");
  check((await account.innerText()) === before, "a link replaced a session that could not be checked");
  await page.goto(`${origin}/console`);
  await heading(page, "Today");
  const former = page.getByRole("main").getByText("Summary in review");
  await former.first().waitFor();
  await page.goto(link);
  await dialog.getByRole("button", { name: "Open it" }).click();
  await account.getByText("Second link").waitFor();
  check((await former.count()) === 0, "what the former key saw is still on the screen");
}

/** Sees only the screens of the key's scopes; a revoked key keeps what was typed. */
async function revoked(page, { open, origin, check }) {
  const made = await api("POST", "/api-keys", { name: "Narrow", scopes: ["employees:read", "employees:write", "notifications:read"], access_level: "admin" });
  const narrow = await open({}, made.key);
  const links = await narrow.getByRole("navigation", { name: "Screens" }).first().getByRole("link").allInnerTexts();
  check(links.join() === "Today,People,CSV import,Organization", `a narrow key sees ${links}`);
  await narrow.goto(`${origin}/console/webhooks`);
  await narrow.getByText("The key lacks the scope webhooks:read.").waitFor();
  await nav(narrow, "People");
  await narrow.getByRole("table").getByRole("link", { name: "Ines Duarte" }).first().click();
  await narrow.getByRole("button", { name: "Edit" }).click();
  const title = narrow.getByRole("dialog").getByLabel("Job title");
  await title.fill("Head of everything");
  await api("POST", `/api-keys/${made.id}/revoke`);
  const status = async () => (await fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${made.key}` } })).status;
  await eventually(status, (code) => code === 401, "the key ends");
  await narrow.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await narrow.getByRole("heading", { name: "Sign in again" }).waitFor();
  await narrow.getByLabel("API key").fill(`Bearer ${process.env.CANDOR_API_KEY}`);
  await narrow.getByRole("button", { name: "Open" }).click();
  await narrow.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "detached" });
  check((await title.inputValue()) === "Head of everything", "the typed text is lost");
  await narrow.context().close();
}

/** Gets the difference when the same resource was saved meanwhile, and keeps what others saved in other fields. */
async function stale(page, { origin, check }) {
  const { id } = await api("POST", "/employees", { email: "sam.stale@example.com", first_name: "Sam", last_name: "Stale" });
  await page.goto(`${origin}/console/people/${id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").getByLabel("Job title").fill("Product lead");
  await page.getByRole("dialog").getByLabel("Last name").fill("Stahl");
  await api("PATCH", `/employees/${id}`, { job_title: "Chief product officer", email: "sam@example.com" });
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("dialog", { name: "Changed meanwhile" });
  await dialog.getByText("Chief product officer").waitFor();
  const fields = await dialog.locator("tbody code").allInnerTexts();
  check(fields.sort().join() === "email,job_title", `the dialog names ${fields}`);
  await dialog.getByRole("button", { name: "Save my version" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("Saved").waitFor();
  const { job_title, last_name, email } = await api("GET", `/employees/${id}`);
  check(job_title === "Product lead" && last_name === "Stahl", `my version is ${job_title}, ${last_name}`);
  check(email === "sam@example.com", `what another person saved is ${email}`);
}

export const TASKS = [glance, webhook, replay, csv, manager, erase, retain, search, review, progress, key, link, paste, away, flood, days, names, files, columns, parts, over, revoked, stale, tabs, strangers, back, ticks, cancel, sent, who, about, trail, unknown,
  hire, observe, plan, summarize, talk, ask, many, approve, resend, organization, print, leave, left, find, delegate, provide, reasons, unread, older, filters, team, mine, colleague, rights, frugal, provider, addresses, person, refusals, agreed, returned, jump, keyboard, list, messages, undo, german, draft];
