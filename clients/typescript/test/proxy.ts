// The proxy of `tests/faults`, which breaks answers: reset, 503, 429, truncated, slow.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

const BINARY = process.env["CANDOR_FAULT_PROXY"] ?? "candor-fault-proxy";

/** Number of requests by treatment, and their idempotency keys in order. */
export interface Report {
  counts: Record<string, number>;
  keys: string[];
}

export class FaultProxy {
  readonly url: string;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(url: string, started: ChildProcessByStdio<Writable, Readable, null>) {
    this.url = url;
    this.#process = started;
  }

  /** The plan names the treatment of each request in turn; `mixed` is that of the tests with 200 creates. */
  static async start(target: string, ...plan: string[]): Promise<FaultProxy> {
    const started = spawn(BINARY, [new URL(target).host, ...plan], { stdio: ["pipe", "pipe", "inherit"] });
    for await (const url of createInterface({ input: started.stdout })) return new FaultProxy(url, started);
    throw new Error("the proxy has not started");
  }

  async report(): Promise<Report> {
    return (await (await fetch(`${this.url}/faults`)).json()) as Report;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    // The proxy ends with its input.
    this.#process.stdin.end();
    await ended;
  }
}
