// Runs the check with each provider. Arguments: Python with authlib, the binary of the service, the folder of the service.
import { createHash, randomBytes } from "node:crypto";
import { Browser } from "./browser.mjs";
import { startNode, startPython } from "./providers.mjs";
import { api, operate, origin } from "./service.mjs";
import { commandLine, refuse, signIn } from "./sign_in.mjs";

const AUDIENCE = "api://candor";
const problems = [];
const check = (holds, text) => holds || problems.push(text);

const base64url = (bytes) => Buffer.from(bytes).toString("base64url");

/** Takes tokens from the provider without the service, as a program does. */
async function takeTokens(provider, setup) {
  const verifier = base64url(randomBytes(32));
  const query = new URLSearchParams({
    response_type: "code", client_id: setup.client_id, redirect_uri: setup.redirect_uri, scope: "openid email", nonce: base64url(randomBytes(16)),
    code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256", state: "of the check",
  });
  const described = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
  const end = await new Browser().follow(`${described.authorization_endpoint}?${query}`, (url) => url.startsWith(setup.redirect_uri));
  const code = new URL(end).searchParams.get("code");
  if (!code) throw new Error(`the provider answered ${end}`);
  const form = { grant_type: "authorization_code", code, redirect_uri: setup.redirect_uri, client_id: setup.client_id, code_verifier: verifier };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  if (setup.client_secret) headers.authorization = `Basic ${Buffer.from(`${setup.client_id}:${setup.client_secret}`).toString("base64")}`;
  const answer = await fetch(described.token_endpoint, { method: "POST", headers, body: new URLSearchParams(form) });
  const tokens = await answer.json();
  if (!tokens.id_token) throw new Error(`the provider answered ${JSON.stringify(tokens)}`);
  return tokens;
}

/** Connects a provider to the organization, and sets the provider up for it. */
async function connect(provider, domain, client_secret, subject) {
  const body = { name: provider.name, issuer: provider.issuer, client_id: `candor-${domain}`, client_secret, link_by: "verified_email",
    email_domains: [domain], audiences: [AUDIENCE] };
  const { id } = await api("POST", "/identity-providers", body);
  const setup = {
    client_id: body.client_id, client_secret, subject, email: `ada@${domain}`, audience: AUDIENCE, named: null,
    redirect_uri: `${origin}/v1/sign-in/callback/${id}`, backchannel_logout_uri: `${origin}/v1/sign-in/backchannel-logout/${id}`,
    after_logout: `${origin}/console`,
  };
  await provider.setUp(setup);
  return { id, setup };
}

/** Records the domain as proven, as the operator does. */
async function trust(domain) {
  const { organization_id } = await api("GET", "/me");
  operate("identity", "trust", "--org", organization_id, "--domain", domain);
}

/** Proves the domain, and the audience with a token of a public client. The keys may change meanwhile. */
async function prove(provider, domain) {
  const { id, setup } = await connect(provider, domain, null, `user of ${provider.name}`);
  const judge = async (token) => (await api("POST", `/identity-providers/${id}/check`, token ? { token } : {}));
  const unproven = await judge();
  check(!unproven.ok && unproven.problems.length === 1 && unproven.problems[0].includes(domain), `${provider.name}: ${JSON.stringify(unproven)}`);
  check(unproven.issuer === provider.issuer && unproven.keys === 1, `${provider.name}: the description is read as ${JSON.stringify(unproven)}`);
  await trust(domain);
  const first = await takeTokens(provider, setup);
  const mixed = `${first.id_token.slice(0, first.id_token.lastIndexOf("."))}.${first.access_token.split(".").at(-1)}`;
  const forged = await judge(mixed);
  check(!forged.ok && forged.proven.join() === domain, `${provider.name}: a token with a foreign signature proves ${forged.proven}`);
  const identified = await judge(first.id_token);
  check(!identified.ok && identified.proven.join() === domain, `${provider.name}: an ID token gives ${JSON.stringify(identified)}`);
  await provider.rotate();
  const former = await judge(first.access_token);
  check(!former.ok && !former.proven.includes(AUDIENCE), `${provider.name}: a key that is no longer published proves ${former.proven}`);
  const { access_token } = await takeTokens(provider, setup);
  const unnamed = await judge(access_token);
  check(!unnamed.ok && !unnamed.proven.includes(AUDIENCE), `${provider.name}: a token that does not name the provider proves ${unnamed.proven}`);
  setup.named = id;
  await provider.setUp(setup);
  const audience = await judge((await takeTokens(provider, setup)).access_token);
  check(audience.ok && audience.proven.includes(AUDIENCE), `${provider.name}: an access token gives ${JSON.stringify(audience)}`);
  const { status } = await api("GET", `/identity-providers/${id}`);
  check(status === "active", `${provider.name}: a proven provider is ${status}`);
  return { id, setup };
}

/** Signs a person in through a client with a secret, which proves the client id, on each way and to each end. */
async function useSecret(provider, domain) {
  const person = await api("POST", "/employees", { email: `ada@${domain}`, first_name: "Ada", last_name: "Moreau" });
  const { id, setup } = await connect(provider, domain, `secret of ${domain}`, `ada of ${provider.name}`);
  await trust(domain);
  const scene = { setup, person };
  for (const task of [signIn, refuse, commandLine]) {
    await task(provider, scene, check).then(() => console.log(`${provider.name}: ${task.name}`), (error) => problems.push(`${provider.name}: ${task.name}: ${error}`));
  }
  const { status, last_sign_in_at } = await api("GET", `/identity-providers/${id}`);
  check(status === "active" && last_sign_in_at, `${provider.name}: after sign-ins the provider is ${status}, ${last_sign_in_at}`);
  const { data: [link] } = await api("GET", `/identity-providers/${id}/links`);
  check(link?.employee_id === person.id && link.subject === setup.subject, `${provider.name}: linked ${JSON.stringify(link)}`);
  await api("DELETE", `/identity-providers/${id}`);
}

/** Checks a provider that is down, or answers something else: each problem is named, and nothing is proven. */
async function fail(provider, id) {
  for (const [status, text] of [[503, "{}"], [200, "<html>"], [200, JSON.stringify({ issuer: "http://127.0.0.1:1" })], [200, " ".repeat(300_000)]]) {
    provider.breakDown(status, text);
    const answer = await api("POST", `/identity-providers/${id}/check`, {});
    check(!answer.ok && answer.problems.length > 0 && answer.issuer === null, `${status} ${text.slice(0, 40)} gives ${JSON.stringify(answer)}`);
  }
}

async function main() {
  const [node, python] = [await startNode(), await startPython(process.argv[2])];
  try {
    for (const [provider, domain] of [[node, "node.example"], [python, "python.example"]]) {
      const { id } = await prove(provider, domain);
      if (provider === node) await fail(provider, id);
      await api("DELETE", `/identity-providers/${id}`);
      console.log(`${provider.name}: tokens, keys and failures`);
      if (provider === node) await useSecret(provider, domain);
    }
  } finally {
    node.close();
    python.close();
  }
  problems.forEach((problem) => console.error(problem));
  process.exitCode = problems.length ? 1 : 0;
}

main();
