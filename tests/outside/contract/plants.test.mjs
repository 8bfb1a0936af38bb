// Plants each kind of break in the document of this commit, and names the comparers that find it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { breaks } from './compare.mjs';
import { intended, problems } from './judge.mjs';

const { paths: all, ...rest } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
const PATHS = ['/observations', '/api-keys', '/api-keys/{id}/rotate', '/audit-log', '/openapi.json'];
const DOCUMENT = { ...rest, paths: Object.fromEntries(PATHS.map((path) => [path, all[path]])) };
const [SMART, OPTIC, OURS] = ['api-smart-diff', 'optic', 'ours'];
const BOTH = [SMART, OPTIC];

const create = ({ components }) => components.schemas.ObservationCreate;
const read = ({ components }) => components.schemas.Observation;
const list = ({ paths }) => paths['/observations'].get;
const named = (operation, name) => operation.parameters.find((parameter) => parameter.name === name);
const without = (entries, name) => entries.filter((entry) => entry !== name && entry.name !== name);

/** Name, change, the one break that it is, which comparers find it, and `true` if the break is to undo the change. */
const PLANTS = [
  ['removed operation', (d) => delete d.paths['/observations'].get, 'GET /observations: it is gone', BOTH],
  [
    'removed parameter',
    (d) => (list(d).parameters = without(list(d).parameters, 'filter[type]')),
    'GET /observations: query parameter filter[type] is gone',
    [SMART],
  ],
  [
    'renamed parameter',
    (d) => (named(list(d), 'filter[type]').name = 'filter[kind]'),
    'GET /observations: query parameter filter[type] is gone',
    [SMART],
  ],
  [
    'removed field of a response',
    (d) => delete read(d).properties.impact,
    'responses with Observation: impact is gone',
    BOTH,
  ],
  [
    'removed field of a request',
    (d) => delete create(d).properties.impact,
    'requests with ObservationCreate: impact is gone',
    [OURS],
  ],
  [
    'field that a response may lack',
    (d) => (read(d).required = without(read(d).required, 'id')),
    'responses with Observation: id may be missing',
    BOTH,
  ],
  ['removed status', (d) => delete list(d).responses['200'], 'GET /observations: response 200 is gone', BOTH],
  [
    'removed header of a delivery',
    (d) => (d.webhooks.event.post.parameters = without(d.webhooks.event.post.parameters, 'X-Service-Event')),
    'POST /webhook event: response 200 header X-Service-Event is gone',
    [SMART],
  ],
  [
    'removed value that is accepted',
    (d) => d.components.schemas.ObservationSort.enum.pop(),
    'requests with ObservationSort: it has a value less',
    BOTH,
  ],
  [
    'removed value that is returned',
    (d) => d.components.schemas.ActorType.enum.pop(),
    'responses with ActorType: it has a value less',
    [OURS],
  ],
  [
    'new required parameter',
    (d) => list(d).parameters.unshift({ name: 'day', in: 'query', required: true, schema: {} }),
    'GET /observations: query parameter day is required',
    BOTH,
  ],
  [
    'parameter that becomes required',
    (d) => (named(list(d), 'filter[type]').required = true),
    'GET /observations: query parameter filter[type] is required',
    BOTH,
  ],
  [
    'new required field',
    (d) => {
      create(d).properties.day = { type: 'string' };
      create(d).required.push('day');
    },
    'requests with ObservationCreate: day is required',
    BOTH,
  ],
  [
    'field that becomes required',
    (d) => create(d).required.push('impact'),
    'requests with ObservationCreate: impact is required',
    BOTH,
  ],
  [
    'body where there was none',
    (d) => (list(d).requestBody = { required: true, content: {} }),
    'GET /observations: body is required',
    [OURS],
  ],
  [
    'body that becomes required',
    (d) => (d.paths['/api-keys/{id}/rotate'].post.requestBody.required = true),
    'POST /api-keys/{id}/rotate: body is required',
    [SMART],
  ],
  [
    'rule of a field that has the name of a keyword',
    (d) => (create(d).properties.type = { ...create(d).properties.type, maxLength: 5 }),
    'requests with ObservationCreate: type has a new or narrower rule',
    [SMART],
  ],
  [
    'changed type of a parameter',
    (d) => (named(list(d), 'filter[employee_id]').schema.type = 'integer'),
    'GET /observations: query parameter filter[employee_id] has another type',
    [OPTIC],
  ],
  [
    'changed type of a field of a request',
    (d) => (create(d).properties.impact.type = 'string'),
    'requests with ObservationCreate: impact has another type',
    BOTH,
  ],
  [
    'changed type of a field of a response',
    (d) => (read(d).properties.observation.type = ['string', 'null']),
    'responses with Observation: observation has another type',
    [OPTIC, OURS],
  ],
  [
    'changed type of the entries of a response',
    (d) => (read(d).properties.attribute_ids.items.type = 'integer'),
    'responses with Observation: attribute_ids[] has another type',
    [OURS],
  ],
  [
    'another schema in a response',
    (d) => (read(d).properties.attributes.items.$ref = '#/components/schemas/Employee'),
    'responses with Observation: attributes[] has another type',
    [OURS],
  ],
  [
    'another alternative in a response',
    (d) => (read(d).properties.employee.anyOf[0].$ref = '#/components/schemas/Attribute'),
    'responses with Observation: employee has another type',
    [OURS],
  ],
  [
    'null in a response',
    (d) => (d.components.schemas.ApiKey.properties.access_level.anyOf.push({ type: 'null' })),
    'responses with ApiKey: access_level has another type',
    [OURS],
  ],
  [
    'removed alternative of a response',
    (d) => d.components.schemas.Event.oneOf.shift(),
    'responses with Event: it has another type',
    [OURS],
  ],
  [
    'narrower bound of a field',
    (d) => (create(d).properties.observation.maxLength = 100),
    'requests with ObservationCreate: observation has a new or narrower rule',
    [SMART],
  ],
  [
    'new rule of a field',
    (d) => (create(d).properties.employee_id.pattern = '^a'),
    'requests with ObservationCreate: employee_id has a new or narrower rule',
    [SMART],
  ],
  [
    'new rule of the values of a map',
    (d) => (create(d).properties.metadata.additionalProperties.maxLength = 5),
    'requests with ObservationCreate: metadata{} has a new or narrower rule',
    [SMART],
  ],
  [
    'body that takes no other fields',
    (d) => delete create(d).additionalProperties,
    'requests with ObservationCreate: it has a new or narrower rule',
    [OURS],
    true,
  ],
  [
    'removed alternative of a request',
    (d) => (create(d).properties.impact = { anyOf: [create(d).properties.impact, { type: 'integer' }] }),
    'requests with ObservationCreate: impact has another type',
    [SMART],
    true,
  ],
  ['another address', (d) => (d.servers = [{ url: '/v2' }]), 'every operation: its address is gone', [OURS]],
  [
    'narrower bound of a parameter',
    (d) => (named(list(d), 'filter[employee_id]').schema.maxLength = 5),
    'GET /observations: query parameter filter[employee_id] has a new or narrower rule',
    [SMART],
  ],
  [
    'changed default of a parameter',
    (d) => Object.assign(list(d).parameters.find(({ $ref }) => $ref?.endsWith('/Limit')), { schema: { default: 5 } }),
    'GET /observations: query parameter limit has another default',
    [SMART],
  ],
  [
    'changed default in the text of a field',
    (d) => (create(d).properties.observation_date.description = 'Day. Default: yesterday.'),
    'requests with ObservationCreate: observation_date has another default',
    [OURS],
  ],
  [
    'authentication of a route that needed none',
    (d) => delete d.paths['/openapi.json'].get.security,
    'GET /openapi.json: it needs another authentication or scope',
    [SMART],
  ],
  [
    'another scheme of authentication',
    (d) => (d.components.securitySchemes.apiKey.type = 'oauth2'),
    'every operation: it needs another authentication or scope',
    [SMART],
  ],
  [
    'another scope',
    (d) => (list(d).description = list(d).description.replace('`observations:read`', '`observations:write`')),
    'GET /observations: it needs another authentication or scope',
    [OURS],
  ],
  [
    'another access level',
    (d) => (list(d).description = list(d).description.replace('Counts as', 'Test keys are refused. Counts as')),
    'GET /observations: it needs another authentication or scope',
    [OURS],
  ],
];

