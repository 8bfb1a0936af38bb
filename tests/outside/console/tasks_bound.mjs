// Tasks of people whose session acts for them: managers and employees.
import { accessible, fits } from "./looks.mjs";
import { asked, heading, MOST_REQUESTS, nav, settled } from "./page.mjs";
import { api } from "./service.mjs";
import { choose, someone } from "./tasks_write.mjs";

const SCOPES = ["observations", "objectives", "summaries", "conversations", "assignments", "notifications"].flatMap((one) => [`${one}:read`, `${one}:write`]);
const PERIOD = { period_start: "2026-01-01", period_end: "2027-12-31" };
const button = (on, name) => on.getByRole("button", { name, exact: true });
const gone = (dialog) => dialog.waitFor({ state: "detached" });

/** Opens the console as a person. */
export async function as({ open }, person, options = {}) {
  const { key } = await api("POST", "/api-keys", { name: person.first_name, scopes: [...SCOPES, "employees:read"], employee_id: person.id });
  return open(options, key);
}

/** A manager with two reports: an objective and a summary in review, an objective without a check-in. */
async function staff(data) {
  const boss = await someone("Petra", "Holm", { role: "manager", manager_id: data.mara.id });
  const [first, second] = [await someone("Rui", "Costa", { manager_id: boss.id }), await someone("Eva", "Blum", { manager_id: boss.id })];
  const goal = async (owner, title, rest) => api("POST", "/employee-objectives", { owner_id: owner.id, title, ...PERIOD, ...rest });
  const [good, bad] = [await goal(first, "The shelves are labelled"), await goal(first, "Everything is better")];
  for (const { id } of [good, bad]) await api("POST", `/employee-objectives/${id}/submit`);
  const running = await goal(second, "The keys are counted", { status: "in_progress" });
  const summary = await api("POST", "/summaries", { employee_id: second.id, author_id: data.mara.id, title: "Eva, the year", body: "A year of keys." });
  await api("POST", `/summaries/${summary.id}/submit`);
  return { boss, first, second, good, bad, running, summary };
}

/** A manager sees each report, approves, rejects with a reason, checks in and writes feedback. */
export async function team(_, scene) {
  const { data, check, origin, folder } = scene;
  const all = await staff(data);
  const page = await as(scene, all.boss);
  const paths = await asked(page, `${origin}/console/team`);
  check(paths.length <= MOST_REQUESTS, `My team costs ${paths.length} requests: ${paths.join(" ")}`);
  const waits = page.getByRole("region", { name: "Reviews that wait" });
  const dialog = page.getByRole("dialog");
  await waits.getByText("Eva, the year").waitFor();
  check((await page.getByRole("region", { name: "Rui Costa" }).count()) === 1 && (await page.getByRole("region", { name: "Ruth Abebe" }).count()) === 0, "the team is not the team");
  await accessible(page, "my team", check);
  await button(waits, `Approve: ${all.good.title}`).click();
  await button(dialog, "Approve").click();
  await gone(dialog);
  await button(waits, `Reject: ${all.bad.title}`).click();
  check(await button(dialog, "Reject").isDisabled(), "a rejection needs no reason");
  await dialog.getByLabel(/Reason/).fill("Name a number.");
  await button(dialog, "Reject").click();
  await gone(dialog);
  await button(waits, `Return: ${all.summary.title}`).click();
  await dialog.getByLabel(/Reason/).fill("Say what follows.");
  await button(dialog, "Return").click();
  await gone(dialog);
  await waits.getByText("No review waits.").waitFor();
  const eva = page.getByRole("region", { name: "Eva Blum" });
  await button(eva, `Check in: ${all.running.title}`).click();
  await dialog.getByLabel("Progress").fill("40");
  await dialog.getByRole("combobox", { name: "Confidence" }).selectOption("on_track");
  await button(dialog, "Check in").click();
  await gone(dialog);
  await eva.getByText("40%").waitFor();
  await eva.getByText("On track").waitFor();
  await eva.getByText("None yet").waitFor();
  await button(eva, "Write feedback: Eva Blum").click();
  await dialog.getByLabel("Observation", { exact: true }).fill("Eva found the lost key.");
  await button(dialog, "Create").click();
  await gone(dialog);
  await eva.getByText("Strength").waitFor();
  const { data: [written] } = await api("GET", `/observations?filter[employee_id]=${all.second.id}`);
  check(written.author_id === all.boss.id, "the feedback has another author");
  const states = await Promise.all([all.good, all.bad].map(({ id }) => api("GET", `/employee-objectives/${id}`)));
  check(states.map((one) => `${one.status} ${one.submitted_at !== null}`).join().endsWith("proposed false") && ["approved", "in_progress"].includes(states[0].status), `states: ${states.map((one) => one.status)}`);
  check((await api("GET", `/summaries/${all.summary.id}`)).status === "draft", "the summary is not returned");
  await page.setViewportSize({ width: 390, height: 844 });
  await settled(page);
  await fits(page, "my team", check);
  await page.screenshot({ path: `${folder}/team-390.png` });
  await page.context().close();
}

