// Tasks with the sign-in of people.
import { accessible } from "./looks.mjs";
import { heading, inGerman, more, nav } from "./page.mjs";
import { api } from "./service.mjs";

const NAME = "Login of Acme";
const ISSUER = "https://login.acme.invalid";

/** Connects a provider, corrects what is refused, checks it, changes, links, disables and deletes it. */
export async function provider(page, { data, check, open, origin }) {
  await nav(page, "Sign-in");
  await heading(page, "Sign-in");
  await page.getByRole("button", { name: "Connect a provider" }).click();
  const dialog = page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: "Connect a provider" });
  check(await submit.isDisabled(), "a provider without a client can be connected");
  await dialog.locator("[name=name]").fill(NAME);
  await dialog.locator("[name=issuer]").fill(ISSUER);
  await dialog.locator("[name=client_id]").fill("candor");
  await dialog.locator("[name=client_secret]").fill("not to be shown");
  await dialog.locator("[name=email_domains]").fill("acme.example\nGMAIL.com");
  await submit.click();
  await dialog.locator(".field-error").first().waitFor();
  await dialog.locator("[name=email_domains]").fill("acme.example, acme.example");
  await dialog.getByLabel("Org admins have the access of admins").check();
  await submit.click();
  await heading(page, NAME);
  const { data: [made] } = await api("GET", "/identity-providers");
  check(made.client_secret_set && made.admin_sessions && made.email_domains.join() === "acme.example", `stored: ${JSON.stringify(made)}`);
  await page.getByText(`${origin}/v1/sign-in/callback/${made.id}`, { exact: true }).waitFor();
  await page.getByText(`${origin}/v1/sign-in/backchannel-logout/${made.id}`, { exact: true }).waitFor();
  await page.getByText(made.domains[0].txt_record, { exact: true }).waitFor();
  check(!(await page.content()).includes("not to be shown"), "the client secret is shown");

  await page.getByRole("button", { name: "Check", exact: true }).click();
  const problems = page.getByRole("status").locator(".problem li");
  await problems.first().waitFor();
  const texts = await problems.allInnerTexts();
  check(texts.some((text) => text.includes("acme.example")), `the problems are ${texts}`);
  await page.getByRole("button", { name: "Check with a token" }).click();
  await dialog.locator("[name=token]").fill("no token");
  await dialog.getByRole("button", { name: "Check", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Check again" }).waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  check(await dialog.locator("[name=issuer]").isDisabled(), "the issuer can be changed");
  await dialog.getByRole("combobox", { name: "A session lasts" }).selectOption("1 hour");
  await dialog.getByLabel("Webhooks · read").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const changed = await api("GET", `/identity-providers/${made.id}`);
  check(changed.session_lifetime === 3600 && changed.scopes.includes("webhooks:read"), `changed: ${JSON.stringify(changed)}`);
  check(changed.client_secret_set, "an empty field removes the secret");
  await links(page, data, made, check);
  await more(page, "Disable");
  await dialog.getByRole("button", { name: "Disable" }).click();
  await page.getByText("Nobody can sign in, and tokens are refused.").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await dialog.getByRole("button", { name: "Enable" }).click();
  await page.getByText("Not tested yet").waitFor();
  await bound(open, data, origin);
  await more(page, "Delete");
  await dialog.getByText("This cannot be undone.").waitFor();
  await dialog.getByRole("button", { name: "Delete the provider" }).click();
  await page.getByText("No provider is connected").waitFor();
  check((await api("GET", "/identity-providers")).data.length === 0, "the provider is still there");
}

/** Copies the addresses for a provider whose client does not exist yet, and enters the client then. */
export async function addresses(page, { check, origin }) {
  await nav(page, "Sign-in");
  await page.getByRole("button", { name: "Connect a provider" }).click();
  const dialog = page.getByRole("dialog");
  const first = dialog.getByRole("button", { name: "Show the addresses first" });
  check(await first.isDisabled(), "a provider without a name is stored");
  await dialog.locator("[name=name]").fill("Login of Brick");
  await dialog.locator("[name=issuer]").fill("https://login.brick.invalid");
  await dialog.locator("[name=email_domains]").fill("brick.example");
  await first.click();
  await heading(page, "Login of Brick");
  const { data: [made] } = await api("GET", "/identity-providers");
  await page.getByText(`${origin}/v1/sign-in/callback/${made.id}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Copy Redirect URI" }).waitFor();
  check((await page.getByText(made.client_id, { exact: true }).count()) === 0, "a client that does not exist has an id");
  await page.getByText("the API shows `not-registered-yet` as the client id").waitFor();
  check(made.client_id === "not-registered-yet", `the API shows ${made.client_id}`);
  await accessible(page, "a provider without a client", check);
  await inGerman(page, () => page.getByRole("button", { name: "Client eintragen" }).waitFor());
  await page.getByRole("button", { name: "Enter the client" }).click();
  check((await dialog.locator("[name=client_id]").inputValue()) === "", "the field of the client is filled");
  await dialog.locator("[name=client_id]").fill("candor-at-brick");
  await dialog.locator("[name=client_secret]").fill("a secret");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("The client is missing").waitFor({ state: "detached" });
  const stored = await api("GET", `/identity-providers/${made.id}`);
  check(stored.client_id === "candor-at-brick" && stored.client_secret_set, `stored: ${JSON.stringify(stored)}`);
  await api("DELETE", `/identity-providers/${made.id}`);
}

/** Links an account to a person, and takes it away again. */
async function links(page, data, made, check) {
  const path = `/identity-providers/${made.id}/links`;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Add a link" }).click();
  await dialog.getByRole("searchbox", { name: "Person" }).fill("Ines Duarte");
  await dialog.getByRole("button", { name: /Ines Duarte/ }).click();
  await dialog.locator("[name=subject]").fill("00u-ines");
  await dialog.getByRole("button", { name: "Add a link" }).click();
  const row = page.getByRole("row").filter({ hasText: "00u-ines" });
  await row.getByRole("link", { name: "Ines Duarte" }).waitFor();
  const { data: [link] } = await api("GET", path);
  check(link.employee_id === data.ines.id && link.subject === "00u-ines", `linked: ${JSON.stringify(link)}`);
  await page.getByRole("button", { name: "Remove: Ines Duarte" }).click();
  await dialog.getByText("can no longer sign in with this account").waitFor();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  check((await api("GET", path)).data.length === 0, "the link is still there");
}

/** A key that acts for a person has no settings of the sign-in. */
async function bound(open, data, origin) {
  const { key } = await api("POST", "/api-keys", { name: "Admin", scopes: ["*"], access_level: "admin", employee_id: data.mara.id });
  const person = await open({}, key);
  await person.goto(`${origin}/console/settings/sign-in`);
  await person.getByText("acts for no person").waitFor();
  await person.context().close();
}