for (const [name, plant, text, by, isUndone] of PLANTS) {
  test(`found: ${name}`, async () => {
    const documents = [DOCUMENT, changed(plant)];
    const found = await breaks(...(isUndone ? documents.reverse() : documents));
    assert.deepEqual(found.map((entry) => [entry.text, [...entry.by]]), [[text, by]]);
  });
}

/** Changes that no client notices. */
const GROWTH = [
  ['operation', (d) => (d.paths['/observations'].delete = structuredClone(list(d)))],
  ['optional parameter', (d) => list(d).parameters.unshift({ name: 'day', in: 'query', schema: { type: 'string' } })],
  ['optional field of a request', (d) => (create(d).properties.day = { type: 'string', maxLength: 5 })],
  ['field that is optional from now on', (d) => create(d).required.pop()],
  [
    'optional object with a required field',
    (d) => (create(d).properties.day = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }),
  ],
  [
    'alternative to a schema',
    (d) => (read(d).properties.attributes.items = { anyOf: [read(d).properties.attributes.items, { type: 'integer' }] }),
  ],
  ['wider bound', (d) => (create(d).properties.observation.maxLength = 100_000)],
  ['rule that is gone', (d) => delete create(d).properties.observation.maxLength],
  ['null in a request', (d) => (create(d).properties.observation.type = ['string', 'null'])],
  ['accepted value', (d) => d.components.schemas.ObservationSort.enum.push('impact')],
  ['returned value', (d) => d.components.schemas.ActorType.enum.push('robot')],
  ['field of a response', (d) => (read(d).properties.day = { type: 'string' })],
  ['field that a response always has from now on', (d) => read(d).required.push('attributes')],
  ['narrower field of a response', (d) => (read(d).properties.observation.maxLength = 5)],
  ['status', (d) => (list(d).responses['418'] = { description: 'x' })],
  ['type of event', (d) => d.components.schemas.Event.oneOf.unshift({ $ref: '#/components/schemas/Employee' })],
  ['text', (d) => (read(d).description = read(d).properties.id.description = list(d).summary = 'x')],
  ['key that is accepted', (d) => list(d).security.push({ other: [] })],
];

