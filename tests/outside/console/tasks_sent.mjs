// Tasks with what was sent and who changed what.
import { accessible } from "./looks.mjs";
import { heading, nav } from "./page.mjs";
import { api } from "./service.mjs";

/** Waits until a call returns something. */
async function until(read) {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const found = await read();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("it does not come");
}

/** Sees a thin delivery with its headers: what the log has, and what would be sent now. */
export async function sent(page, { working, origin, check }) {
  const body = { url: working.url, event_types: ["department.created"], payload: "thin", headers: { "x-gateway": "Bearer 6f1c0e5b9a7d" } };
  const hook = await api("POST", "/webhooks", body);
  await api("POST", "/departments", { name: "Confidential laboratory" });
  const [entry] = await until(async () => {
    const { data } = await api("GET", `/webhooks/${hook.id}/deliveries`);
    return data.length > 0 && data;
  });
  await page.goto(`${origin}/console/webhooks/${hook.id}/deliveries/${entry.id}`);
  await page.getByText("The receiver has acknowledged the event.").waitFor();
  const request = page.getByRole("region", { name: "Request" });
  await request.getByText("What would be sent now").waitFor();
  await request.getByText("x-gateway: …9a7d").waitFor();
  await request.getByText('"payload": "thin"').waitFor();
  await accessible(page, "a thin delivery", check);
  check((await page.getByText("Confidential laboratory").count()) === 0, "the content of the event is shown as sent");
  await api("DELETE", `/webhooks/${hook.id}`);
}
