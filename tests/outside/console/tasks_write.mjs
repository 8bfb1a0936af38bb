// Tasks that write: feedback, objectives, summaries, messages and people, one by one and many at once.
import { readFile } from "node:fs/promises";
import { accessible } from "./looks.mjs";
import { eventually, heading, more, nav } from "./page.mjs";
import { api } from "./service.mjs";

let count = 0;
/** Creates a person for one task. */
export const someone = (first_name, last_name, rest = {}) => {
  count += 1;
  return api("POST", "/employees", { email: `${first_name}.${last_name}.${count}@example.com`.toLowerCase(), first_name, last_name, ...rest });
};

const gone = (dialog) => dialog.waitFor({ state: "detached" });
const button = (on, name) => on.getByRole("button", { name, exact: true });
/** Finds a person in a field. */
export async function choose(on, label, name) {
  await on.getByRole("searchbox", { name: label }).fill(name);
  await on.getByRole("button", { name: new RegExp(`^${name}`) }).first().click();
}

/** Hires a person with department, manager and a field of the organization, and changes all of it in one form. */
export async function hire(page, { data, check }) {
  await nav(page, "People");
  await button(page, "New person").click();
  const dialog = page.getByRole("dialog");
  check(await dialog.getByLabel("First name").evaluate((field) => field === document.activeElement), "the dialog opens elsewhere than in its first field");
  await accessible(page, "the form of a person", check);
  await dialog.getByLabel("First name").fill("Yusuf");
  await dialog.getByLabel("Last name").fill("Demir");
  await dialog.getByLabel("E-mail").fill("yusuf.demir@example.com");
  await dialog.getByRole("combobox", { name: "Department" }).selectOption("Product");
  await choose(dialog, "Manager", "Jonas Okafor");
  await dialog.getByLabel("Name of a field").fill("city");
  await button(dialog, "Add").click();
  await dialog.getByLabel("city", { exact: true }).fill("Izmir");
  await button(dialog, "Create").click();
  await heading(page, "Yusuf Demir");
  const { data: [stored] } = await api("GET", "/employees?filter[email]=yusuf.demir@example.com");
  check(stored.manager_id === data.jonas.id && stored.department_id === data.jonas.department_id && stored.custom_fields.city === "Izmir", `stored: ${JSON.stringify(stored)}`);
  await button(page, "Edit").click();
  await dialog.getByLabel("External id").fill("P-4711");
  await button(dialog, "Remove: city").click();
  await button(dialog, "Remove: Jonas Okafor").click();
  check(await dialog.getByRole("searchbox", { name: "Manager" }).evaluate((field) => field === document.activeElement), "the focus is lost with the chosen person");
  await button(dialog, "Save").click();
  await gone(dialog);
  const changed = await api("GET", `/employees/${stored.id}`);
  check(changed.external_id === "P-4711" && changed.manager_id === null && Object.keys(changed.custom_fields).length === 0, `changed: ${JSON.stringify(changed)}`);
  check(changed.last_name === "Demir" && changed.department_id === stored.department_id, "fields that were not touched are changed");
}

/** Writes feedback that its person does not see: the badge says so wherever it is shown. */
export async function observe(page, { origin, check }) {
  const { id } = await someone("Noa", "Levi");
  await page.goto(`${origin}/console/people/${id}`);
  await heading(page, "Noa Levi");
  await button(page, "New observation").first().click();
  const dialog = page.getByRole("dialog");
  check(await button(dialog, "Create").isDisabled(), "an empty observation can be sent");
  await dialog.getByRole("combobox", { name: "Type" }).selectOption("opportunity");
  await dialog.getByRole("combobox", { name: "Visible to" }).selectOption("managers");
  await dialog.getByLabel("Observation", { exact: true }).fill("Answers late when the queue is long.");
  await dialog.getByLabel("Recommended action").fill("Say when the answer comes.");
  await dialog.getByRole("checkbox").first().check();
  await choose(dialog, "Author", "Ines Duarte");
  await button(dialog, "Create").click();
  await gone(dialog);
  const { data: [stored] } = await api("GET", `/observations?filter[employee_id]=${id}`);
  check(stored.visibility === "managers" && stored.recommended_action === "Say when the answer comes." && stored.impact === null && stored.attribute_ids.length === 1, `stored: ${JSON.stringify(stored)}`);
  await page.getByRole("region", { name: "Observations" }).getByText("Managers only").waitFor();
  await page.goto(`${origin}/console/feedback?person=${id}`);
  await page.locator(".entry").getByText("Managers only").waitFor();
  await page.locator(".entry-head").filter({ hasText: "Noa Levi" }).getByText("by Ines Duarte").waitFor();
}

