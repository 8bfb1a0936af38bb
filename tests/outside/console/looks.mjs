// Looks at every screen in light and dark at both widths: its requests, axe-core, hostile texts, the width, and a picture.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { asked, MOST_REQUESTS, settled } from "./page.mjs";
import { HOSTILE, api } from "./service.mjs";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Rules of colors. Dark differs from light in nothing else, so these alone run again in dark. */
const COLOR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const WIDTHS = [390, 1280];
/** Widths at which every word is whole and no table is wider than its frame: those between a phone and a desk, too. */
const WORD_WIDTHS = [390, 800, 1024, 1200, 1280];
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Name and address of each screen. */
async function screens({ data }) {
  const hook = data.hooks[0].id;
  const { data: [delivery] } = await api("GET", `/webhooks/${hook}/deliveries?limit=1`);
  const { data: [event] } = await api("GET", `/events?limit=1&since=${new Date(Date.now() - 3_600_000).toISOString()}`);
  const { data: [observation] } = await api("GET", "/observations?limit=1");
  const { data: [summary] } = await api("GET", "/summaries?limit=1");
  const provider = await api("POST", "/identity-providers", { name: "Login of Acme", issuer: "https://login.acme.example", client_id: "candor",
    link_by: "verified_email", email_domains: ["acme.example"], audiences: ["api://candor"] });
  await api("POST", `/identity-providers/${provider.id}/links`, { employee_id: data.ines.id, subject: "w".repeat(255) });
  return Object.entries({
    today: "/", webhooks: "/webhooks", deliveries: "/webhooks?view=deliveries", subscription: `/webhooks/${hook}`,
    delivery: `/webhooks/${hook}/deliveries/${delivery.id}`, events: "/events", event: `/events/${event.id}`, people: "/people",
    tree: "/people?view=tree", erasures: "/people?view=erasures", retention: "/people?view=retention", person: `/people/${data.ruth.id}`, import: "/import", observations: "/feedback", search: "/feedback?q=angry+customer",
    observation: `/feedback/${observation.id}`, objectives: "/feedback?view=objectives", summaries: "/feedback?view=summaries",
    conversations: "/feedback?view=conversations", assignments: "/feedback?view=assignments", objective: `/feedback/objectives/${data.goals[0].id}`, summary: `/feedback/summaries/${summary.id}`,
    organization: "/organization", departments: "/organization?view=departments", attributes: "/organization?view=attributes", keys: "/keys", audit: "/audit", connectors: "/connectors",
    providers: "/settings/sign-in", provider: `/settings/sign-in/${provider.id}`,
    nowhere: "/nowhere",
  });
}

/** Runs axe-core on the page as it is. A report of what passes would take longer than the checks. */
export async function accessible(page, name, check, rules = RULES) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ["violations"] }), rules);
  for (const { id, nodes } of violations) check(false, `${name}: ${id} at ${nodes.slice(0, 3).map((node) => node.target).join(" | ")}`);
}

/** Nothing is wider than the screen, and no table is wider than its frame, which would hide its last column. */
export async function fits(page, name, check) {
  const wide = await page.evaluate(() => [...document.querySelectorAll(".table-frame")].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => `${one.querySelector("caption")?.textContent}: ${one.scrollWidth} in ${one.clientWidth}`));
  check(wide.length === 0, `${name}: ${wide.join(" | ")}`);
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(content <= screen, `${name}: ${content} pixels wide on a screen of ${screen}`);
}

/** Buttons and fields are large enough for a thumb. */
export async function reachable(page, name, check) {
  const small = await page.evaluate(() => [...document.querySelectorAll(".button, select, textarea, input:not([type=checkbox], [type=radio])")]
    .map((one) => ({ name: one.getAttribute("aria-label") ?? (one.textContent || one.tagName), box: one.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0 && (box.width < 44 || box.height < 44)).map((one) => `${one.name}: ${one.box.width} x ${one.box.height}`));
  check(small.length === 0, `${name}: too small for a thumb: ${small.join(" | ")}`);
}

/** No word of the console is split over two lines: the first and the last letter of each have the same line. Texts of people, ids and addresses may be split. */
export async function whole(page, name, check) {
  const split = await page.evaluate(() => {
    const words = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const isTable = node.parentElement.closest("td, th");
      if (!node.parentElement.checkVisibility() || node.parentElement.closest("code, pre, [dir=auto], .prose, .changes, option, .hidden")) continue;
      // In a table, types of events and other texts with punctuation are words, too.
      for (const { 0: word, index } of node.data.matchAll(isTable ? /(?<!\S)[^\s@/-]{2,40}(?!\S)/g : /(?<![\p{L}\p{N}@._/:-])\p{L}{2,24}(?![\p{L}\p{N}@_/:-]|\.\p{L})/gu)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) words.push(word);
      }
    }
    return words;
  });
  check(split.length === 0, `${name}: split words: ${split.slice(0, 5).join(", ")}`);
}

/** A view has one primary action at most, which stands first in its head, and nothing that takes away stands there openly. */
async function decided(page, name, check) {
  const shown = await page.evaluate(() => {
    const open = [...document.querySelectorAll("main .button")].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("dialog"));
    const head = open.filter((one) => one.closest(".page-head"));
    return { primary: open.filter((one) => one.matches(".primary")).map((one) => one.textContent.trim()),
      isFirst: head.findIndex((one) => one.matches(".primary")) <= 0, danger: head.filter((one) => one.matches(".danger")).map((one) => one.textContent.trim()) };
  });
  check(shown.primary.length <= 1 && shown.isFirst && shown.danger.length === 0, `${name}: primary ${shown.primary}, ${shown.isFirst ? "" : "not "}first, openly ${shown.danger}`);
}

