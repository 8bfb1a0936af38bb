// Tasks in several tabs, on the way back, and while a request waits.
import { accessible } from "./looks.mjs";
import { heading, nav, settled } from "./page.mjs";
import { api } from "./service.mjs";

const MANY = 120;

/** Opens a second tab: it has the session, in memory only, and a sign-out ends both. */
export async function tabs(page, { origin, check }) {
  await nav(page, "People");
  const second = await page.context().newPage();
  await second.goto(`${origin}/console/audit`);
  await heading(second, "Audit log");
  const kept = await second.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  check(!kept.includes("cdr_"), "the second tab stores the key");
  await second.reload();
  await heading(second, "Audit log");
  await second.getByRole("button", { name: "Sign out" }).first().click();
  await heading(second, "Open the console");
  await heading(page, "Open the console");
  await second.reload();
  await heading(second, "Open the console");
}

/** Tabs of two keys: a third one gets none of them. */
export async function strangers(page, { origin }) {
  const made = await api("POST", "/api-keys", { name: "Other tab", scopes: ["employees:read"] });
  const second = await page.context().newPage();
  await second.goto(`${origin}/console/people`);
  await heading(second, "People");
  await second.getByRole("button", { name: "Requests" }).waitFor();
  await second.evaluate((key) => sessionStorage.setItem("candor-key", key), made.key);
  await second.reload();
  await second.locator(".account").first().getByText("Other tab").waitFor();
  const third = await page.context().newPage();
  await third.goto(`${origin}/console/people`);
  await heading(third, "Open the console");
}

/** Goes back: filters one by one, and the rows and the place of a list as they were left. */
export async function back(page, { origin, check }) {
  const rows = Array.from({ length: MANY }, (_, at) => `back${at}@example.com,First${at},Zz${String(at).padStart(3, "0")}`);
  // The quota of files belongs to the key.
  const { key } = await api("POST", "/api-keys", { name: "Many people", scopes: ["employees:write"], access_level: "admin" });
  await api("POST", "/employees/csv", `email,first_name,last_name\n${rows.join("\n")}\n`, { authorization: `Bearer ${key}` });
  await page.goto(`${origin}/console/people`);
  const shown = page.getByRole("table", { name: "People" }).getByRole("row");
  const people = () => settled(page).then(() => shown.count());
  await shown.nth(1).waitFor();
  const first = await people();
  await page.getByRole("button", { name: "Show more" }).click();
  await shown.nth(first).waitFor();
  const all = await people();
  check(all > first, `${all} rows after ${first}`);
  const link = shown.nth(first + 10).getByRole("link").first();
  await link.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  check(place > 500, `the list is scrolled to ${place}`);
  const name = await link.innerText();
  await link.click();
  await heading(page, name);
  check((await page.evaluate(() => scrollY)) === 0, "a person opens in the middle of the page");
  await page.goBack();
  await heading(page, "People");
  await shown.nth(all - 1).waitFor();
  await page.waitForFunction((there) => Math.abs(scrollY - there) < 2, place);
  check((await people()) === all, "the rows are read again as far as they were shown");
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByRole("combobox", { name: "Role" }).selectOption("manager");
  await page.getByRole("combobox", { name: "State" }).selectOption("all");
  await page.waitForURL(/state=all/);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("state=all") && url.search.includes("role=manager"));
  check((await page.getByRole("combobox", { name: "Role" }).inputValue()) === "manager", "Back takes the first filter, too");
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("role"));
  await page.getByRole("searchbox", { name: "Search" }).pressSequentially("Zz0", { delay: 600 });
  await page.waitForURL(/q=Zz0/);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("q="));
  await heading(page, "People");
}

/** Looks at a screen for hours: the times on it go on. */
export async function ticks(page, { data, origin }) {
  await page.clock.install();
  await page.goto(`${origin}/console/people/${data.ruth.id}`);
  const times = page.locator(".steps time");
  await times.first().waitFor();
  await page.clock.fastForward("03:00:00");
  await times.getByText("3 hours ago").first().waitFor();
}

/** Cancels a read and a write that get no answer, and the wait for a quota. */
export async function cancel(page, { check, data, origin }) {
  const cancelIt = page.getByRole("button", { name: "Cancel the request" });
  const hang = () => {};
  const wait = () => page.clock.fastForward("00:06");
  await page.clock.install();
  const asked = page.waitForRequest("**/v1/audit-log?*");
  await page.route("**/v1/audit-log?*", hang);
  await nav(page, "Audit log");
  await asked;
  await wait();
  await page.getByText("The service has not answered yet.").waitFor();
  await accessible(page, "a request without an answer", check);
  await cancelIt.click();
  await page.getByRole("alert").getByText("You canceled the request.").waitFor();
  await cancelIt.waitFor({ state: "detached" });
  await page.unroute("**/v1/audit-log?*", hang);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".entry").first().waitFor();
  await page.goto(`${origin}/console/people/${data.ruth.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Job title").fill("Support architect");
  const refuse = (route) => route.request().method() === "PATCH"
    ? route.fulfill({ status: 429, headers: { "retry-after": "50" }, contentType: "application/json", body: JSON.stringify({ error: { code: "rate_limited", message: "Later." } }) })
    : route.fallback();
  await page.route("**/v1/employees/*", refuse);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("The quota of this key is used up.").waitFor();
  await dialog.getByRole("button", { name: "Cancel the request" }).click();
  await dialog.getByText("You canceled the request.", { exact: true }).waitFor();
  await page.unroute("**/v1/employees/*", refuse);
  const lose = (route) => (route.request().method() === "PATCH" ? undefined : route.fallback());
  await page.route("**/v1/employees/*", lose);
  const lost = page.waitForRequest((one) => one.method() === "PATCH");
  await dialog.getByRole("button", { name: "Save" }).click();
  await lost;
  await wait();
  await dialog.getByRole("button", { name: "Cancel the request" }).click();
  await dialog.getByText("Look at the result before you repeat it.").waitFor();
  await page.unroute("**/v1/employees/*", lose);
  check((await dialog.getByLabel("Job title").inputValue()) === "Support architect", "the typed text is lost");
}