/** Writes an objective with key results for a person, and submits it for review. */
export async function plan(page, { origin, check }) {
  const { id } = await someone("Ada", "Keller");
  await page.goto(`${origin}/console/people/${id}`);
  await button(page, "New objective").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Title").fill("The release notes are read");
  await dialog.getByLabel("From", { exact: true }).fill("2026-01-01");
  await dialog.getByLabel("To", { exact: true }).fill("2026-12-31");
  await button(dialog, "Add a key result").click();
  await dialog.getByLabel("What is measured").fill("Readers");
  await dialog.getByLabel("Target").fill("400");
  await dialog.getByLabel("Unit").fill("people");
  await dialog.getByRole("combobox", { name: "Afterwards" }).selectOption("submit");
  await button(dialog, "Create").click();
  await gone(dialog);
  const { data: [stored] } = await api("GET", `/employee-objectives?filter[owner_id]=${id}`);
  const [result] = stored.key_results;
  check(stored.submitted_at !== null && result.target === 400 && result.unit === "people" && result.metric === "number", `stored: ${JSON.stringify(stored)}`);
  const team = await api("POST", "/manager-objectives", { owner_id: id, title: "The team reads", period_start: "2026-01-01", period_end: "2026-12-31" });
  await page.goto(`${origin}/console/feedback/objectives/${team.id}`);
  await heading(page, "The team reads");
  await page.getByText("No check-ins").waitFor();
  await page.goto(`${origin}/console/people/${id}`);
  await page.getByRole("link", { name: "The release notes are read" }).click();
  await heading(page, "The release notes are read");
  const history = page.getByRole("region", { name: "History" });
  await history.getByText("Submitted", { exact: true }).waitFor();
  await history.getByText("Readers: 0 → 400 people").waitFor();
  await button(page, "Edit").click();
  await dialog.getByLabel("Description").fill("Counted by the page itself.");
  await button(dialog, "Save").click();
  await gone(dialog);
  check((await api("GET", `/employee-objectives/${stored.id}`)).description === "Counted by the page itself.", "the description is not stored");
}

/** Writes a summary beside what it cites, corrects the draft, and finds the earlier text. */
export async function summarize(page, { data, origin, check }) {
  const { id } = await someone("Lin", "Wei", { manager_id: data.ines.id });
  const seen = await api("POST", "/observations", { employee_id: id, type: "strength", observation: "Lin taught the new colleagues." });
  await page.goto(`${origin}/console/people/${id}`);
  await more(page, "New summary");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Title").fill("Lin, second half");
  await dialog.getByLabel("Text").fill("A first text.");
  await button(dialog, "Create").click();
  await heading(page, "Lin, second half");
  await button(page, "Edit").click();
  await page.getByRole("checkbox", { name: /Lin taught the new colleagues/ }).check();
  await page.getByLabel("Text").fill("A better text.");
  await button(page, "Save").click();
  await page.getByRole("article").getByText("A better text.").waitFor();
  await page.getByRole("region", { name: "What it cites" }).getByText("Lin taught the new colleagues.").waitFor();
  const { data: [stored] } = await api("GET", `/summaries?filter[employee_id]=${id}`);
  check(stored.body === "A better text." && stored.included_observation_ids.join() === seen.id, `stored: ${JSON.stringify(stored)}`);
  await page.getByRole("region", { name: "Earlier versions" }).locator("summary").first().click();
  await page.getByText("A first text.", { exact: true }).waitFor();
  await button(page, "Edit").click();
  await page.getByLabel("Text").fill("My text.");
  await api("PATCH", `/summaries/${stored.id}`, { body: "Their text." });
  await button(page, "Save").click();
  const stale = page.getByRole("dialog", { name: "Changed meanwhile" });
  await stale.getByText("Their text.").waitFor();
  await button(stale, "Save my version").click();
  await gone(stale);
  await page.getByRole("article").getByText("My text.").waitFor();
  await accessible(page, "a summary", check);
}