for (const [name, grow] of GROWTH) {
  test(`no break: new ${name}`, async () => {
    assert.deepEqual(await breaks(DOCUMENT, changed(grow)), []);
  });
}

function changed(change) {
  const document = structuredClone(DOCUMENT);
  document.paths['/observations'].get.security ??= structuredClone(document.security);
  change(document);
  return document;
}

test('a break is one line with its remedy, unless it is listed with a reason', async () => {
  const found = await breaks(DOCUMENT, changed(({ components }) => components.schemas.ObservationSort.enum.pop()));
  const [text] = found.map((entry) => entry.text);
  const line =
    'docs/openapi.json: requests with ObservationSort: it has a value less (GET /observations). ' +
    'Keep the value, or list it in CHANGELOG.md [api-smart-diff, optic]';
  assert.deepEqual(problems(found, new Map()), [line]);
  assert.deepEqual(problems(found, new Map([[text, 'Rare.']])), []);
  assert.deepEqual(problems(found, new Map([['several operations: it has a value less', 'Rare.']])), []);
  const noReason = `CHANGELOG.md: \`${text}\` has no reason. Add it after a colon`;
  assert.deepEqual(problems(found, new Map([[text, '']])), [noReason]);
  assert.deepEqual(problems([], new Map([[text, 'Rare.']])), [`CHANGELOG.md: \`${text}\` is no break. Remove the entry`]);
});

test('intended breaks are those of the unreleased section', () => {
  const entries = '### Breaks of the API\n\n- `GET /a: it is gone`: nothing called it.\n- `GET /b: it is gone`\n';
  const listed = [['GET /a: it is gone', 'nothing called it.'], ['GET /b: it is gone', '']];
  const added = '### Added\n\n- `GET /c: it is gone`: no.\n\n';
  assert.deepEqual([...intended(`# Changelog\n\n## Unreleased\n\n${added}${entries}`)], listed);
  assert.deepEqual([...intended(`# Changelog\n\n## Unreleased\n\n${added}\n## 1.0.0\n\n${entries}`)], []);
});
