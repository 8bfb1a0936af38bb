// Tasks with what waits: what was sent back with a reason, messages that were not read, and the filters of lists.
import { accessible, fits } from "./looks.mjs";
import { eventually, heading, inGerman, settled } from "./page.mjs";
import { api } from "./service.mjs";
import { as } from "./tasks_bound.mjs";
import { someone } from "./tasks_write.mjs";

const PERIOD = { period_start: "2026-01-01", period_end: "2027-12-31" };
const button = (on, name) => on.getByRole("button", { name, exact: true });
const gone = (dialog) => dialog.waitFor({ state: "detached" });

/** An author reads why an objective and a summary came back, on My page and on theirs, corrects them and submits them again. */
export async function reasons(_, scene) {
  const { data, origin, check, folder } = scene;
  const author = await someone("Otto", "Brand", { role: "manager", manager_id: data.ines.id });
  const subject = await someone("Pia", "Kern", { manager_id: author.id });
  const goal = await api("POST", "/employee-objectives", { owner_id: author.id, title: "The team is happier", ...PERIOD });
  const summary = await api("POST", "/summaries", { employee_id: subject.id, author_id: author.id, title: "Pia, the year", body: "A good year." });
  for (const path of [`/employee-objectives/${goal.id}`, `/summaries/${summary.id}`]) await api("POST", `${path}/submit`);
  await api("POST", `/employee-objectives/${goal.id}/reject`, { reason: "Name a number." });
  await api("POST", `/summaries/${summary.id}/return`, { reason: "Say what follows." });
  const page = await as(scene, author);
  const waits = page.getByRole("region", { name: "Waits for you" });
  const sentBack = page.getByRole("region", { name: "Sent back" });
  await page.getByRole("listitem").filter({ hasText: "Sent back" }).getByText("Say what follows.").waitFor();
  await page.goto(`${origin}/console/me`);
  await waits.getByText("Name a number.").waitFor();
  await waits.getByText("Say what follows.").waitFor();
  await accessible(page, "what was sent back", check);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, "what was sent back", check);
  await page.screenshot({ path: `${folder}/sent-back-390.png` });
  await page.setViewportSize({ width: 1280, height: 900 });
  await inGerman(page, () => page.getByRole("region", { name: "Wartet auf Sie" }).getByText("Zurückgegeben").nth(1).waitFor());
  await waits.getByRole("link", { name: goal.title }).click();
  await heading(page, goal.title);
  await sentBack.getByText("Name a number.").waitFor();
  await accessible(page, "an objective that was sent back", check);
  await button(page, "Submit").click();
  await button(page.getByRole("dialog"), "Submit").click();
  await gone(sentBack);
  await page.goto(`${origin}/console/me`);
  await waits.getByRole("link", { name: summary.title }).click();
  await sentBack.getByText("Say what follows.").waitFor();
  await button(page, "Edit").click();
  await page.getByLabel("Text").fill("A good year, and a course in spring.");
  await button(page, "Save").click();
  await page.getByRole("region", { name: "Earlier versions" }).locator("summary").first().click();
  await page.getByText("A good year.", { exact: true }).waitFor();
  await accessible(page, "a summary that was sent back", check);
  await button(page, "Submit").click();
  await button(page.getByRole("dialog"), "Submit").click();
  await gone(sentBack);
  await page.goto(`${origin}/console/me`);
  await waits.getByText("Nothing waits for you.").waitFor();
  await page.context().close();
  await unseen(scene, subject, summary);
}

/** The person of a shared summary sees no earlier text, and is refused nothing. */
async function unseen(scene, subject, summary) {
  for (const step of ["approve", "share"]) await api("POST", `/summaries/${summary.id}/${step}`);
  const page = await as(scene, subject);
  const refused = [];
  page.on("response", (answer) => answer.status() === 403 && refused.push(answer.url()));
  await page.goto(`${scene.origin}/console/feedback/summaries/${summary.id}`);
  await page.getByText("A good year, and a course in spring.").waitFor();
  await settled(page);
  scene.check((await page.getByText("Earlier versions").count()) === 0 && refused.length === 0, `the person of a summary is refused ${refused}`);
  await page.context().close();
}