/** Screens for people who do not know the API. */
const PLAIN = ["person", "objective", "summary", "people", "observations", "observation", "objectives", "summaries", "audit", "today"];

/** No member of the API is shown as it is: neither `manager_id` nor `employee.update`. */
async function plain(page, name, check) {
  const raw = await page.evaluate(() => [...document.querySelectorAll("main *")].flatMap((one) => [...one.childNodes])
    .filter((node) => node.nodeType === Node.TEXT_NODE && !node.parentElement.closest("code, pre, [dir=auto], .prose"))
    .flatMap((node) => node.data.match(/`|\b[a-z]+_[a-z_]+\b|\b(?:employee|objective|summary)\.[a-z]+\b/g) ?? []));
  check(raw.length === 0, `${name}: words of the API: ${[...new Set(raw)].slice(0, 5).join(", ")}`);
}

/** Pixels of a row with one line. */
const MOST_ONE_LINE = 48;
/** Screens with logs, whose rows are one line on a desk. */
const LOGS = ["deliveries", "events", "objectives"];

/** Each row of a log is one line. */
async function dense(page, name, check) {
  const heights = await page.evaluate(() => [...document.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().height));
  check(heights.length > 0 && Math.max(...heights) <= MOST_ONE_LINE, `${name}: rows of ${Math.max(...heights)} pixels`);
}

/** Pixels that a card may be taller than its content. */
const MOST_EMPTY = 120;

/** No card is an empty box beside a taller one, and no tabs are beyond the edge of the screen. */
async function filled(page, name, check) {
  const holes = await page.evaluate((most) => [...document.querySelectorAll(".card")].map((card) => {
    const bottom = Math.max(...[...card.children].map((child) => child.getBoundingClientRect().bottom));
    return { title: card.querySelector("h2")?.textContent, empty: card.getBoundingClientRect().bottom - bottom };
  }).filter(({ empty }) => empty > most).map(({ title, empty }) => `${title}: ${Math.round(empty)}`), MOST_EMPTY);
  check(holes.length === 0, `${name}: holes in cards: ${holes.join(", ")}`);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".tabs")].filter((tabs) => tabs.scrollWidth > tabs.clientWidth + 1).length);
  check(cut === 0, `${name}: tabs are cut`);
}

/** Texts of people are texts: nothing of them runs or becomes an element. */
async function hostile(page, name, check) {
  const found = await page.evaluate(() => [document.title, document.querySelectorAll("main script, main img, main a[href^='javascript:' i]").length]);
  check(found[0] !== "broken" && found[1] === 0, `${name}: a text became markup`);
}

export async function looks(scene) {
  const { open, check, folder, origin, failing, data } = scene;
  failing.state.status = 503;
  for (const job_title of ["Support lead", "Support specialist", "Head of support"]) await api("PATCH", `/employees/${data.ruth.id}`, { job_title });
  const entrance = await open({}, "");
  await entrance.getByRole("heading", { name: "Open the console" }).waitFor();
  await accessible(entrance, "entrance", check);
  await entrance.screenshot({ path: `${folder}/entrance.png` });
  await entrance.context().close();
  const all = await screens(scene);
  const page = await open({});
  for (const [screen, path] of all) {
    await page.setViewportSize({ width: WIDTHS[0], height: 844 });
    const paths = await asked(page, `${origin}/console${path}`);
    check(paths.length <= MOST_REQUESTS, `${screen} costs ${paths.length} requests: ${paths.join(" ")}`);
    await settled(page).catch(() => check(false, `${screen}: still loading`));
    await hostile(page, screen, check);
    await decided(page, screen, check);
    if (PLAIN.includes(screen)) await plain(page, screen, check);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      for (const colorScheme of ["light", "dark"]) {
        const name = `${screen}-${colorScheme}-${width}`;
        await page.emulateMedia({ colorScheme });
        await accessible(page, name, check, colorScheme === "dark" ? COLOR_RULES : RULES);
        await fits(page, name, check);
        await filled(page, name, check);
        if (width === 1280 && LOGS.includes(screen)) await dense(page, name, check);
        await page.screenshot({ path: `${folder}/${name}.png` });
      }
    }
    await roomy(page, screen, check);
  }
  await shown(page, origin, check);
  await page.context().close();
  await german(scene, all);
}

/** Everything has room at each width. */
async function roomy(page, name, check) {
  for (const width of WORD_WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await fits(page, `${name}, ${width}`, check);
    await whole(page, `${name}, ${width}`, check);
  }
}

/** German words are longer: each screen has room for them, too. */
async function german({ open, origin, check }, all) {
  const page = await open({ locale: "de-DE" }, null);
  await page.evaluate((key) => sessionStorage.setItem("candor-key", key), process.env.CANDOR_API_KEY);
  for (const [screen, path] of all) {
    await page.goto(`${origin}/console${path}`);
    await page.locator("main h1").waitFor();
    await settled(page).catch(() => check(false, `${screen}, German: still loading`));
    await roomy(page, `${screen}, German`, check);
  }
  await page.context().close();
}

/** The texts are shown as they were written. */
async function shown(page, origin, check) {
  await page.goto(`${origin}/console/feedback`);
  await page.locator(".prose").first().waitFor();
  const text = (await page.locator(".prose").allInnerTexts()).join("\n");
  for (const one of HOSTILE) check(text.includes(one), `not shown as it is: ${one.slice(0, 40)}`);
}
