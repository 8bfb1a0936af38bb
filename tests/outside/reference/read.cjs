// Reads /docs in Chromium. Arguments: URL of the service, path of Chromium, folder for screenshots.
const { chromium } = require("playwright-core");
const [origin, executablePath, folder] = process.argv.slice(-3);

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const WAIT = { timeout: 120_000 };
const OPERATION = "Create an observation";
const GUIDE = "Checking the webhook signature";
// Search words, each with the title of the guide that the search must find.
const SEARCHES = [
  ["rate limit", "API keys, rate limits, test environments"],
  ["idempotency", "Retries and idempotency keys"],
  ["retries", "Retries and idempotency keys"],
  ["csv import", "CSV import of people"],
  ["paging", "Paging and cursors"],
  ["webhook signature", GUIDE],
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

async function search(page) {
  await page.getByRole("search").first().click();
  const field = page.getByRole("combobox", { name: "Enter search query" });
  await field.waitFor(WAIT);
  for (const [words, title] of SEARCHES) {
    await field.fill(words);
    await page.getByRole("option", { name: new RegExp(title) }).first().waitFor(WAIT);
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
    for (const step of [read, samples, search, patterns, narrow]) {
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
