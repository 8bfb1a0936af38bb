// Reads /docs in Chromium. Arguments: URL of the service, path of Chromium, folder for screenshots.
const { chromium } = require("playwright-core");
const [origin, executablePath, folder] = process.argv.slice(-3);

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const WAIT = { timeout: 120_000 };
const STEP = { timeout: 5_000 };
const OPERATION = "Create an observation";
const GUIDE = "Checking the webhook signature";
const PAGING = "Heading: Paging (pagination) and cursors";
const RATES = "Heading: Rate limits (429) and quotas";
const RETRIES = "Heading: Retries, timeouts and idempotency keys";
const CODES = "Heading: Error codes: 400, 401, 403, 404, 409, 422, 429, 500, 503";
const DELETION = "Heading: Delete an employee (person)";
const CUSTOM = "Heading: Filter by custom fields";
const RIGHTS = "Heading: Permissions, scopes and roles";
const SANDBOX = "Heading: Test data (test mode, sandbox)";
const EXTERNAL = "Heading: External ids and metadata";
// Words of readers, each with the page that the search must name first.
const SEARCHES = [
  ["pagination", PAGING],
  ["paging", PAGING],
  ["cursor", PAGING],
  ["rate limit", RATES],
  ["429", RATES],
  ["quota", RATES],
  ["retries", "Heading: Errors and retries"],
  ["idempotency", RETRIES],
  ["errors", "Heading: Errors"],
  ["error codes", CODES],
  ["409", CODES],
  ["time zone", "Heading: Ids, dates and times (time zone)"],
  ["authentication", "Heading: Authentication (API keys)"],
  ["scopes", RIGHTS],
  ["permissions", RIGHTS],
  ["sandbox", SANDBOX],
  ["test mode", SANDBOX],
  ["delete employee", DELETION],
  ["delete person", DELETION],
  ["manager", "Heading: Manager"],
  ["custom fields", CUSTOM],
  ["filter custom fields", CUSTOM],
  ["gdpr", "Heading: Data protection (GDPR)"],
  ["scim", "Heading: SCIM"],
  ["okta", "Heading: Okta"],
  ["azure ad", "Heading: Entra ID (Azure AD)"],
  ["csv import", "Heading: CSV import of people"],
  ["webhook signature", `Heading: ${GUIDE}`],
  ["sdk", "Heading: Client libraries (SDK) and generators"],
  ["etag", "Heading: Versions (ETag, If-Match)"],
  ["expand", "Heading: Related resources (expand)"],
  ["dry run", "Heading: Dry runs"],
  ["data warehouse", "Heading: Data warehouse (export)"],
  ["external id", EXTERNAL],
  ["metadata", EXTERNAL],
  ["invitations", "Heading: Invitations"],
  ["create employee", "Operation: Create an employee"],
  ["export", "Operation: Export all resources as NDJSON"],
  ["audit log", "Operation: List audit entries"],
];
// Languages, each with a part of its sample for `OPERATION`.
const SAMPLES = {
  TypeScript: "const observation = await candor.observations.create({",
  Python: "observation = candor.observations.create(",
  Rust: "let observation = candor.observations().create(body).await?;",
  curl: "curl -sS -X POST",
};
// Part of the regular expression of ids, which the page folds away.
const PATTERN = "[0-9A-HJKMNP-TV-Z]{25}";

const problems = [];
const check = (holds, says) => holds || problems.push(says);

async function read(page) {
  await page.goto(`${origin}/docs`);
  await page.getByRole("heading", { name: OPERATION }).first().waitFor(WAIT);
  await page.getByRole("heading", { name: GUIDE }).first().waitFor(WAIT);
}

async function samples(page) {
  await page.getByRole("heading", { name: OPERATION }).first().scrollIntoViewIfNeeded();
  const card = page.getByRole("group", { name: /Request Example for\s+post\s*\/observations$/ }).first();
  await card.getByText(SAMPLES.curl).waitFor(WAIT);
  for (const [label, text] of Object.entries(SAMPLES)) {
    await card.getByTestId("client-picker").click();
    await page.getByRole("option", { name: label, exact: true }).click();
    await card.getByText(text).waitFor(WAIT);
    const colours = await card.locator("code span[class^=hljs]").count();
    check(colours > 0, `the sample in ${label} is not highlighted`);
  }
}

async function statuses(page) {
  await page.getByRole("heading", { name: OPERATION }).first().scrollIntoViewIfNeeded();
  const card = page.locator(".response-card", { hasText: "201" }).first();
  await card.locator("button.tab", { hasText: "504" }).waitFor(WAIT);
  const covered = await card.locator("button.tab").evaluateAll((tabs) => {
    tabs[0].scrollIntoView({ block: "center" });
    const isCovered = (tab) => {
      const { x, y, width, height } = tab.getBoundingClientRect();
      return !tab.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    };
    return tabs.filter(isCovered).map((tab) => tab.textContent.trim());
  });
  check(covered.length === 0, `the statuses ${covered.join(", ")} cannot be chosen`);
}

async function search(page) {
  await page.getByRole("search").first().click();
  const field = page.getByRole("combobox", { name: "Enter search query" });
  await field.waitFor(WAIT);
  const first = page.getByRole("option").first();
  const shows = (title) => first.filter({ hasText: title.replace(/^\w+: /, "") }).waitFor(STEP);
  for (const [words, title] of SEARCHES) {
    // Without words, the first page is always the same, so that no result of the former words is taken for these.
    await field.fill("");
    await shows("Introduction");
    await field.fill(words);
    await shows(title).catch(() => {});
    const found = (await first.innerText()).replace(/\s+/g, " ").trim();
    const isFirst = found.startsWith(title) && /^ ?,/.test(found.slice(title.length));
    check(isFirst, `${words} finds "${found}" first, not "${title}"`);
  }
}

async function patterns(page) {
  await page.goto("about:blank");
  await page.goto(`${origin}/docs`);
  await page.getByRole("heading", { name: OPERATION }).first().scrollIntoViewIfNeeded();
  const folded = page.locator("details", { hasText: PATTERN }).first();
  await folded.waitFor({ ...WAIT, state: "attached" });
  const shown = await page.getByText(PATTERN).filter({ visible: true }).count();
  check(shown === 0, `${shown} regular expressions are shown unfolded`);
  await folded.locator("summary").click();
  await folded.getByText(PATTERN).waitFor(WAIT);
}

async function narrow(page) {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("about:blank");
  await page.goto(`${origin}/docs#description/checking-the-webhook-signature`);
  await page.getByRole("heading", { name: GUIDE }).first().waitFor(WAIT);
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(content <= screen, `${content} pixels wide on a screen of ${screen}`);
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("request", (it) => check(/^(data|blob):/.test(it.url()) || it.url().startsWith(`${origin}/`), `asked ${it.url()}`));
  page.on("console", (it) => check(it.type() !== "error", `console: ${it.text()}`));
  page.on("pageerror", (it) => problems.push(`error: ${it}`));
  try {
    for (const step of [read, samples, statuses, search, patterns, narrow]) {
      await step(page).catch((it) => problems.push(`${step.name}: ${it}`));
      await page.screenshot({ path: `${folder}/${step.name}.png` });
    }
  } finally {
    await browser.close();
  }
  problems.forEach((it) => console.error(it));
  process.exitCode = problems.length ? 1 : 0;
}

main();
