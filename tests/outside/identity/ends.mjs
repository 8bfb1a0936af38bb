// Ends that the provider brings about: a logout there, and its failures in the middle of a sign-in.
import { Browser } from "./browser.mjs";
import { answerWith } from "./providers.mjs";
import { api, origin, send } from "./service.mjs";
import { begin, eventually, fragment, isConsole, open } from "./sign_in.mjs";

const nowInSeconds = () => Math.floor(Date.now() / 1_000);
const statusOf = async (key) => (await send("GET", "/me", null, key)).status;

/** Signs a browser out at the provider alone, as its page does. */
async function leave(provider, browser, { client_id, after_logout }) {
  const query = new URLSearchParams({ client_id, post_logout_redirect_uri: after_logout });
  const page = await (await browser.send(`${provider.issuer}/session/end?${query}`)).text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1];
  if (!xsrf) throw new Error(`the provider answered ${page.slice(0, 400)}`);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const end = await browser.send(`${provider.issuer}/session/end/confirm`, { method: "POST", headers, body: new URLSearchParams({ xsrf, logout: "yes" }) });
  if (end.headers.get("location") !== after_logout) throw new Error(`the provider answered ${end.status}: ${end.headers.get("location")}`);
}

/** A logout at the provider ends the session of its `sid`, or all of the person, at once, and the tokens of the account. */
export async function logOutBehind(provider, { id, setup, takeTokens }, check) {
  for (const [rest, kind, other] of [[{}, "with sid", 200], [{ logoutWithoutSid: true }, "without sid", 401]]) {
    await provider.setUp({ ...setup, ...rest, named: id });
    const browsers = [new Browser(), new Browser()];
    const keys = [await open(browsers[0], setup.email), await open(browsers[1], setup.email)];
    const { access_token: token } = await takeTokens();
    const { proven } = await api("POST", `/identity-providers/${id}/check`, { token });
    check(proven.includes(setup.audience), `the audience is not proven: ${proven}`);
    const before = await Promise.all([...keys, token].map(statusOf));
    check(before.join() === "200,200,200", `before a logout ${kind}: ${before}`);
    await leave(provider, browsers[0], setup);
    // The first request after the logout, with no wait.
    const after = await Promise.all([...keys, token].map(statusOf));
    check(after.join() === `401,${other},401`, `after a logout ${kind}: ${after}`);
    // Tokens of the second of the logout stay refused.
    const second = nowInSeconds();
    await eventually(nowInSeconds, (now) => now > second, "the next second");
  }
  await provider.setUp(setup);
}

/** Sends a head, and a byte in each second, until the service hangs up. */
function trickle(_, response) {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 1_000);
  response.on("close", () => clearInterval(timer));
}

/** A provider that is slow, or answers garbage, ends a sign-in with its reason and leaves no session. */
export async function sicken(provider, { setup }, check) {
  const sessions = async () => (await api("GET", "/api-keys?filter[kind]=session&limit=100")).data.length;
  const before = await sessions();
  const token = "eyJhbGciOiJub25lIn0.e30.";
  const failures = {
    "an error": answerWith(503, "{}"),
    "a page": answerWith(200, "<html>", "text/html"),
    "no JSON": answerWith(200, "{"),
    "a list": answerWith(200, "[]"),
    "no ID token": answerWith(200, JSON.stringify({ access_token: "a", token_type: "Bearer" })),
    "an unsigned ID token": answerWith(200, JSON.stringify({ id_token: token, access_token: "a", token_type: "Bearer" })),
    "an ID token that is an object": answerWith(200, JSON.stringify({ id_token: {}, token_type: "Bearer" })),
    "a member twice": answerWith(200, `{"id_token":"${token}","id_token":"${token}"}`),
    "a large body": answerWith(200, " ".repeat(600_000)),
    "bytes that are no text": answerWith(200, Buffer.from([0xff, 0xfe, 0x00])),
    "a redirect": (_, response) => response.writeHead(307, { location: `${origin}/v1/me` }).end(),
    "the end of the connection": (request) => request.socket.destroy(),
    "no HTTP": (request) => request.socket.end("no HTTP\r\n\r\n"),
    "no answer": () => {},
    "a byte a second": trickle,
  };
  // All at once: a slow answer is waited for to its limit. Each browser ends its own sign-in.
  let next;
  provider.breakDown((request, response) => next(request, response), "/token");
  const ends = [];
  for (const [name, failure] of Object.entries(failures)) {
    let reached;
    const isReached = new Promise((resolve) => (reached = resolve));
    next = (request, response) => (reached(), failure(request, response));
    ends.push(begin(new Browser(), setup.email, {}, isConsole).then((end) => [name, end]));
    await Promise.race([isReached, ends.at(-1)]);
  }
  check((await send("GET", "/me")).status === 200, "the service answers others while sign-ins wait");
  for (const [name, end] of await Promise.all(ends)) {
    check(fragment(end).get("error") === "provider", `after ${name} of the token endpoint a sign-in ends at ${end}`);
  }
  check((await sessions()) === before, "a broken provider begins a session");
  await provider.setUp(setup);
  await open(new Browser(), setup.email);
}
