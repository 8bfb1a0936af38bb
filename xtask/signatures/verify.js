// Checks deliveries with the example of the page, which stands before this text, and with the package.

const { Webhook, WebhookVerificationError } = require("standardwebhooks");

function passes(secret, headers, body) {
  try {
    new Webhook(secret).verify(body, headers);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
  return true;
}

for (const [secret, headers, text] of JSON.parse(require("node:fs").readFileSync(0))) {
  const body = Buffer.from(text);
  console.log(JSON.stringify([isAuthentic(secret, headers["x-service-signature"], body), passes(secret, headers, body)]));
}
