// Compares docs/openapi.json with docs/openapi.released.json. Breaks that CHANGELOG.md lists with a reason may be.

import { readFileSync } from 'node:fs';
import { breaks } from './compare.mjs';
import { intended, problems } from './judge.mjs';

const read = (path) => readFileSync(path, 'utf8');
const found = await breaks(JSON.parse(read('docs/openapi.released.json')), JSON.parse(read('docs/openapi.json')));
const lines = problems(found, intended(read('CHANGELOG.md')));
lines.forEach((line) => console.log(line));
console.log(`${found.length} breaks since the last release, ${lines.length} problems`);
process.exitCode = lines.length > 0 ? 1 : 0;
