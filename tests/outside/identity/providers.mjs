// Two published OpenID Connect providers on ports of this machine: oidc-provider in this process, and authlib in another. Each signs
// the person in without a question, because the check is about the service.
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import Provider from "oidc-provider";

const SCOPES = "observations:read employees:read";

/** A private key of RSA as a JWK, with an id of its own. */
function createKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: crypto.randomUUID(), use: "sig", alg: "RS256" };
}

/** Settings of oidc-provider for the client of the service. */
function settingsOf(setup, key) {
  const grantIn = async ({ oidc }) => {
    const known = oidc.session.grantIdFor(oidc.client.clientId);
    if (known) return oidc.provider.Grant.find(known);
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope("openid email profile");
    grant.addResourceScope(setup.audience, SCOPES);
    await grant.save();
    return grant;
  };
  return {
    clients: [{
      client_id: setup.client_id, redirect_uris: [setup.redirect_uri], response_types: ["code"], grant_types: ["authorization_code"],
      ...(setup.client_secret ? { client_secret: setup.client_secret, token_endpoint_auth_method: "client_secret_basic" }
        : { token_endpoint_auth_method: "none" }),
      ...(setup.backchannel_logout_uri && { backchannel_logout_uri: setup.backchannel_logout_uri, backchannel_logout_session_required: true }),
      ...(setup.after_logout && { post_logout_redirect_uris: [setup.after_logout] }),
    }],
    jwks: { keys: [key] },
    ttl: { AccessToken: 3600, Grant: 3600, IdToken: 3600, Interaction: 600, Session: 3600 },
    cookies: { keys: ["only for the check"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: [] },
    conformIdTokenClaims: false,
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, email: setup.email, email_verified: true }) }),
    extraTokenClaims: () => (setup.named ? { candor_provider: setup.named } : {}),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    loadExistingGrant: grantIn,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true, defaultResource: () => setup.audience, useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({ scope: SCOPES, audience, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } }),
      },
    },
  };
}

/** Starts oidc-provider. Its client is set up later, because the redirect URI has the id of the provider at the service. */
export async function startNode() {
  let provider;
  let answer = (_, response) => response.writeHead(503).end();
  let setup;
  let key = createKey();
  const server = createServer((request, response) => answer(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const create = () => {
    provider = new Provider(issuer, settingsOf(setup, key));
    provider.on("server_error", (_, error) => console.error(`oidc-provider: ${error}`));
    const callback = provider.callback();
    answer = (request, response) => request.url.startsWith("/interaction/")
      ? provider.interactionFinished(request, response, { login: { accountId: setup.subject } }, { mergeWithLastSubmission: false })
      : callback(request, response);
  };
  return {
    name: "oidc-provider", issuer, endsSessions: true,
    setUp: async (of) => ((setup = of), create()),
    rotate: async () => ((key = createKey()), create()),
    /** Answers everything with this status and text, as a provider does that is down. */
    breakDown: (status, text) => void (answer = (_, response) => response.writeHead(status, { "content-type": "application/json" }).end(text)),
    close: () => server.close(),
  };
}

/** Starts the provider of authlib with this Python. */
export async function startPython(python) {
  const child = spawn(python, ["provider.py"], { stdio: ["pipe", "pipe", "pipe"] });
  const errors = [];
  child.stderr.on("data", (text) => errors.push(String(text)));
  child.on("exit", (status) => status && console.error(`authlib: ${errors.join("")}`));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: port } = await lines.next();
  const say = async (line) => (child.stdin.write(`${line}\n`), lines.next());
  return {
    name: "authlib", issuer: `http://127.0.0.1:${port}`, endsSessions: false,
    setUp: (setup) => say(JSON.stringify(setup)),
    rotate: () => say("rotate"),
    close: () => child.stdin.end(),
  };
}
