// Webhooks: verifies a delivery by the signature of Standard Webhooks, and reads its event.

import { CandorError } from "./errors.js";
import type { FeedEvent, ThinEvent } from "./generated/types.js";

/** A request without a valid signature of the service, or with a signature that is too old. */
export class WebhookVerificationError extends CandorError {}

/**
 * An event in the payload form of its subscription: with the resource, or only its id, type and URL. An event whose data
 * was erased before it was sent again is an `ErasedEvent`.
 */
export type DeliveredEvent = FeedEvent | ThinEvent;

/** Returns `true` if an event has only id, type and URL of its resource. A test event is never thin. */
export function isThinEvent(event: DeliveredEvent): event is ThinEvent {
  return "payload" in event && event.payload === "thin";
}

/** Headers of a request in the forms that frameworks use. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export interface UnwrapOptions {
  /** Largest difference in seconds between the time of the signature and this clock. Default: 300. */
  tolerance?: number | undefined;
}

const TOLERANCE = 300;
const PREFIX = "whsec_";

/**
 * Verifies a delivery and returns its event.
 *
 * @param rawBody Body as it was received, before it is parsed.
 * @param secrets Secret of the subscription, or the old and the new one during a rotation.
 * @throws WebhookVerificationError if the request is not a valid delivery: answer it with 400.
 */
async function unwrap(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: UnwrapOptions = {},
): Promise<DeliveredEvent> {
  const body = typeof rawBody === "string" ? new TextEncoder().encode(rawBody) : rawBody;
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    header(headers, name),
  ) as [string, string, string];
  const age = Math.abs(Date.now() / 1000 - Number(time));
  if (!/^\d+$/.test(time) || age > (options.tolerance ?? TOLERANCE)) {
    throw new WebhookVerificationError(
      "The header webhook-timestamp is malformed, or too far from this machine's clock: check the clock.",
    );
  }
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), body);
  const given = signatures.split(" ").filter((entry) => entry.startsWith("v1,")).map((entry) => entry.slice(3));
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
    // Every sender can sign with an empty key.
    if (!bytes?.length) throw new CandorError("A webhook secret is not valid: pass it as the service showed it, `whsec_…`.");
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const entry of given) {
      const signature = fromBase64(entry);
      // `verify` compares in constant time.
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
        return JSON.parse(new TextDecoder().decode(body)) as DeliveredEvent;
      }
    }
  }
  throw new WebhookVerificationError("No signature of the delivery was made with one of the secrets.");
}

function header(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value[0] : value;
  if (!text) throw new WebhookVerificationError(`The request has no header ${name}.`);
  return text;
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof (headers as Headers).get === "function";
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export const webhooks = { unwrap };
