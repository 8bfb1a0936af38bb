// Tasks of finding: the search of all screens, and the order, columns and files of lists.
import { readFile } from "node:fs/promises";
import { heading, nav, settled } from "./page.mjs";
import { accessible } from "./looks.mjs";
import { api } from "./service.mjs";

const KEYS = ["Control+k", "Meta+k"];

/** Opens a person, a screen and a text with the keyboard alone. */
export async function jump(page, { data, check }) {
  const box = page.getByRole("combobox", { name: "Search" });
  const options = page.getByRole("option");
  await page.keyboard.press(KEYS[0]);
  await box.fill("abebe");
  await options.filter({ hasText: "Ruth Abebe" }).waitFor();
  await accessible(page, "search", check);
  const chosen = () => page.locator("[role=option][aria-selected=true]").innerText();
  check((await box.getAttribute("aria-activedescendant")) === (await page.locator("[role=option][aria-selected=true]").getAttribute("id")), "the field does not name the chosen result");
  check((await chosen()).startsWith("Ruth Abebe"), `chosen first: ${await chosen()}`);
  await page.keyboard.press("Enter");
  await heading(page, "Ruth Abebe");
  await page.keyboard.press(KEYS[1]);
  await box.fill("audit");
  await page.keyboard.press("Enter");
  await heading(page, "Audit log");
  await page.keyboard.press(KEYS[0]);
  await box.fill("reference customer");
  await options.filter({ hasText: "Turned an angry caller" }).first().click();
  await page.getByRole("heading", { name: /Observation about Ruth Abebe/ }).waitFor();
  await page.keyboard.press(KEYS[0]);
  await box.fill(` ${data.goals[0].id} `);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await heading(page, data.goals[0].title);
}

/** Nothing is lost without a question: Escape closes the search at once, and a dialog with a text keeps the keyboard. */
export async function keyboard(page, { check, data, origin }) {
  await page.goto(`${origin}/console/people/${data.ruth.id}`);
  const more = page.locator("main").getByRole("button", { name: "More", exact: true });
  const chosen = page.getByRole("button", { name: "New summary", exact: true });
  await more.focus();
  check((await chosen.count()) === 0, "rare actions are open");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  check(await chosen.evaluate((one) => one === document.activeElement), "Tab leaves the open actions");
  await accessible(page, "open actions", check);
  await page.keyboard.press("Escape");
  check(await more.evaluate((one) => one === document.activeElement && one.getAttribute("aria-expanded") === "false"), "Escape keeps the actions open");
  await page.keyboard.press("Enter");
  await chosen.click();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  check(await more.evaluate((one) => one === document.activeElement), "the focus is lost after a dialog of an action");
  await page.keyboard.press(KEYS[0]);
  await page.getByRole("combobox", { name: "Search" }).fill("nothing has this name");
  await page.getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goto(page.url().replace(/\/console.*/, "/console/feedback"));
  await page.getByRole("button", { name: "New observation" }).first().click();
  await page.getByRole("dialog").getByRole("textbox").first().fill("Half a sentence");
  await page.keyboard.press(KEYS[0]);
  check((await page.getByRole("dialog").count()) === 1, "the search opened above a dialog");
  check((await page.getByRole("combobox", { name: "Search" }).count()) === 0, "the search opened above a dialog");
}

/** Orders people, hides a column, and takes the list as a file that no spreadsheet computes. */
export async function list(page, { check, data }) {
  await api("PATCH", `/employees/${data.jonas.id}`, { job_title: "=1+1" });
  await page.goto(page.url().replace(/\/console.*/, "/console/people?role=manager"));
  await settled(page);
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByRole("combobox", { name: "Order" }).selectOption("First name");
  await settled(page);
  const names = await page.locator("td.main a").allInnerTexts();
  check(names.length >= 2 && names.join() === [...names].sort().join(), `by first name: ${names}`);
  await page.getByText("Columns", { exact: true }).click();
  await page.getByRole("checkbox", { name: "Job title" }).uncheck();
  check((await page.getByRole("columnheader", { name: "Job title" }).count()) === 0, "the hidden column is shown");
  check(/hide=title/.test(page.url()) && /sort=first_name/.test(page.url()), `the address is ${page.url()}`);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as CSV" }).click()]);
  const rows = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  // The screen shows the first page of the list.
  check(rows.length > names.length, `the file has ${rows.length} lines for ${names.length} people on the screen`);
  check(rows.some((row) => row.startsWith("Jonas,Okafor,") && row.includes(",'=1+1,")), `the file has ${rows.join(" | ")}`);
  await api("PATCH", `/employees/${data.jonas.id}`, { job_title: "Head of product" });
}