/** Begins a conversation between two people and writes a message in the name of one. */
export async function talk(page, { data, check }) {
  await nav(page, "Feedback");
  await page.getByRole("link", { name: "Conversations", exact: true }).click();
  await button(page, "New conversation").click();
  const dialog = page.getByRole("dialog");
  await choose(dialog, "Participants", "Jonas Okafor");
  await choose(dialog, "Participants", "Mara Lindqvist");
  await dialog.getByLabel("Title").fill("Plans of the spring");
  await button(dialog, "Create").click();
  await gone(dialog);
  await button(page, "Read: Plans of the spring").click();
  await dialog.getByText("No messages yet.").waitFor();
  await dialog.getByRole("combobox", { name: "In the name of" }).selectOption(data.jonas.id);
  await dialog.getByLabel("Message").fill("Shall we begin in March?");
  await button(dialog, "Send").click();
  await dialog.locator(".entry").getByText("Shall we begin in March?").waitFor();
  const { data: [talk] } = await api("GET", `/conversations?filter[participant_id]=${data.jonas.id}`);
  const { data: [message] } = await api("GET", `/conversations/${talk.id}/messages`);
  check(message.author_id === data.jonas.id && message.body === "Shall we begin in March?", `stored: ${JSON.stringify(message)}`);
}

/** Asks two people for feedback about a third one. */
export async function ask(page, { data, check }) {
  await nav(page, "Feedback");
  await page.getByRole("link", { name: "Assignments", exact: true }).click();
  await button(page, "Ask for feedback").first().click();
  const dialog = page.getByRole("dialog");
  await choose(dialog, "About", "Mara Lindqvist");
  await choose(dialog, "Who is asked", "Ines Duarte");
  await choose(dialog, "Who is asked", "Jonas Okafor");
  await dialog.getByLabel("Question").fill("How does Mara lead?");
  await dialog.getByLabel("Due").fill("2027-03-01");
  await button(dialog, "Create").click();
  await gone(dialog);
  await page.getByText("How does Mara lead?").waitFor();
  const { data: all } = await api("GET", `/assignments?filter[employee_id]=${data.mara.id}`);
  check(all.length === 1 && all[0].reviewer_ids.join() === [data.ines.id, data.jonas.id].join() && all[0].due_date === "2027-03-01", `stored: ${JSON.stringify(all)}`);
}

/** Changes the manager of three people and deactivates two of them with one bar; what is refused stays selected. */
export async function many(page, { data, origin, check }) {
  const people = [await someone("Bulk", "One"), await someone("Bulk", "Two"), await someone("Bulk", "Three")];
  const stored = () => Promise.all(people.map(({ id }) => api("GET", `/employees/${id}`)));
  await page.goto(`${origin}/console/people?q=Bulk`);
  const bar = page.getByRole("region", { name: /selected/ });
  const dialog = page.getByRole("dialog");
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await bar.getByText("3 selected").waitFor();
  await accessible(page, "the bar of selected people", check);
  await button(bar, "Change manager").click();
  await choose(dialog, "Manager", "Ines Duarte");
  await button(dialog, "Change manager").click();
  await gone(dialog);
  check((await stored()).every((one) => one.manager_id === data.ines.id), "the manager of all is not stored");
  check((await bar.count()) === 0, "the selection stays");
  await page.getByText("3 changed", { exact: true }).waitFor();
  for (const name of ["Bulk One", "Bulk Two"]) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  await api("POST", `/employees/${people[1].id}/deactivate`);
  await button(bar, "Deactivate").click();
  await button(dialog, "Deactivate").click();
  await dialog.getByText("1 not done.").waitFor();
  await dialog.getByRole("listitem").filter({ hasText: "Bulk Two" }).getByText("Not possible in the state “Deactivated”.").waitFor();
  await page.getByText("1 of 2 deactivated", { exact: true }).waitFor();
  check((await stored()).map((one) => one.status).join() === "deactivated,deactivated,active", "one bar deactivates what it names");
}

/** Approves the selected objectives in review. */
export async function approve(page, { origin, check }) {
  const { id } = await someone("Olga", "Sand");
  const goals = [];
  for (const title of ["The stock is counted", "The returns are counted"]) {
    const goal = await api("POST", "/employee-objectives", { owner_id: id, title, period_start: "2027-01-01", period_end: "2027-12-31" });
    goals.push(await api("POST", `/employee-objectives/${goal.id}/submit`));
  }
  await page.goto(`${origin}/console/feedback?view=objectives&state=in_review&owner=${id}`);
  for (const goal of goals) await page.getByRole("checkbox", { name: `Select ${goal.title}` }).check();
  await button(page.getByRole("region", { name: "2 selected" }), "Approve").click();
  await button(page.getByRole("dialog"), "Approve").click();
  await gone(page.getByRole("dialog"));
  for (const goal of goals) check((await api("GET", `/employee-objectives/${goal.id}`)).status === "approved", `${goal.title} is not approved`);
}

