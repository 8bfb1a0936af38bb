// Tasks while the service is away, in another time zone, links that are pasted into an open tab, and the requests of lists.
import { accessible } from "./looks.mjs";
import { heading, nav } from "./page.mjs";
import { api } from "./service.mjs";

/** Loses the service and gets it back: the feed goes on, and a screen whose file did not load opens. */
export async function away(page) {
  const gone = (route) => route.abort("internetdisconnected");
  // The service sends all screens but the first one in one file; a folder that is served as it is has one for each.
  const file = /\/screens(\/audit)?\.js$/;
  await page.route(file, gone);
  await nav(page, "Audit log");
  await page.getByRole("alert").getByText("The screen did not load").waitFor();
  await page.getByRole("button", { name: "Reload the page" }).waitFor();
  await page.unroute(file, gone);
  await page.getByRole("button", { name: "Try again" }).click();
  await heading(page, "Audit log");
  await nav(page, "Events");
  await page.getByText("Following", { exact: true }).waitFor();
  await page.route("**/v1/events?*", gone);
  const alert = page.getByRole("alert").getByText("No connection to the service");
  await alert.waitFor();
  await page.unroute("**/v1/events?*", gone);
  await alert.waitFor({ state: "detached" });
}

/** Opens the feed after an import of thousands, and keeps it open during another one: it reads the newest events only, and says that there were more. */
export async function flood(page, { check }) {
  const starts = [];
  let isFlood = false;
  await page.route("**/v1/events?*", async (route) => {
    const { searchParams } = new URL(route.request().url());
    starts.push(searchParams.get("since") ?? "cursor");
    if (!isFlood || searchParams.has("since")) return route.continue();
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...(await response.json()), has_more: true } });
  });
  await nav(page, "Events");
  await page.getByRole("table").getByRole("row").nth(1).waitFor();
  check(starts.join() === "newest", `the feed costs ${starts.length} requests: ${starts}`);
  const cut = page.getByText("More events came than this screen shows.");
  check((await cut.count()) === 0, "the feed says that events are missing");
  isFlood = true;
  await cut.waitFor();
  const { data: [event] } = await api("GET", "/events?since=newest&limit=1");
  check((await page.getByRole("table").getByRole("link").first().getAttribute("href")).endsWith(event.id), "the first row is not the newest event");
  const looks = starts.slice(1).join();
  check(/^(cursor,)+newest(,cursor,newest)*(,cursor)?$/.test(looks), `each look costs more than two requests: ${looks}`);
  await accessible(page, "a feed that is cut", check);
  await page.evaluate(() => localStorage.setItem("candor-language", "de"));
  await page.reload();
  await page.getByText("Es kamen mehr Ereignisse, als hier Platz haben.").waitFor();
  await page.unroute("**/v1/events?*");
}

/** Pastes a link into the entrance that is open already: it opens, and its code leaves the address. */
export async function paste(page, { open, origin, check }) {
  const made = await api("POST", "/portal-links", { name: "Pasted link", scopes: ["webhooks:read"], expires_in: 3600, start: "/webhooks" });
  const entrance = await open({}, null);
  await entrance.goto(`${origin}/console/webhooks`);
  await heading(entrance, "Open the console");
  const link = made.url.replace(/^https?:\/\/[^/]+/, origin);
  await entrance.goto(link);
  await entrance.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
  await heading(entrance, "Webhooks");
  check(!entrance.url().includes("#"), "the code stays in the address");
  await entrance.context().close();
  const second = await open({}, null);
  await second.goto(`${origin}/console/webhooks`);
  await heading(second, "Open the console");
  await second.goto(link);
  await second.getByText("The link no longer opens").waitFor();
  check(!second.url().includes("#"), "the code of a used link stays in the address");
  await second.context().close();
}

/** Filters by a day of the reader's clock, which is not a day in UTC. */
export async function days(_, { open, origin, check }) {
  const page = await open({ timezoneId: "Asia/Tokyo" });
  for (const [address, name] of [["audit?", "occurred_at"], ["webhooks?view=deliveries&", "attempted_at"]]) {
    const isDay = (request) => request.url().includes(`filter[${name}][gte]=2026-01-01T15%3A00%3A00.000Z`);
    const asked = page.waitForRequest(isDay);
    await page.goto(`${origin}/console/${address}from=2026-01-02&to=2026-01-02`);
    const url = (await asked).url();
    check(url.includes(`filter[${name}][lte]=2026-01-02T14%3A59%3A59.999Z`), `the day ends elsewhere: ${url}`);
  }
  await page.context().close();
}

/** Opens each list: the names of all people on a screen come with one request or two. */
export async function names(page, { origin, check }) {
  const lists = ["/people", "/feedback", ...["objectives", "summaries", "conversations", "assignments"].map((view) => `/feedback?view=${view}`), "/audit"];
  for (const list of lists) {
    const asked = [];
    const note = (request) => request.url().includes("/v1/") && asked.push(new URL(request.url()).pathname);
    page.on("request", note);
    await page.goto(`${origin}/console${list}`);
    await page.waitForLoadState("networkidle");
    page.off("request", note);
    check(asked.length > 0 && asked.length <= 15, `${list} asks for ${asked.length} things: ${asked.join(" ")}`);
    const single = asked.filter((path) => /\/employees\/emp_/.test(path));
    check(single.length === 0, `${list} reads people one by one: ${single.join(" ")}`);
  }
}
