import { type DeliveredEvent, WebhookVerificationError, webhooks } from "@candor/client";
import express, { type Express } from "express";

/** An Express application that receives deliveries at `/hooks/candor`. */
export function receiver(secrets: string[], handle: (event: DeliveredEvent) => void): Express {
  const app = express();
  // The raw body: a parsed one cannot be verified.
  app.post("/hooks/candor", express.raw({ type: "application/json" }), async (request, response) => {
    try {
      handle(await webhooks.unwrap(request.body as Buffer, request.headers, secrets));
      response.status(204).end();
    } catch (error) {
      response.status(error instanceof WebhookVerificationError ? 400 : 500).end();
    }
  });
  return app;
}