/** Resends the selected failed deliveries. */
export async function resend(page, { failing, origin, check }) {
  failing.state.status = 500;
  await someone("Fail", "Once");
  await page.goto(`${origin}/console/webhooks?view=deliveries&state=failed`);
  await page.getByRole("checkbox", { name: /^Select employee\.created/ }).first().check();
  failing.state.status = 200;
  const before = failing.state.received.length;
  await button(page.getByRole("region", { name: "1 selected" }), "Resend").click();
  await button(page.getByRole("dialog"), "Resend").click();
  await gone(page.getByRole("dialog"));
  await eventually(async () => failing.state.received.length, (now) => now > before, "the receiver gets the delivery");
  check(true, "");
}

/** Renames the organization, requires reviews, and keeps departments and attributes. */
export async function organization(page, { check }) {
  const was = await api("GET", "/organization");
  await nav(page, "Organization");
  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Checks and sons");
  await dialog.getByRole("combobox", { name: "Review of summaries" }).selectOption("required");
  await button(dialog, "Save").click();
  await gone(dialog);
  const changed = await api("GET", "/organization");
  check(changed.name === "Checks and sons" && changed.summary_review === "required" && changed.objective_review === was.objective_review, `stored: ${JSON.stringify(changed)}`);
  await api("PATCH", "/organization", { name: was.name, summary_review: was.summary_review });
  await page.getByRole("link", { name: "Departments", exact: true }).click();
  await button(page, "New department").click();
  await dialog.getByLabel("Name").fill("Legal");
  await button(dialog, "Create").click();
  await gone(dialog);
  await button(page, "Edit: Legal").click();
  await dialog.getByLabel("Name").fill("Law");
  await button(dialog, "Save").click();
  await gone(dialog);
  await button(page, "Archive: Law").click();
  await page.getByText("Law is archived").waitFor();
  const { data: archived } = await api("GET", "/departments?filter[archived]=true");
  check(archived.map((one) => one.name).join() === "Law", "the department is not archived");
  await page.getByRole("link", { name: "Attributes", exact: true }).click();
  await button(page, "New attribute").click();
  await dialog.getByLabel("Name").fill("Patience");
  await dialog.getByLabel("Category").fill("Character");
  await dialog.getByRole("combobox", { name: "Tone" }).selectOption("positive");
  await button(dialog, "Create").click();
  await gone(dialog);
  const { data: [stored] } = await api("GET", "/attributes?filter[name]=Patience");
  check(stored.category === "Character" && stored.tone === "positive", `stored: ${JSON.stringify(stored)}`);
}

/** Takes a printable page of the data about a person: texts of people stay texts, and the file has their name. */
export async function print(page, { data, origin, check }) {
  const { data: [department] } = await api("GET", "/departments?limit=1");
  const { data: [attribute] } = await api("GET", "/attributes?limit=1");
  const { id } = await someone("Mila", "Novak", { manager_id: data.ines.id, department_id: department.id });
  await api("POST", "/observations", { employee_id: id, author_id: data.jonas.id, type: "strength", attribute_ids: [attribute.id],
    observation: "<img src=x onerror=alert(1)> was fixed." });
  await page.goto(`${origin}/console/people/${id}`);
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Printable page").click()]);
  check(/^Mila Novak \d{4}-\d\d-\d\d\.html$/.test(file.suggestedFilename()), `the file is ${file.suggestedFilename()}`);
  const text = await readFile(await file.path(), "utf8");
  check(text.includes("&lt;img src=x onerror=alert(1)&gt; was fixed.") && !text.includes("<img"), "a text became markup");
  for (const name of ["Ines Duarte", "Jonas Okafor", department.name, attribute.name]) check(text.includes(`>${name}<`), `the page does not name ${name}`);
  const ids = [...text.matchAll(/<dt>([^<]+)<\/dt><dd[^>]*>[^<]*\b(?:emp|dep|attr)_/g)].map(([, label]) => label);
  check(ids.every((label) => label === "Id"), `ids in place of names: ${ids}`);
}

/** Leaves forms: an empty one closes, a typed one asks, and the focus returns to the button that opened it. */
export async function leave(page, { origin, check }) {
  const boss = await someone("Vera", "Stone", { role: "manager" });
  await someone("Udo", "Stone", { manager_id: boss.id });
  await page.goto(`${origin}/console/people/${boss.id}`);
  const open = button(page, "New observation").first();
  const dialog = page.getByRole("dialog");
  const hasFocus = () => open.evaluate((one) => one === document.activeElement);
  for (const close of [() => page.keyboard.press("Escape"), () => button(dialog, "Close").click(), () => button(dialog, "Cancel").click()]) {
    await open.focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await close();
    await gone(dialog);
    check(await hasFocus(), "the focus is lost after a dialog");
  }
  await open.click();
  await dialog.getByLabel("Observation", { exact: true }).fill("A long text.");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("Escape");
  await dialog.getByText("Discard what you typed?").waitFor();
  await button(dialog, "Keep it open").click();
  check((await dialog.getByLabel("Observation", { exact: true }).inputValue()) === "A long text.", "the typed text is lost");
  await page.keyboard.press("Escape");
  await button(dialog, "Discard").click();
  await gone(dialog);
  await more(page, "Deactivate");
  await dialog.getByText("1 person reports to Vera Stone and keeps this manager until you change it.").waitFor();
  check(await button(dialog, "Cancel").evaluate((one) => one === document.activeElement), "a dangerous dialog opens on its button");
  await page.keyboard.press("Escape");
  await gone(dialog);
}

