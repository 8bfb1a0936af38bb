// Sign-ins of a person in a browser and on the command line, and their end.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Browser } from "./browser.mjs";
import { api, origin, send } from "./service.mjs";

const LIMIT_MS = 60_000;
const [, , , binary, folder] = process.argv;

const posted = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** Calls until the value holds. */
export async function eventually(read, holds, text) {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; ) {
    if (holds(await read())) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${text}`);
}

/** Begins a sign-in and follows it to its end: the address of the console, or of the command line. */
export async function begin(browser, email, rest, isEnd) {
  const begun = await browser.send(`${origin}/v1/sign-in`, posted({ email, ...rest }));
  const { url, error } = await begun.json();
  if (!url) throw new Error(`POST /sign-in answered ${begun.status}: ${JSON.stringify(error)}`);
  return browser.follow(url, isEnd);
}

export const isConsole = (url) => url.startsWith(`${origin}/console`);
export const fragment = (url) => new URLSearchParams(new URL(url).hash.slice(1));

/** Signs in in a browser, and returns the key of the session. */
export async function open(browser, email) {
  const end = await begin(browser, email, {}, isConsole);
  const exchange = await browser.send(`${origin}/v1/portal-links/exchange`, posted({ code: fragment(end).get("code") }));
  const { key } = await exchange.json();
  if (!key) throw new Error(`a sign-in of ${email} ends at ${end}, and the exchange with ${exchange.status}`);
  return key;
}

/** Signs in in a browser, and returns the key of the session. The code serves this browser once. */
async function openGuarded(browser, email, check) {
  const end = await begin(browser, email, { start: "/people" }, isConsole);
  const code = fragment(end).get("code");
  check(code && end.startsWith(`${origin}/console/people#`), `a sign-in of ${email} ends at ${end}`);
  const stranger = await new Browser().send(`${origin}/v1/portal-links/exchange`, posted({ code }));
  check(stranger.status === 404, `another browser exchanges the code: ${stranger.status}`);
  const exchange = await browser.send(`${origin}/v1/portal-links/exchange`, posted({ code }));
  const { key } = await exchange.json();
  check(key, `the browser exchanges the code: ${exchange.status}`);
  const again = await browser.send(`${origin}/v1/portal-links/exchange`, posted({ code }));
  check(again.status === 404, `the code is exchanged twice: ${again.status}`);
  return key;
}

/** Signs in, is the person, and signs out. */
export async function signIn(provider, { setup, person }, check) {
  const key = await openGuarded(new Browser(), setup.email, check);
  const me = await send("GET", "/me", null, key);
  check(me.body.employee_id === person.id && me.body.name === "Session of Ada Moreau", `signed in as ${JSON.stringify(me.body)}`);
  const logout = await send("POST", "/sign-in/logout", null, key);
  check(logout.status === 200 && (provider.endsSessions ? logout.body.url?.startsWith(provider.issuer) : logout.body.url === null), `logout: ${JSON.stringify(logout)}`);
  await eventually(() => send("GET", "/me", null, key), ({ status }) => status === 401, "the session ends");
}

/** A person without an account here, and a provider that is down, lead back with a reason. */
export async function refuse(provider, { setup }, check) {
  await provider.setUp({ ...setup, subject: "stranger", email: `stranger@${setup.email.split("@")[1]}` });
  const unknown = await begin(new Browser(), setup.email, {}, isConsole);
  check(fragment(unknown).get("error") === "not_linked", `a stranger ends at ${unknown}`);
  await provider.setUp(setup);
}

/** Signs in on the command line: the code serves the waiting program alone, and a logout ends the session. */
export async function commandLine(_, { setup, person }, check) {
  const environment = { ...process.env, XDG_CONFIG_HOME: `${folder}/config`, CANDOR_API_KEY: "", CANDOR_URL: "" };
  const program = spawn(binary, ["login", "--url", origin, "--browser", "--json"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  program.stdout.on("data", (text) => output.push(String(text)));
  const lines = [];
  let address = "";
  for await (const line of createInterface({ input: program.stderr })) {
    lines.push(line);
    if (line.startsWith("http")) address = line;
    if (line.includes("shows the code")) break;
  }
  const [port, challenge, state] = new URL(address).hash.replace("#command-line=", "").split(".");
  const shown = `${Buffer.from(challenge, "base64url").toString("hex").slice(0, 4)}-${Buffer.from(challenge, "base64url").toString("hex").slice(4, 8)}`;
  check(lines.at(-1).includes(shown), `the command line shows ${lines.at(-1)}`);
  const browser = new Browser();
  const isProgram = (url) => url.startsWith(`http://127.0.0.1:${port}/`);
  const end = await begin(browser, setup.email, { command_line: { port: Number(port), challenge, state } }, (url) => isProgram(url) || isConsole(url));
  if (!isProgram(end)) program.kill();
  check(isProgram(end) && new URL(end).searchParams.get("state") === state, `a sign-in of the command line ends at ${end}`);
  const code = new URL(end).searchParams.get("code");
  for (const body of [{ code }, { code, verifier: "a".repeat(43) }]) {
    const stolen = await browser.send(`${origin}/v1/portal-links/exchange`, posted(body));
    check(stolen.status === 404, `the code is exchanged without the verifier: ${stolen.status}`);
  }
  const foreign = await fetch(`http://127.0.0.1:${port}/?code=cdr_link_${"x".repeat(43)}&state=${"x".repeat(43)}`);
  check(foreign.status === 404, `the command line takes a foreign code: ${foreign.status}`);
  const page = await (await fetch(end)).text();
  check(page.includes("You are signed in"), `the page says ${page}`);
  const [status] = program.exitCode === null ? await once(program, "exit") : [program.exitCode];
  check(status === 0, `candor login ended with ${status}`);
  const profile = JSON.parse(output.join(""));
  check(profile.expires_at !== null && profile.name === "Session of Ada Moreau", `the profile is ${JSON.stringify(profile)}`);
  const call = (...words) => new Promise((resolve) => {
    execFile(binary, words, { cwd: folder, env: environment }, (error, stdout) => resolve({ status: error?.code ?? 0, stdout }));
  });
  const me = await call("api", "GET", "me");
  check(JSON.parse(me.stdout).employee_id === person.id, `the command line is ${me.stdout}`);
  const { key_id } = JSON.parse(me.stdout);
  check((await call("logout")).status === 0, "candor logout fails");
  const { revoked_at } = await api("GET", `/api-keys/${key_id}`);
  check(revoked_at, "the session goes on after candor logout");
}
