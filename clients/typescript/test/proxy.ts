// A proxy that spoils answers in turn: reset, 503, 429, truncated, slow.

import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How one request is treated. Faults named `…After` let the service act first. */
export type Fault = "none" | "reset" | "resetAfter" | "unavailable" | "limited" | "truncatedAfter" | "slowAfter";

export class FaultProxy {
  readonly counts = new Map<Fault, number>();
  /** Idempotency keys of the requests, in order. */
  readonly keys: string[] = [];
  readonly #target: URL;
  readonly #fault: (request: number) => Fault;
  readonly #server: Server;
  #requests = 0;

  private constructor(target: string, fault: (request: number) => Fault) {
    this.#target = new URL(target);
    this.#fault = fault;
    this.#server = createServer((incoming, answer) => this.#pass(incoming, answer));
  }

  static async start(target: string, fault: (request: number) => Fault): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, fault);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const fault = this.#fault(this.#requests++);
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    const key = incoming.headers["idempotency-key"];
    if (typeof key === "string") this.keys.push(key);
    if (fault === "reset") return void incoming.socket.resetAndDestroy();
    if (fault === "unavailable") return refuse(answer, 503, "unavailable", {});
    if (fault === "limited") return refuse(answer, 429, "rate_limited", { "retry-after": "1" });
    const { hostname, port } = this.#target;
    const options = { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers };
    const passed = request(options, (reply) => {
      const parts: Buffer[] = [];
      reply.on("data", (part: Buffer) => parts.push(part));
      reply.on("end", () => {
        const body = Buffer.concat(parts);
        if (fault === "resetAfter") return void incoming.socket.resetAndDestroy();
        // A slow answer never comes: the client's timeout ends the attempt.
        if (fault === "slowAfter") return;
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        if (fault !== "truncatedAfter") return void answer.end(body);
        answer.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy());
      });
    });
    passed.on("error", () => incoming.socket.destroy());
    incoming.pipe(passed);
  }
}

function refuse(answer: ServerResponse, status: number, code: string, headers: Record<string, string>): void {
  answer.writeHead(status, { "content-type": "application/json", ...headers });
  answer.end(JSON.stringify({ error: { code, message: "spoiled", request_id: "req_0" } }));
}
