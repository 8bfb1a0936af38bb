// Checks deliveries with the package and the example of docs/webhooks.md, which check.py prepends to this file.

const { Webhook, WebhookVerificationError } = require("standardwebhooks");

function passes(secret, headers, body) {
  try {
    new Webhook(secret).verify(body, headers);
  } catch (error) {
    // The package refuses an empty secret with a plain `Error`.
    if (error instanceof WebhookVerificationError || ["", "whsec_"].includes(secret)) return false;
    throw error;
  }
  return true;
}

for (const [secret, headers, text, ...now] of JSON.parse(require("node:fs").readFileSync(0))) {
  const body = Buffer.from(text);
  const authentic = isAuthentic(secret, headers["x-service-signature"], body, ...now);
  console.log(JSON.stringify([authentic, passes(secret, headers, body)]));
}