/** An employee sees own feedback and objectives, answers a request, checks in, answers a summary and writes a colleague. */
export async function mine(_, scene) {
  const { data, check, origin, folder } = scene;
  const person = await someone("Ivo", "Marek", { manager_id: data.ines.id });
  await api("POST", "/observations", { employee_id: person.id, author_id: data.ines.id, type: "strength", observation: "Ivo calmed the caller." });
  await api("POST", "/observations", { employee_id: person.id, author_id: data.ines.id, type: "opportunity", observation: "Hidden from Ivo.", visibility: "managers" });
  const goal = await api("POST", "/employee-objectives", { owner_id: person.id, title: "Three guides are written", ...PERIOD, status: "in_progress" });
  const wish = await api("POST", "/assignments", { title: "How was the fair?", employee_id: data.jonas.id, requester_id: data.ines.id, reviewer_ids: [person.id] });
  const summary = await api("POST", "/summaries", { employee_id: person.id, author_id: data.ines.id, title: "Ivo, the year", body: "A calm year." });
  for (const step of ["submit", "approve", "share"]) await api("POST", `/summaries/${summary.id}/${step}`);
  const page = await as(scene, person);
  const paths = await asked(page, `${origin}/console/me`);
  // One more, for the notifications.
  check(paths.length <= MOST_REQUESTS + 1, `My page costs ${paths.length} requests: ${paths.join(" ")}`);
  await page.getByRole("region", { name: "Feedback" }).getByText("Ivo calmed the caller.").waitFor();
  check((await page.getByText("Hidden from Ivo.").count()) === 0, "an employee sees what is for managers only");
  await accessible(page, "my page", check);
  const waits = page.getByRole("region", { name: "Waits for you" });
  const dialog = page.getByRole("dialog");
  await button(waits, `Answer: ${wish.title}`).click();
  await dialog.getByLabel("Observation", { exact: true }).fill("Jonas explained it in five minutes.");
  await button(dialog, "Send").click();
  await gone(dialog);
  await waits.getByText(wish.title).waitFor({ state: "detached" });
  check((await api("GET", `/assignments/${wish.id}`)).status === "completed", "the answer is not stored");
  await button(page, `Check in: ${goal.title}`).click();
  await dialog.getByLabel("Progress").fill("33");
  await button(dialog, "Check in").click();
  await gone(dialog);
  await page.getByRole("region", { name: "Objectives" }).getByText("33%").waitFor();
  await waits.getByRole("link", { name: summary.title }).click();
  await heading(page, summary.title);
  await button(page, "Answer the summary").click();
  await dialog.getByLabel("Answer of the person").fill("Thank you.");
  await button(dialog, "Save").click();
  await gone(dialog);
  const { employee_feedback } = await api("GET", `/summaries/${summary.id}`);
  check(employee_feedback.comment === "Thank you." && employee_feedback.acknowledged, `stored: ${JSON.stringify(employee_feedback)}`);
  await page.goto(`${origin}/console/me`);
  await waits.getByText("Nothing waits for you.").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, "my page", check);
  await page.screenshot({ path: `${folder}/me-390.png` });
  await page.context().close();
}

