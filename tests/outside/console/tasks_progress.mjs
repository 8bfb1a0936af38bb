// Tasks with the progress of objectives.
import { accessible, fits, reachable } from "./looks.mjs";
import { nav } from "./page.mjs";
import { api } from "./service.mjs";

const TIME = "Median time to the first answer";
const PERIOD = { status: "in_progress", period_start: "2026-01-01", period_end: "2027-12-31" };

/** Checks in on a phone, corrects a value that is refused, and finds the objective among those at risk. */
export async function progress(page, { data, check, open, origin, folder }) {
  const owner = { owner_id: data.ruth.id, ...PERIOD };
  const quiet = "Each letter has an answer";
  await api("POST", "/employee-objectives", { ...owner, title: quiet });
  const title = "Every case has an answer";
  const goal = await api("POST", "/employee-objectives", { ...owner, title, key_results: [
    { title: TIME, unit: "minutes", start: 180, target: 60 }, { title: "Answers from the handbook", metric: "percent" },
    { title: "The queue has a page", metric: "boolean" }] });
  const path = `/employee-objectives/${goal.id}`;
  const phone = await open({ viewport: { width: 390, height: 844 } });
  const look = async (name) => {
    await accessible(phone, name, check);
    await fits(phone, name, check);
    await reachable(phone, name, check);
    await phone.screenshot({ path: `${folder}/${name}.png` });
  };
  await phone.goto(`${origin}/console/feedback?view=objectives`);
  await phone.getByText(title, { exact: true }).waitFor();
  await look("objectives-390");
  await phone.getByRole("button", { name: `Check in: ${title}` }).click();
  const dialog = phone.getByRole("dialog");
  const send = dialog.getByRole("button", { name: "Check in" });
  check(await send.isDisabled(), "an empty check-in can be sent");
  await dialog.getByLabel(TIME).fill("120.00001");
  await dialog.getByRole("combobox", { name: "The queue has a page" }).selectOption("Yes");
  await dialog.getByRole("combobox", { name: "Confidence" }).selectOption("At risk");
  await dialog.getByLabel("Note").fill("Two of five are ill.");
  await send.click();
  await dialog.locator(".field-error").getByText("4 decimal places").waitFor();
  await look("check-in-390");
  await dialog.getByLabel(TIME).fill("120.5");
  await send.click();
  await phone.getByText(`Checked in: ${title}`).waitFor();
  const stored = await api("GET", path);
  const values = stored.key_results.map((one) => one.current).join();
  check(values === "120.5,0,1" && stored.progress === 49 && stored.confidence === "at_risk", `stored: ${JSON.stringify(stored)}`);
  await phone.getByRole("link", { name: title }).click();
  await phone.getByRole("img", { name: `${TIME}: 49%, 120.5 minutes (from 180 minutes to 60 minutes)` }).waitFor();
  const steps = phone.getByRole("region", { name: "Check-ins" });
  await steps.getByText("Two of five are ill.").waitFor();
  await steps.getByText(`${TIME}: 180 minutes → 120.5 minutes`).waitFor();
  await steps.getByText("The queue has a page: No → Yes").waitFor();
  await steps.getByRole("img", { name: "Progress over the period: 49% – 49%" }).click({ position: { x: 5, y: 5 } });
  await steps.locator("figcaption").getByText(": 49%").waitFor();
  await look("check-ins-390");
  await phone.context().close();

  await page.reload();
  const matter = page.getByRole("listitem").filter({ hasText: quiet });
  await matter.getByText("No check-ins", { exact: true }).waitFor();
  check((await page.getByText(title, { exact: true }).count()) === 0, "an objective with a check-in is said to be quiet");
  await nav(page, "Feedback");
  await page.getByRole("link", { name: "Objectives", exact: true }).click();
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByRole("combobox", { name: "Confidence" }).selectOption("At risk");
  const entry = page.getByRole("row").filter({ hasText: title });
  await entry.getByText("49%", { exact: true }).waitFor();
  check((await entry.getByRole("button").allInnerTexts()).join() === "Check in", "a list offers more than the next step");
  await page.getByText(quiet, { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "Confidence" }).selectOption("");
  const over = await api("POST", "/employee-objectives", { ...owner, title: "The archive is sorted" });
  await api("POST", `/employee-objectives/${over.id}/complete`);
  await page.getByRole("combobox", { name: "Check-ins" }).selectOption("None for 14 days");
  await page.getByText(quiet, { exact: true }).waitFor();
  await page.getByText(title, { exact: true }).waitFor({ state: "detached" });
  check((await page.getByText(over.title, { exact: true }).count()) === 0, "a finished objective is said to be quiet");
  await team({ data, check, open, origin }, quiet);
}

/** A manager sees the objectives of the team without a check-in, and not those of other teams. */
async function team({ data, check, open, origin }, quiet) {
  // Another task may have moved the owner to another manager.
  const { manager_id } = await api("GET", `/employees/${data.ruth.id}`);
  const outsider = [data.ines, data.jonas].find((one) => one.id !== manager_id);
  const elsewhere = await api("POST", "/employee-objectives", { owner_id: outsider.id, ...PERIOD, title: "The map has a legend" });
  const { key } = await api("POST", "/api-keys", { name: "Manager", scopes: ["objectives:read", "employees:read"], employee_id: manager_id });
  const manager = await open({}, key);
  await manager.getByRole("listitem").filter({ hasText: quiet }).getByText("No check-ins", { exact: true }).waitFor();
  await manager.goto(`${origin}/console/feedback?view=objectives&quiet=14`);
  await manager.getByText(quiet, { exact: true }).waitFor();
  check((await manager.getByText(elsewhere.title, { exact: true }).count()) === 0, "a manager sees the objectives of another team");
  await manager.context().close();
}
