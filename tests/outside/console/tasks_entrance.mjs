// Tasks at the entrance: a person signs in, a refusal says what is wrong, and a session ends.
import { accessible, fits, reachable } from "./looks.mjs";
import { eventually, heading } from "./page.mjs";
import { api } from "./service.mjs";

const SCOPES = ["employees:read", "observations:read", "objectives:read", "summaries:read", "conversations:read", "assignments:read", "notifications:read"];
const REFUSALS = {
  denied: "The sign-in was refused", expired: "The sign-in took too long", not_linked: "The account belongs to no person here",
  provider: "The provider did not sign you in", other: "The provider did not sign you in",
};
const json = (body) => ({ status: 200, contentType: "application/json", body: JSON.stringify(body) });

/** Answers as the service does to a sign-in of this key: the provider is skipped, and the key is a session. */
async function provide(context, origin, key, asked) {
  await context.route("**/v1/sign-in", (route) => {
    asked.push(route.request().postDataJSON());
    const { start } = route.request().postDataJSON();
    return route.fulfill(json({ url: `${origin}/console${start}#code=cdr_link_${"x".repeat(43)}` }));
  });
  await context.route("**/v1/portal-links/exchange", (route) => route.fulfill(json({ key })));
  await context.route("**/v1/sign-in/logout", (route) => {
    asked.push("logout");
    return route.fulfill(json({ url: `${origin}/console/?after=logout` }));
  });
  await context.route("**/v1/me", async (route) => {
    const answer = await route.fetch();
    if (!answer.ok()) return route.fulfill({ response: answer });
    const me = await answer.json();
    return route.fulfill({ response: answer, json: { ...me, session_id: me.key_id } });
  });
}

const makeKey = (employee_id) => api("POST", "/api-keys", { name: "Session of a person", scopes: SCOPES, employee_id });

const signIn = async (page) => {
  await page.getByLabel("Work e-mail").fill("ines.duarte@example.com");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
};

/** Signs in with the work address, sees the own rights and nothing refused, and signs out at the provider. */
export async function person(_, { open, origin, data, check }) {
  const page = await open({}, null);
  const asked = [];
  const { key } = await makeKey(data.ines.id);
  await provide(page.context(), origin, key, asked);
  await page.goto(`${origin}/console/people?state=all`);
  await heading(page, "Open the console");
  await signIn(page);
  await heading(page, "People");
  const [body] = asked;
  check(JSON.stringify(body) === JSON.stringify({ email: "ines.duarte@example.com", start: "/people?state=all" }), `asked ${JSON.stringify(body)}`);
  check(!page.url().includes("#"), "the code stays in the address");
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  check(!kept.includes("ines"), "the work address is kept");
  const account = page.locator(".account").first();
  await account.getByText("Ines Duarte").waitFor();
  await account.getByText("Checks").waitFor();
  const refused = [];
  page.on("response", (answer) => answer.status() === 403 && refused.push(answer.url()));
  const links = await page.getByRole("navigation", { name: "Screens" }).first().getByRole("link").allInnerTexts();
  check(links.join() === "Today,My page,My team,People,Feedback", `a person sees ${links}`);
  for (const path of ["/", "/people", "/people?view=tree", `/people/${data.ruth.id}`, "/feedback", "/feedback?view=objectives", "/feedback?view=summaries", "/feedback?view=conversations", "/feedback?view=assignments"]) {
    await page.goto(`${origin}/console${path}`);
    await page.locator("main h1").waitFor();
    await page.waitForLoadState("networkidle");
    check((await page.getByRole("alert").count()) === 0, `${path} shows a problem to a person`);
  }
  check(refused.length === 0, `a person is refused ${refused.join(" ")}`);
  await page.getByRole("button", { name: "Sign out" }).first().click();
  await page.waitForURL(/after=logout/);
  await heading(page, "Open the console");
  check(asked.at(-1) === "logout", "the session goes on after a sign-out");
  await page.context().close();
}

/** Reads what is wrong: each refusal, and an address without a provider. */
export async function refusals(_, { open, origin, check, folder }) {
  const page = await open({ viewport: { width: 390, height: 844 } }, null);
  for (const [reason, title] of Object.entries(REFUSALS)) {
    await page.goto(`${origin}/docs/icon.svg`);
    await page.goto(`${origin}/console#error=${reason}`);
    await page.getByRole("alert").getByText(title).waitFor();
    check(!page.url().includes("#"), "the reason stays in the address");
  }
  await accessible(page, "a refused sign-in", check);
  await fits(page, "a refused sign-in", check);
  await reachable(page, "a refused sign-in", check);
  await page.screenshot({ path: `${folder}/entrance-390.png` });
  await page.getByLabel("Work e-mail").fill("nobody@elsewhere.example");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").getByText("No sign-in for this address").waitFor();
  await page.context().close();
}

/** Comes back with a code over the session of another key: it stays until the person agrees. */
export async function agreed(page, { origin, data, check }) {
  const { key } = await makeKey(data.ines.id);
  await provide(page.context(), origin, key, []);
  const account = page.locator(".account").first();
  const before = await account.innerText();
  await page.goto(`${origin}/console/people#code=cdr_link_${"y".repeat(43)}`);
  await page.getByRole("dialog").getByText("with the new session").waitFor();
  check((await account.innerText()) === before, "a code replaced the session");
  await page.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
  await account.getByText("Ines Duarte").waitFor();
}

/** Loses the session over a form, signs in in a new tab, and goes on. The session of another person changes nothing. */
export async function returned(_, { open, origin, data, check }) {
  const first = await api("POST", "/api-keys", { name: "First", scopes: ["*"], access_level: "admin", employee_id: data.mara.id });
  const page = await open({}, null);
  await page.evaluate((key) => sessionStorage.setItem("candor-key", key), first.key);
  await page.goto(`${origin}/console/people/${data.jonas.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  const title = page.getByRole("dialog").getByLabel("Job title");
  await title.fill("Head of everything");
  await api("POST", `/api-keys/${first.id}/revoke`);
  await eventually(async () => (await fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${first.key}` } })).status, (status) => status === 401, "the key ends");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await heading(page, "Sign in again");
  for (const [who, isSame] of [[data.ines, false], [data.mara, true]]) {
    const { key } = await makeKey(who.id);
    const [tab] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "Sign in in a new tab" }).click()]);
    await provide(tab, origin, key, []);
    await signIn(tab);
    await tab.locator(".account").first().getByText(who.last_name).waitFor();
    if (isSame) await page.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "detached" });
    else check(await page.getByRole("heading", { name: "Sign in again" }).isVisible(), "another person goes on with the form");
    await tab.close();
  }
  check((await title.inputValue()) === "Head of everything", "the typed text is lost");
  await page.context().close();
}
