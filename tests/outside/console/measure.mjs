// Measures the console once, by hand: the first paint, first rows and requests of screens with up to 100,000 people, and the memory of the tail while
// 10,000 events come. Arguments: URL of a service, path of Chromium. CANDOR_URL and CANDOR_API_KEY are those of a service
// without people; the key needs a high quota of writes.
import { chromium } from "playwright-core";
import { api } from "./service.mjs";

const [origin, executablePath] = process.argv.slice(-2);
const PEOPLE = Number(process.env.PEOPLE ?? 100_000);
const ROWS = 10_000;
const STEP = 2500;
const VISITS = 11;
const TAIL_MS = 20_000;

/** Sends a file and waits for the quota of files. */
async function upload(rows) {
  for (;;) {
    const answer = await api("POST", "/employees/csv", `email,first_name,last_name,job_title\n${rows.join("\n")}\n`).catch((error) => error);
    if (!(answer instanceof Error)) return;
    if (!answer.message.includes("429")) throw answer;
    await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}

const row = (at, title) => `p${at}@example.com,First${at},Last${at},${title}`;
const rows = (from, to, title) => Array.from({ length: to - from }, (_, at) => row(from + at, title));

/** Address and first rows of the screens that are measured. */
const SCREENS = { Today: ["", ".attention li, .card .empty"], People: ["/people", "tbody tr"] };

/** Milliseconds from the start of a visit in a new browser context to the first paint and to the first row, and the requests of the screen. */
async function visit(address, rows) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(([key, selector]) => {
    sessionStorage.setItem("candor-key", key);
    const watch = (_, observer) => document.querySelector(selector) && (performance.mark("first-row"), observer.disconnect());
    new MutationObserver(watch).observe(document, { subtree: true, childList: true });
  }, [process.env.CANDOR_API_KEY, rows]);
  let requests = 0;
  page.on("request", (request) => (requests += request.url().includes("/v1/")));
  await page.goto(`${origin}/console${address}`);
  await page.locator(rows).first().waitFor();
  await page.waitForLoadState("networkidle");
  const [paint, row] = await page.evaluate(() => ["first-contentful-paint", "first-row"].map((name) => performance.getEntriesByName(name)[0].startTime));
  await context.close();
  return { paint, row, requests };
}

/** Bytes of the heap after a collection of garbage, in MB. */
async function heap(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return (usedSize / 1e6).toFixed(1);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext()).newPage();
await page.addInitScript((key) => sessionStorage.setItem("candor-key", key), process.env.CANDOR_API_KEY);
await page.goto(`${origin}/console`);
await page.getByRole("heading", { name: "Today", level: 1 }).waitFor();
const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)].toFixed(0);
for (const count of [10, PEOPLE]) {
  const before = count === 10 ? 0 : 10;
  for (let from = before; from < count; from += ROWS) await upload(rows(from, Math.min(count, from + ROWS), "Clerk"));
  for (const [name, [address, selector]] of Object.entries(SCREENS)) {
    const visits = [];
    for (let turn = 0; turn < VISITS; turn += 1) visits.push(await visit(address, selector));
    const of = (member) => `median ${median(visits.map((one) => one[member]))} ms, slowest ${Math.max(...visits.map((one) => one[member])).toFixed(0)} ms`;
    console.log(`${name} with ${count} people, ${VISITS} visits: first paint ${of("paint")}; first rows ${of("row")}; ${visits[0].requests} requests`);
  }
}
await page.goto(`${origin}/console/events`);
await page.locator("tbody tr").first().waitFor();
const session = await page.context().newCDPSession(page);
for (let events = 0; events <= 10_000; events += STEP) {
  if (events > 0) {
    await upload(rows(events - STEP, events, `Title ${events}`));
    await page.waitForTimeout(TAIL_MS);
  }
  console.log(`tail after ${events} events: ${await heap(session)} MB, ${await page.locator("tbody tr").count()} rows`);
}
await browser.close();
