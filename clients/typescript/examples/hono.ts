import { type DeliveredEvent, WebhookVerificationError, webhooks } from "@candor/client";
import { Hono } from "hono";

/** A Hono application that receives deliveries at `/hooks/candor`. */
export function receiver(secrets: string[], handle: (event: DeliveredEvent) => void): Hono {
  const app = new Hono();
  app.post("/hooks/candor", async (context) => {
    try {
      handle(await webhooks.unwrap(await context.req.text(), context.req.raw.headers, secrets));
      return context.body(null, 204);
    } catch (error) {
      return context.body(null, error instanceof WebhookVerificationError ? 400 : 500);
    }
  });
  return app;
}
