// The built binary on a SQLite database of its own, for as long as a test file runs.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Candor, type ClientOptions } from "@candor/client";

const BINARY = process.env["CANDOR_BIN"] ?? "candor";
const START_LIMIT_MS = 60_000;

export interface Key {
  id: string;
  key: string;
}

export class Service {
  readonly url: string;
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #process: ChildProcess;

  private constructor(url: string, folder: string, environment: NodeJS.ProcessEnv, started: ChildProcess) {
    this.url = url;
    this.#folder = folder;
    this.#environment = environment;
    this.#process = started;
  }

  static async start(): Promise<Service> {
    const folder = mkdtempSync(join(tmpdir(), "candor-typescript-"));
    const port = await freePort();
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("CANDOR_"));
    const environment = {
      ...Object.fromEntries(own),
      CANDOR_LISTEN: `127.0.0.1:${port}`,
      CANDOR_WEBHOOKS_TRUSTED_TARGETS: "127.0.0.0/8",
    };
    const log = openSync(join(folder, "log"), "w");
    const started = spawn(BINARY, ["dev"], { cwd: folder, env: environment, stdio: ["ignore", log, log] });
    closeSync(log);
    const service = new Service(`http://127.0.0.1:${port}`, folder, environment, started);
    await service.#ready();
    return service;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** An admin key of a new organization. */
  async organization(): Promise<{ organization: string; live: Key }> {
    const { organization_id: organization } = await this.#ask("org", "create", "--name", "Tests");
    const create = ["key", "create", "--org", organization!, "--name", "tests", "--scopes", "*", "--admin"];
    const limits = ["--reads-per-minute", "1000000", "--writes-per-minute", "1000000"];
    const live = await this.#ask(...create, ...limits);
    return { organization: organization!, live: live as unknown as Key };
  }

  /** A client with an admin key of a new organization. */
  async client(options: ClientOptions = {}): Promise<Candor> {
    const { live } = await this.organization();
    return new Candor({ apiKey: live.key, baseUrl: this.url, ...options });
  }

  async #ask(...command: string[]): Promise<Record<string, string>> {
    const options = { cwd: this.#folder, env: this.#environment };
    const { stdout } = await promisify(execFile)(BINARY, [...command, "--json"], options);
    return JSON.parse(stdout) as Record<string, string>;
  }

  async #ready(): Promise<void> {
    const begun = Date.now();
    while (!(await isReady(this.url))) {
      if (Date.now() - begun > START_LIMIT_MS || this.#process.exitCode !== null) {
        throw new Error(`the service is not ready:\n${readFileSync(join(this.#folder, "log"), "utf8")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