/** Connects an identity provider: connector, token and URL come from one dialog, and the token works. */
export async function provide(page, { origin, check }) {
  await nav(page, "Connectors");
  await button(page, "Connect an identity provider").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name of the provider").fill("Entra ID");
  await dialog.getByRole("combobox", { name: "Data set" }).selectOption("test");
  await button(dialog, "Create").click();
  await dialog.getByText("The token is shown only once.").waitFor();
  const [url, token] = await dialog.locator(".secret code").allInnerTexts();
  check(url === `${origin}/scim/v2`, `the URL is ${url}`);
  const answer = await fetch(`${url}/Users?count=1`, { headers: { authorization: `Bearer ${token}` } });
  check(answer.status === 200, `the token answers ${answer.status}`);
  const { data: all } = await api("GET", "/connectors?limit=100");
  check(all.filter((one) => one.type === "scim" && one.hris_source === "entra-id").length === 1, "the connector is not stored");
  await page.keyboard.press("Escape");
  await dialog.getByText("Close it? The secret is not shown again.").waitFor();
  await button(dialog, "Close it").click();
  await gone(dialog);
}

/** Finds a person with the keyboard; a search that fails does not look like one that finds nobody. */
export async function find(page, { data, origin, check }) {
  await page.goto(`${origin}/console/people/${data.ruth.id}`);
  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Remove: / }).click();
  const field = dialog.getByRole("searchbox", { name: "Manager" });
  await page.route("**/v1/search?*", (route) => route.abort("internetdisconnected"));
  await field.fill("Mara");
  await dialog.getByText("The search failed. Type again.").waitFor();
  await page.unroute("**/v1/search?*");
  await field.fill("Nobody at all");
  await dialog.getByText("Nobody found.").waitFor();
  await field.fill("Mara Lind");
  await dialog.getByRole("status").getByText("1 person found").waitFor();
  await page.keyboard.press("Escape");
  check((await field.inputValue()) === "" && (await dialog.count()) === 1, "Escape closes the dialog instead of the people");
  await field.fill("Mara Lind");
  await dialog.getByRole("button", { name: /^Mara Lindqvist/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await button(dialog, "Remove: Mara Lindqvist").waitFor();
  check((await field.count()) === 0, "a chosen person leaves an empty field");
  await page.keyboard.press("Escape");
  await button(dialog, "Discard").click();
  await gone(dialog);
}

/** Creates a key that acts for a person: it sees what this person may see. */
export async function delegate(page, { data, origin, check }) {
  await nav(page, "API keys");
  await button(page, "New key").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Jonas on the phone");
  await choose(dialog, "Acts for", "Jonas Okafor");
  await dialog.getByLabel("Observations · read").check();
  await button(dialog, "Create").click();
  const secret = await dialog.locator(".secret code").innerText();
  await button(dialog, "I have stored it").click();
  const me = await (await fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${secret}` } })).json();
  check(me.employee_id === data.jonas.id && me.scopes.join() === "observations:read", `the key is ${JSON.stringify(me)}`);
  const row = page.getByRole("row").filter({ hasText: "Jonas on the phone" });
  await row.getByText("Jonas Okafor").waitFor();
}

/** Finds a person who left, and rehires them. */
export async function left(page, { check }) {
  const { id } = await someone("Zoe", "Quist");
  await api("POST", `/employees/${id}/deactivate`);
  await nav(page, "People");
  check((await page.getByRole("combobox", { name: "State" }).locator("option").first().innerText()) === "Active", "the first state is not named after what it shows");
  await page.getByRole("link", { name: "People who left" }).click();
  await page.getByRole("table").getByRole("link", { name: "Zoe Quist" }).click();
  await heading(page, "Zoe Quist");
  await button(page, "Rehire").click();
  await button(page.getByRole("dialog"), "Rehire").click();
  await page.getByText("Zoe Quist is rehired").waitFor();
  check((await api("GET", `/employees/${id}`)).status === "active", "the person is not active");
}