/** Messages cover neither the head nor the bar of a phone, are three at most, and end with their view. */
export async function messages(_, { data, open, origin, check }) {
  const phone = await open({ viewport: { width: 390, height: 844 } });
  await phone.goto(`${origin}/console/people/${data.ruth.id}`);
  await heading(phone, "Ruth Abebe");
  const copy = phone.locator("main .copy").first();
  for (let count = 0; count < 5; count += 1) await copy.evaluate((one) => one.click());
  const shown = phone.locator(".toast");
  await shown.nth(2).waitFor();
  check((await shown.count()) === 3, `${await shown.count()} messages`);
  const boxes = await Promise.all([shown.first(), shown.nth(2), phone.locator(".page-head"), phone.locator(".bar")].map((one) => one.boundingBox()));
  const [first, last, head, bar] = boxes;
  check(first.y > head.y + head.height && last.y + last.height <= bar.y, `messages from ${first.y} to ${last.y + last.height}`);
  await nav(phone, "People");
  await heading(phone, "People");
  check((await shown.count()) === 0, "messages of another view stay");
  await phone.context().close();
}

/** Archives an observation, and takes that back from the message. */
export async function undo(page, { data, check }) {
  const one = await api("POST", "/observations", { employee_id: data.jonas.id, author_id: data.mara.id, type: "strength", observation: "Kept the plan short." });
  await page.goto(page.url().replace(/\/console.*/, `/console/feedback/${one.id}`));
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone").waitFor();
  await page.getByRole("button", { name: "Archive" }).waitFor();
  check((await api("GET", `/observations/${one.id}`)).archived_at === null, "the observation stays archived");
}

/** Reads the console in German in a German browser, and chooses English and the compact lists, which stay. */
export async function german(_, { open, origin, check }) {
  const page = await open({ locale: "de-AT" }, "");
  await page.getByRole("heading", { name: "Konsole öffnen" }).waitFor();
  await page.evaluate((key) => sessionStorage.setItem("candor-key", key), process.env.CANDOR_API_KEY);
  await page.goto(`${origin}/console/people`);
  await heading(page, "Personen");
  await settled(page);
  check((await page.locator("html").getAttribute("lang")) === "de", "the page is not marked as German");
  await accessible(page, "German", check);
  await page.getByRole("button", { name: "Darstellung" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Dichte" }).selectOption("Kompakt");
  await accessible(page, "display", check);
  await dialog.getByRole("combobox", { name: "Sprache" }).selectOption("English");
  await heading(page, "People");
  await page.reload();
  await heading(page, "People");
  check((await page.locator("html").getAttribute("data-density")) === "compact", "the density is forgotten");
  await page.context().close();
}

/** A text outlives a reload, is stored once, and leaves no draft behind, neither when it is discarded. */
export async function draft(page, { check, data }) {
  const begin = async () => {
    await page.goto(page.url().replace(/\/console.*/, `/console/people/${data.jonas.id}`));
    await heading(page, "Jonas Okafor");
    await page.getByRole("button", { name: "New observation" }).first().click();
    return page.getByRole("textbox", { name: "Observation" });
  };
  await (await begin()).fill("Answered every question of the auditors.");
  const again = await begin();
  check((await again.inputValue()) === "Answered every question of the auditors.", `after a reload: ${await again.inputValue()}`);
  await page.getByText("What you typed before is still here.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByText("The observation is stored").waitFor();
  const next = await begin();
  check((await next.inputValue()) === "", `after it was stored: ${await next.inputValue()}`);
  await next.fill("To be discarded");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard" }).click();
  check((await (await begin()).inputValue()) === "", "the discarded text is still there");
}