/** A person sees that messages wait, reads them, and nothing waits any longer, in another browser either. */
export async function unread(_, scene) {
  const { data, origin, check } = scene;
  const person = await someone("Nils", "Falk", { manager_id: data.ines.id });
  const talk = await api("POST", "/conversations", { title: "The fair", participant_ids: [data.jonas.id, person.id] });
  for (const body of ["Shall we go?", "It is in May."]) await api("POST", `/conversations/${talk.id}/messages`, { author_id: data.jonas.id, body });
  const page = await as(scene, person);
  await page.getByRole("listitem").filter({ hasText: "2 new messages" }).getByRole("link", { name: "The fair" }).waitFor();
  await page.goto(`${origin}/console/me`);
  const waits = page.getByRole("region", { name: "Waits for you" });
  await waits.getByText("2 new messages").waitFor();
  await accessible(page, "unread messages", check);
  await inGerman(page, () => page.getByText("2 neue Nachrichten").waitFor());
  await waits.getByRole("link", { name: "The fair" }).click();
  const dialog = page.getByRole("dialog", { name: "The fair" });
  await dialog.getByText("It is in May.").waitFor();
  const unreadOnes = async () => (await api("GET", `/notifications?filter[recipient_id]=${person.id}&filter[unread]=true`)).data;
  await eventually(unreadOnes, (rows) => rows.length === 0, "the messages are read");
  await button(dialog, "Close").click();
  await gone(dialog);
  await page.getByText("2 new messages").waitFor({ state: "detached" });
  await page.goto(`${origin}/console/me`);
  await waits.getByText("Nothing waits for you.").waitFor();
  await page.context().close();
}

/** A person with more notifications than a page sees that there are more, and reads on. The number beside My page says so, too. */
export async function older(_, scene) {
  const { data, origin, check } = scene;
  const person = await someone("Lars", "Berg", { manager_id: data.ines.id });
  const talks = [];
  for (const title of ["The old one", "The busy one"]) talks.push(await api("POST", "/conversations", { title, participant_ids: [data.jonas.id, person.id] }));
  const say = (talk, body) => api("POST", `/conversations/${talk.id}/messages`, { author_id: data.jonas.id, body });
  await say(talks[0], "Are you there?");
  for (let count = 1; count <= 100; count += 1) await say(talks[1], `Message ${count}`);
  const page = await as(scene, person);
  const number = page.getByRole("navigation", { name: "Screens" }).getByTitle(/new message/);
  for (const address of ["/", "/me"]) {
    await page.goto(`${origin}/console${address}`);
    const list = page.locator(".attention");
    await list.getByText("100+ new messages", { exact: true }).waitFor();
    await number.getByText("100+", { exact: true }).waitFor();
    check((await list.getByText("The old one").count()) === 0, "the first page has all notifications");
    await accessible(page, `older notifications on ${address}`, check);
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page, `older notifications on ${address}`, check);
    await page.setViewportSize({ width: 1280, height: 900 });
    await button(page, "Show more: Notifications").click();
    await list.getByRole("listitem").filter({ hasText: "The old one" }).getByText("1 new message", { exact: true }).waitFor();
    await list.getByText("100 new messages", { exact: true }).waitFor();
    await number.getByText("101", { exact: true }).waitFor();
    check((await button(page, "Show more: Notifications").count()) === 0, "there is more than all");
  }
  await page.goto(`${origin}/console/me?view=conversations`);
  await page.getByText("100+ new messages", { exact: true }).waitFor();
  await inGerman(page, () => page.getByText("100+ neue Nachrichten", { exact: true }).waitFor());
  await page.context().close();
}

/** Finds the rest of the filters behind a button, in both languages; one that is set stays in sight. */
export async function filters(_, { open, origin, check }) {
  for (const [locale, more, fewer, name] of [["en-GB", "More filters", "Fewer filters", "Confidence"], ["de-DE", "Weitere Filter", "Weniger Filter", "Zuversicht"]]) {
    const page = await open({ locale }, null);
    await page.evaluate((key) => sessionStorage.setItem("candor-key", key), process.env.CANDOR_API_KEY);
    await page.goto(`${origin}/console/feedback?view=objectives`);
    const field = page.getByRole("combobox", { name });
    await button(page, more).waitFor();
    check((await field.count()) === 0, "all filters are open");
    const places = () => page.locator(".filters .field, .filters .button").evaluateAll((all) => all.slice(0, 3).concat(all.slice(-2)).map((one) => one.getBoundingClientRect()).map(({ x, y }) => `${x} ${y}`));
    const before = await places();
    await button(page, more).click();
    await field.waitFor();
    check((await places()).join() === before.join(), `the filters move when the rest opens: ${before} to ${await places()}`);
    await accessible(page, `all filters, ${locale}`, check);
    await button(page, fewer).click();
    await gone(field);
    await button(page, more).click();
    await field.selectOption("at_risk");
    await page.waitForURL(/confidence=at_risk/);
    await page.reload();
    await field.waitFor();
    check((await field.inputValue()) === "at_risk", "a filter that is set is hidden");
    await page.context().close();
  }
}
