// Steps that all tasks share.

/** Ends a step that hangs. A busy machine is slow and never wrong, so the limit is far above what a step takes. */
export const LIMIT_MS = 180_000;

export const nav = (page, name) => page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true }).first().click();
export const heading = (page, name) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** Chooses an action that is behind More. */
export async function more(page, name) {
  await page.locator("main").getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name, exact: true }).click();
}

/** Waits until the page shows what it was asked for last, rather than the rows of before. */
export const settled = (page) => page.waitForFunction(() => !document.querySelector(".skeleton, .stale, [aria-busy=true]"));

/** Shows the page in German while the work is done. */
export async function inGerman(page, work) {
  for (const language of ["de", "en"]) {
    await page.evaluate((tag) => localStorage.setItem("candor-language", tag), language);
    await page.reload();
    if (language === "de") await work();
  }
}

/** Calls until the value holds, and returns it. */
export async function eventually(read, holds, text) {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; ) {
    const value = await read();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never: ${text}`);
}

/** Requests that a screen costs at most, with the names of people. */
export const MOST_REQUESTS = 5;

/** Paths that the page asks for while it opens an address, except that of the session. */
export async function asked(page, address) {
  const paths = [];
  const note = (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/v1/") && pathname !== "/v1/me") paths.push(pathname);
  };
  page.on("request", note);
  // The screen before may still read, until the page leaves it.
  page.once("framenavigated", () => (paths.length = 0));
  await page.goto(address);
  await page.locator("main h1").waitFor();
  await page.waitForLoadState("networkidle");
  page.off("request", note);
  return paths;
}
