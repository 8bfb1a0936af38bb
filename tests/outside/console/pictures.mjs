// Takes the pictures of docs/images from the sample data of `candor dev`, whose key is in CANDOR_API_KEY. The picture of a delivery wants three
// attempts, which the service has made three minutes after its start. Arguments: URL of the service, path of Chromium, folder.
import { chromium } from "playwright-core";
import { settled } from "./page.mjs";

const [origin, executablePath, folder] = process.argv.slice(-3);
const key = process.env.CANDOR_API_KEY;
const WIDTH = 1200;
const HEIGHT = 860;
/** A file with refused rows: one that is no address, one manager who is not there. */
const PEOPLE = `email,first_name,last_name,job_title,manager_email
lena.hoffmann@example.com,Lena,Hoffmann,Support specialist,ines@example.com
paul.meyer,Paul,Meyer,Engineer,jonas@example.com
sofia.rossi@example.com,Sofia,Rossi,Accountant,nobody@example.com
`;

/** The first row of a list. */
async function first(path) {
  const answer = await fetch(`${origin}/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
  return (await answer.json()).data[0];
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/** Takes the picture of a screen, after `act` has changed it. */
async function take(name, address, { colorScheme = "light", height = HEIGHT, act } = {}) {
  const context = await browser.newContext({ viewport: { width: WIDTH, height }, colorScheme, locale: "en-GB" });
  const page = await context.newPage();
  await page.addInitScript((kept) => sessionStorage.setItem("candor-key", kept), key);
  await page.goto(`${origin}/console${address}`);
  await page.locator("main h1").waitFor();
  await act?.(page);
  await page.waitForLoadState("networkidle");
  await settled(page);
  await page.screenshot({ path: `${folder}/console-${name}.png` });
  await context.close();
}

async function search(page) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("support");
  await page.getByRole("option", { name: /Ruth Abebe/ }).first().waitFor();
}

async function choose(page) {
  await page.locator("input[type=file]").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(PEOPLE) });
  await page.getByRole("button", { name: /^Apply/ }).waitFor();
}

const hook = await first("/webhooks");
const delivery = await first(`/webhooks/${hook.id}/deliveries?limit=1`);
const summary = await first("/summaries?filter[status]=shared");
const person = summary.employee_id;
await take("today", "/");
await take("search", "/people", { act: search });
await take("people", "/people", { colorScheme: "dark" });
await take("person", `/people/${person}`);
await take("objectives", "/feedback?view=objectives");
await take("summary", `/feedback/summaries/${summary.id}`, { height: 560 });
await take("delivery", `/webhooks/${hook.id}/deliveries/${delivery.id}`, { colorScheme: "dark" });
await take("import", "/import", { act: choose });
await browser.close();
