// Measures the library against bare `fetch` with a time limit, and `events.follow` against a feed that is full. Prints JSON.
// Usage: CANDOR_URL=… CANDOR_API_KEY=… node bench.mjs, after `npm run build`; the key needs high quotas.
import { Candor } from "./dist/esm/index.js";

const ROUNDS = 100;
const REQUESTS = 10;
const PEOPLE = 10_000;
const candor = new Candor();
const url = `${process.env.CANDOR_URL}/v1/organization`;
const headers = { authorization: `Bearer ${process.env.CANDOR_API_KEY}` };

const bare = async () => (await fetch(url, { headers, signal: AbortSignal.timeout(30_000) })).json();
const library = () => candor.organization.get();

/** Wall time of a request in µs, of many in a row. */
async function timed(request) {
  const begun = performance.now();
  for (let number = 0; number < REQUESTS; number++) await request();
  return ((performance.now() - begun) * 1000) / REQUESTS;
}

const rounds = [];
for (let round = 0; round <= ROUNDS; round++) {
  const times = new Map();
  for (const contender of round % 2 ? [library, bare] : [bare, library]) times.set(contender, await timed(contender));
  // The first round warms up.
  if (round > 0) rounds.push([times.get(bare), times.get(library)]);
}
const median = (values) => [...values].sort((left, right) => left - right)[values.length >> 1];

const start = await candor.events.list({ since: "now" });
const rows = Array.from({ length: PEOPLE }, (_, row) => `t${Date.now()}-${row}@example.com,P,${row}`);
await candor.employees.upsert(`email,first_name,last_name\n${rows.join("\n")}\n`, { timeout: 300_000 });
const begun = performance.now();
let count = 0;
for await (const _event of candor.events.follow({ cursor: start.nextCursor })) if (++count === PEOPLE) break;
const figures = {
  bare_micros: median(rounds.map(([plain]) => plain)),
  library_micros: median(rounds.map(([, own]) => own)),
  ratio: median(rounds.map(([plain, own]) => own / plain)),
  events_per_second: (PEOPLE / (performance.now() - begun)) * 1000,
};
console.log(JSON.stringify(figures));