/** An employee asks a colleague for feedback and writes to them. */
export async function colleague(_, scene) {
  const { data, check, origin } = scene;
  const person = await someone("Sara", "Lund", { manager_id: data.ines.id });
  const page = await as(scene, person);
  await page.goto(`${origin}/console/me`);
  await page.getByText("No feedback yet").waitFor();
  await button(page, "Ask a colleague").first().click();
  const dialog = page.getByRole("dialog");
  await choose(dialog, "Who is asked", "Jonas Okafor");
  await dialog.getByLabel("Question").fill("How was my first month?");
  await button(dialog, "Create").click();
  await gone(dialog);
  const { data: [wish] } = await api("GET", `/assignments?filter[employee_id]=${person.id}`);
  check(wish.requester_id === person.id && wish.reviewer_ids.join() === data.jonas.id, `stored: ${JSON.stringify(wish)}`);
  await page.getByRole("link", { name: "Conversations", exact: true }).click();
  await button(page, "New conversation").first().click();
  await choose(dialog, "With", "Jonas Okafor");
  await dialog.getByLabel("Title").fill("Lunch");
  await dialog.getByLabel("Message").fill("On Friday?");
  await button(dialog, "Create").click();
  await gone(dialog);
  await button(page, "Read: Lunch").click();
  await dialog.locator(".entry").getByText("On Friday?").waitFor();
  await dialog.getByLabel("Message").fill("Or on Monday?");
  await button(dialog, "Send").click();
  await dialog.locator(".entry").getByText("Or on Monday?").waitFor();
  await page.context().close();
}

/** An employee finds no button for what they may not do, and a key without a person no page of its own. */
export async function rights(page, scene) {
  const { data, check, origin } = scene;
  const person = await someone("Kim", "Ober", { manager_id: data.ines.id });
  const kim = await as(scene, person);
  const links = await kim.getByRole("navigation", { name: "Screens" }).first().getByRole("link").allInnerTexts();
  check(links.join() === "Today,My page,My team,People,Feedback", `an employee sees ${links}`);
  await kim.goto(`${origin}/console/people/${data.ruth.id}`);
  await heading(kim, "Ruth Abebe");
  await kim.waitForLoadState("networkidle");
  const shown = await kim.locator("main").getByRole("button").allInnerTexts();
  for (const name of ["Edit", "Deactivate", "Change manager", "Printable page"]) check(!shown.some((one) => one.trim() === name), `an employee sees ${name}`);
  await kim.goto(`${origin}/console/people`);
  await kim.getByRole("table").getByRole("link").first().waitFor();
  check((await button(kim, "New person").count()) === 0 && (await kim.getByRole("checkbox").count()) === 0, "an employee can change people");
  await kim.goto(`${origin}/console/organization`);
  await kim.getByText("This needs a key of the admin level.").waitFor();
  await kim.context().close();
  await page.goto(`${origin}/console/team`);
  await page.getByText("This needs a session that acts for a person.").waitFor();
  await nav(page, "Today");
}

/** Opens the screens of a manager, with feedback, requests and what was sent back: none of them costs more than five requests. */
export async function frugal(_, scene) {
  const { data, origin, check } = scene;
  const boss = await someone("Gerda", "Noll", { role: "manager", manager_id: data.mara.id });
  const report = await someone("Emil", "Rau", { manager_id: boss.id });
  const goal = await api("POST", "/employee-objectives", { owner_id: boss.id, title: "The guide is read", ...PERIOD });
  const draft = await api("POST", "/summaries", { employee_id: report.id, author_id: boss.id, title: "Emil, the year", body: "Good." });
  for (const path of [`/employee-objectives/${goal.id}`, `/summaries/${draft.id}`]) await api("POST", `${path}/submit`);
  await api("POST", `/employee-objectives/${goal.id}/reject`, { reason: "By whom?" });
  await api("POST", `/summaries/${draft.id}/return`, { reason: "Say more." });
  for (const employee_id of [boss.id, report.id]) await api("POST", "/observations", { employee_id, author_id: data.mara.id, type: "strength", observation: "The guide is good." });
  await api("POST", "/assignments", { title: "How is Emil doing?", employee_id: report.id, requester_id: data.mara.id, reviewer_ids: [boss.id] });
  const page = await as(scene, boss);
  for (const path of ["", "/me", "/me?view=conversations", "/team", "/people", `/people/${report.id}`, "/feedback", `/feedback/objectives/${goal.id}`, `/feedback/summaries/${draft.id}`]) {
    const paths = await asked(page, `${origin}/console${path}`);
    check(paths.length > 0 && paths.length <= MOST_REQUESTS, `${path} costs ${paths.length} requests: ${paths.join(" ")}`);
  }
  await page.context().close();
}
