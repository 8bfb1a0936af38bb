// Tasks of the CSV import.
import { readFile } from "node:fs/promises";
import { accessible, fits } from "./looks.mjs";
import { heading, nav } from "./page.mjs";
import { api } from "./service.mjs";

const PEOPLE = 2000;
const MISTAKES = 30;

/** A file of people below Mara, in teams of 40, with mistakes in some rows. */
function file(isCorrect) {
  const rows = ["email,first_name,last_name,role,manager_email"];
  for (let at = 0; at < PEOPLE; at += 1) {
    const isLead = at % 40 === 0;
    const isWrong = !isCorrect && at % 66 === 33 && at / 66 < MISTAKES;
    const manager = isLead ? "mara.lindqvist@example.com" : `p${at - (at % 40)}@example.com`;
    rows.push(`${isWrong ? `p${at}` : `p${at}@example.com`},First${at},"Last, ${at}",${isLead ? "manager" : "employee"},${manager}`);
  }
  return `${rows.join("\n")}\n`;
}

/** Imports 2,000 people from a file with 30 mistakes, corrects them, and sees them in the reporting tree. */
export async function csv(page, { check, folder }) {
  await nav(page, "CSV import");
  const choose = (name, text) => page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  await choose("people.csv", file(false));
  await page.getByRole("button", { name: `Download ${MISTAKES} refused rows` }).waitFor();
  await page.screenshot({ path: `${folder}/import-plan.png` });
  await page.getByRole("button", { name: "Apply: create 1,970" }).click();
  const link = page.getByRole("link", { name: "Show the reporting tree" });
  await link.waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${MISTAKES} refused rows` }).click()]);
  const refused = (await readFile(await download.path(), "utf8")).trim().split("\n");
  check(refused.length === MISTAKES + 1 && refused[0].endsWith(",problem"), `the file of refused rows has ${refused.length} lines`);
  const mended = refused.map((line, at) => (at === 0 ? line : line.replace(/^p(\d+),/, "p$1@example.com,"))).join("\n");
  await page.getByRole("button", { name: "Another file" }).click();
  await choose("people-refused.csv", `${mended}\n`);
  await page.getByRole("button", { name: `Apply: create ${MISTAKES}` }).click();
  await link.click();
  const lead = page.getByRole("treeitem").filter({ hasText: "Last, 0" }).first();
  await lead.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem").filter({ hasText: "First33 " }).waitFor();
  const { data: [mendedPerson] } = await api("GET", "/employees?filter[email]=p33@example.com");
  check(mendedPerson?.first_name === "First33", "the corrected person is not stored");
}

/** Files that are not UTF-8 with commas: each is read as it was meant, or named, and none is damaged. */
export async function files(page, { check }) {
  await nav(page, "CSV import");
  const choose = (name, bytes) => page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer: bytes });
  const latin = (text) => Buffer.from(text, "latin1");
  for (const [bytes, title] of [
    [latin("PK\x03\x04 and more"), "This is a workbook or an archive, not CSV"],
    [Buffer.from("\ufeffemail\tfirst_name\n", "utf16le"), "This file is UTF-16"],
    [Buffer.from("email\tfirst_name\n", "utf16le"), "This file is UTF-16"],
    [latin("<html><table>"), "This is a web page or XML, not CSV"],
    [latin("email\nj\x81rg@example.com\n"), "The encoding of this file is not known"],
    [latin("\xd0\xcf\x11\xe0"), "This is a document of an older Excel or Word, not CSV"],
  ]) {
    await choose("people.csv", bytes);
    await page.getByRole("alert").getByText(title, { exact: true }).waitFor();
  }
  await choose("people.csv", latin("email;first_name;last_name\njoerg@example.com;J\xf6rg;M\xfc\xdfig, von\nbroken;A;B\n"));
  await page.getByText("Then 2 cells have other characters than in UTF-8").waitFor();
  await page.getByRole("listitem").getByText("M\u00fc\u00dfig, von").waitFor();
  check((await page.getByRole("button", { name: /^Apply/ }).count()) === 0, "a file is checked before the encoding is agreed");
  await page.getByRole("button", { name: "Read it as Windows-1252" }).click();
  const apply = page.getByRole("button", { name: "Apply: create 1", exact: true });
  await apply.waitFor();
  await page.getByText("Semicolons, sent as commas").waitFor();
  await nav(page, "People");
  await heading(page, "People");
  await page.goBack();
  await apply.click();
  const take = page.getByRole("button", { name: "Download 1 refused row", exact: true });
  await page.getByRole("link", { name: "Show the reporting tree" }).waitFor();
  const { data: [joerg] } = await api("GET", "/employees?filter[email]=joerg@example.com");
  check(joerg?.first_name === "J\u00f6rg" && joerg.last_name === "M\u00fc\u00dfig, von", `stored as ${joerg?.first_name} ${joerg?.last_name}`);
  const [download] = await Promise.all([page.waitForEvent("download"), take.click()]);
  const refused = await readFile(await download.path(), "utf8");
  check(refused.startsWith("\ufeffemail;first_name;last_name;problem\nbroken;A;B;"), `the refused rows are ${refused}`);
  await page.getByRole("button", { name: "Another file" }).click();
  await choose("people.csv", latin("Work Email,First Name,Nachname\nada.guess@example.com,Ada,Guess\n"));
  await page.getByRole("button", { name: "Apply: create 1", exact: true }).waitFor();
  for (const [name, field] of [["Work Email", "email"], ["First Name", ""], ["Nachname", "last_name"]])
    check((await page.getByLabel(`Read as: ${name}`, { exact: true }).inputValue()) === field, `${name} is not preselected`);
  await page.getByRole("row").filter({ hasText: "Work Email" }).getByText("Guessed from the name").waitFor();
  check((await page.getByLabel("Read as: First Name").locator("option:checked").innerText()) === "First name (first_name)", "a column does not name its field");
}

/** Names the columns of a file, mends a refused row on the screen, and finds the columns named for the next file. */
export async function columns(_, { open, check, folder }) {
  // The quota of files belongs to the key.
  const made = await api("POST", "/api-keys", { name: "Columns", scopes: ["employees:read", "employees:write"], access_level: "admin" });
  const page = await open({}, made.key);
  await nav(page, "CSV import");
  const choose = (rows) => page.locator("input[type=file]").setInputFiles({ name: "people.csv", mimeType: "text/csv",
    buffer: Buffer.from(["Login;First Name;Last Name;Boss;Shoe size;Notes", ...rows, ""].join("\n")) });
  await choose(["ada.map@example.com;Ada;Moreau;mara.lindqvist@example.com;38;secret", 'bo.map;Bo;"Li, junior";mara.lindqvist@example.com;41;']);
  await page.getByRole("alert").getByText("No column is read as E-mail. Choose it in the list of columns.").waitFor();
  check((await page.getByRole("button", { name: /^Apply/ }).count()) === 0, "a refused file can be applied");
  const read = (name) => page.getByLabel(`Read as: ${name}`, { exact: true });
  await read("Login").selectOption("email");
  check((await read("Boss").inputValue()) === "manager_email", "the boss is not guessed");
  await read("Notes").selectOption({ label: "Leave out" });
  await read("Shoe size").selectOption({ label: "Custom field …" });
  check((await page.getByLabel("Key of the custom field: Shoe size").inputValue()) === "shoe_size", "no key is proposed");
  await page.getByRole("button", { name: "Check again" }).first().click();
  await page.getByRole("button", { name: "Apply: create 1", exact: true }).waitFor();
  const cell = page.getByLabel("Login, row 3");
  check((await cell.inputValue()) === "bo.map", "the refused cell is not shown");
  await accessible(page, "a file with a refused row", check);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await fits(page, `a file with a refused row at ${width}`, check);
    await page.screenshot({ path: `${folder}/import-columns-${width}.png` });
  }
  await cell.fill("bo.map@example.com");
  check(await page.getByRole("button", { name: "Apply: create 1", exact: true }).isDisabled(), "an old plan can be applied");
  await page.getByRole("button", { name: "Check again" }).first().click();
  await page.getByRole("button", { name: "Apply: create 2", exact: true }).click();
  await page.getByRole("link", { name: "Show the reporting tree" }).waitFor();
  const stored = (email) => api("GET", `/employees?filter[email]=${email}&expand=manager`).then(({ data }) => data[0]);
  const [ada, bo] = [await stored("ada.map@example.com"), await stored("bo.map@example.com")];
  check(ada?.manager?.email === "mara.lindqvist@example.com" && String(ada.custom_fields.shoe_size) === "38", `Ada is ${JSON.stringify(ada)}`);
  check(bo?.last_name === "Li, junior", `the mended person is ${JSON.stringify(bo)}`);
  check(!JSON.stringify(ada).includes("secret"), "a column that is left out is stored");
  await page.getByRole("button", { name: "Another file" }).click();
  await choose(["cy.map@example.com;Cy;Young;mara.lindqvist@example.com;40;"]);
  await page.getByText("The fields are those that you chose for the last file with these columns.").waitFor();
  await page.getByRole("button", { name: "Apply: create 1", exact: true }).waitFor();
  const storage = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  check(storage.includes("manager_email") && !/Login|Boss|Notes|map@|Ada/.test(storage), `this browser keeps ${storage}`);
  await page.context().close();
}

/** Another session opens while a large file is applied in parts: each part has the key that began. */
export async function parts(page, { check, origin }) {
  const rows = Array.from({ length: 2500 }, (_, at) => `part${at}@example.com,Ada,Example`);
  const keys = [];
  const [begun, opened, ended] = [0, 1, 2].map(() => {
    const one = {};
    one.promise = new Promise((resolve) => (one.resolve = resolve));
    return one;
  });
  const report = { data: { created: 1000, updated: 0, deactivated: 0, skipped: 0, errors: [] } };
  await page.route("**/v1/employees/csv*", async (route) => {
    if (route.request().url().includes("dry_run")) return route.continue();
    keys.push(route.request().headers().authorization);
    if (keys.length === 2) {
      begun.resolve();
      await opened.promise;
    }
    await route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(report) });
    if (keys.length === 3) ended.resolve();
  });
  await nav(page, "CSV import");
  const buffer = Buffer.from(`email,first_name,last_name\n${rows.join("\n")}\n`);
  await page.locator("input[type=file]").setInputFiles({ name: "parts.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: "Apply: create 2,500", exact: true }).click();
  await begun.promise;
  const link = await api("POST", "/portal-links", { name: "Opened meanwhile", scopes: ["webhooks:read"], expires_in: 3600 });
  await page.evaluate((hash) => (location.hash = hash), new URL(link.url).hash);
  await page.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
  await page.locator(".account").first().getByText("Opened meanwhile").waitFor();
  opened.resolve();
  await ended.promise;
  check(new Set(keys).size === 1, `the parts had ${new Set(keys).size} keys`);
}
