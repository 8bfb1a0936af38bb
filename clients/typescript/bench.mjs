// Measures the library against bare `fetch`, without a timeout and with one, and `events.follow` against a feed that is full.
// Usage: CANDOR_URL=… CANDOR_API_KEY=… node bench.mjs, after `npm run build`; the key needs high quotas.
import { Candor } from "./dist/esm/index.js";

const ROUNDS = 20;
const REQUESTS = 100;
const PEOPLE = 10_000;
const candor = new Candor();
const url = `${process.env.CANDOR_URL}/v1/organization`;
const headers = { authorization: `Bearer ${process.env.CANDOR_API_KEY}` };

const variants = {
  "fetch": async () => (await fetch(url, { headers })).json(),
  "fetch with a timeout": async () => (await fetch(url, { headers, signal: AbortSignal.timeout(30_000) })).json(),
  "library": () => candor.organization.get(),
};

/** Wall and CPU time of requests in a row, in µs each. */
async function timed(request) {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  for (let number = 0; number < REQUESTS; number++) await request();
  const { user, system } = process.cpuUsage(cpu);
  return [((performance.now() - begun) * 1000) / REQUESTS, (user + system) / REQUESTS];
}

const names = Object.keys(variants);
const times = Object.fromEntries(names.map((name) => [name, [[], []]]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const name of round % 2 ? [...names].reverse() : names) {
    const figures = await timed(variants[name]);
    // The first round warms up.
    if (round > 0) figures.forEach((figure, kind) => times[name][kind].push(figure));
  }
}
const median = (values) => [...values].sort((left, right) => left - right)[values.length >> 1];
for (const name of names) {
  const [wall, cpu] = times[name].map(median);
  console.log(`${name}: ${wall.toFixed(0)} µs and ${cpu.toFixed(0)} µs of CPU each`);
}

const start = await candor.events.list({ since: "now" });
const rows = Array.from({ length: PEOPLE }, (_, row) => `t${Date.now()}-${row}@example.com,P,${row}`);
await candor.employees.upsert(`email,first_name,last_name\n${rows.join("\n")}\n`, { timeout: 300_000 });
const begun = performance.now();
let count = 0;
for await (const _event of candor.events.follow({ cursor: start.nextCursor })) if (++count === PEOPLE) break;
console.log(`events.follow: ${Math.round((PEOPLE / (performance.now() - begun)) * 1000)} events/s`);
