// Does the tasks of people in the console, then looks at every screen. Arguments: URL of the service, path of Chromium,
// folder for pictures.
import { chromium } from "playwright-core";
import { looks } from "./looks.mjs";
import { LIMIT_MS } from "./page.mjs";
import { receiver, seed } from "./service.mjs";
import { TASKS } from "./tasks.mjs";

const [origin, executablePath, folder] = process.argv.slice(-3);
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const problems = [];
const check = (holds, text) => holds || problems.push(text);

/** Opens the console with a key, in a browser context of its own. */
async function open(browser, options, key = process.env.CANDOR_API_KEY) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  page.on("request", (request) => check(/^(data|blob):/.test(request.url()) || request.url().startsWith(`${origin}/`), `asked ${request.url()}`));
  page.on("console", (message) => check(message.type() !== "error" || /status of (400|401|403|404|409|412|422|429)|ERR_INTERNET_DISCONNECTED/.test(message.text()), `console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error}`));
  page.on("dialog", (dialog) => (problems.push(`a text opened a dialog: ${dialog.message()}`), dialog.dismiss()));
  // As after a sign-in with the box ticked, once: a sign-out later stays one.
  const keep = (kept) => {
    if (!sessionStorage.getItem("given")) sessionStorage.setItem("candor-key", kept);
    sessionStorage.setItem("given", "yes");
  };
  if (key) await page.addInitScript(keep, key);
  await page.goto(`${origin}/console`);
  if (key) await page.getByRole("heading", { name: "Today", level: 1 }).waitFor();
  return page;
}

async function main() {
  const [failing, working] = [await receiver(), await receiver()];
  working.state.status = 200;
  const data = await seed([failing.url, working.url]);
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: LIMIT_MS });
  const scene = { browser, open: (options, key) => open(browser, options, key), check, data, failing, working, origin, folder };
  try {
    for (const task of TASKS) {
      const start = performance.now();
      const page = await open(browser, {});
      await task(page, scene).then(() => console.log(`task ${task.name}: done in ${((performance.now() - start) / 1000).toFixed(1)} s`),
        (error) => problems.push(`${task.name}: ${error}`));
      await page.screenshot({ path: `${folder}/task-${task.name}.png` });
      await page.context().close();
    }
    await looks(scene);
  } finally {
    await browser.close();
    failing.close();
    working.close();
  }
  problems.forEach((problem) => console.error(problem));
  process.exitCode = problems.length ? 1 : 0;
}

main();
