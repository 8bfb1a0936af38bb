// Measures the console once, by hand: the time to the first list of 100,000 people, and the memory of the tail while
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

/** Milliseconds from the start of a visit to the first row of people. */
async function firstList(page) {
  const start = performance.now();
  await page.goto(`${origin}/console/people`);
  await page.locator("tbody tr").first().waitFor();
  return performance.now() - start;
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
  const times = [];
  for (let visit = 0; visit < VISITS; visit += 1) times.push(await firstList(page));
  console.log(`first list of ${count} people: median ${median(times)} ms, slowest ${Math.max(...times).toFixed(0)} ms of ${VISITS} visits`);
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
