// The service under test: its API, and the commands of its operator.
import { execFileSync } from "node:child_process";

const [, , , binary, folder] = process.argv;
export const origin = process.env.CANDOR_URL;

/** Sends a request and returns its status and JSON. */
export async function send(method, path, body, key = process.env.CANDOR_API_KEY) {
  const answer = await fetch(`${origin}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : null };
}

/** Sends a request that must succeed, and returns its JSON. */
export async function api(method, path, body) {
  const answer = await send(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Executes a command of the operator in the folder of the service. */
export function operate(...words) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CANDOR_")));
  return execFileSync(binary, words, { cwd: folder, env: environment, encoding: "utf8" });
}
