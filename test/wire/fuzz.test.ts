import type { Operation } from '@questline/core';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anything, getArbitrary, nastyText } from '../support/arbitrary.ts';
import { createVideoStudio, done } from '../support/generations.ts';
import { createSoundStudio, createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';
import { type Asked, createWire, type Wire } from '../support/wire.ts';

/** Generated requests per operation. The default is small; set it to 5000 for a complete run. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

/** Only ends what hangs: a busy machine needs 150 ms for a request. */
const TIME_LIMIT_MS = 30_000 + RUNS * 300;

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => [operation.id, operation] as const);

/** A service with records, and their IDs. */
async function createTarget(): Promise<{ wire: Wire; ids: readonly string[] }> {
  const provider = createScriptedProvider((call) => {
    call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
    call.end();
  });
  const videos = createVideoStudio({ onJob: (job) => done(job) }, { onJob: (job) => done(job) });
  const wire = await createWire({
    models: [provider, createStudio(), createSoundStudio({}, 'sounds'), videos],
    web: {
      search: async (query) => [{ title: query, url: 'https://found.example', snippet: query }],
      fetchPage: async (url, offset) => ({ url, title: null, text: url, offset, nextOffset: null }),
      weather: async (_place, units) => ({
        description: 'clear',
        temperature: 1,
        feelsLike: 1,
        humidity: 1,
        windSpeed: 1,
        units,
      }),
    },
    credits: 1e9,
    key: {
      scopes: [
        'ai:chat',
        'ai:generate',
        'me:read',
        'notebooks:read',
        'notebooks:write',
        'files:read',
        'files:write',
        'projects:read',
        'projects:write',
        'agents:read',
        'agents:write',
      ],
      requestsPerMinute: 1e9,
      requestsPerDay: 1e9,
    },
    settings: {
      rateLimits: Object.fromEntries(
        Object.keys((await createTestApp()).services.limits).map((name) => [
          name,
          { limit: 1e9, per: 'hour' },
        ]),
      ),
    },
  });
  const { app } = wire;
  await app.api.start();
  const credential = await app.token();
  const ask = async (path: string, body: unknown): Promise<string> => {
    const answer = await app.ask('POST', path, { credential, body });
    return ((await answer.json()) as { id: string }).id;
  };
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    const sessionId = await ask('/api/v1/sessions', { name: 'mine' });
    if (index === 0) {
      ids.push(await ask('/api/v1/video-generations', { model: 'director', prompt: 'mine' }));
      ids.push(await ask('/api/v1/music-generations', { model: 'composer', prompt: 'mine' }));
    }
    ids.push(await ask('/api/v1/projects', { name: `mine ${index}`, description: 'mine' }));
    ids.push(await ask('/api/v1/artifacts', { type: 'code', title: 'mine', content: '1' }));
    ids.push(await ask('/api/v1/agents', { name: 'mine' }));
    ids.push(sessionId, await ask('/api/chat', { message: 'Hello', model: 'scripted', sessionId }));
  }
  return { wire, ids };
}

const headerText = fc.string({
  unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

/** A complete request from the contract of the operation; about half of them are valid. */
function requestTo(operation: Operation, ids: readonly string[], credential: string): Arbitrary<Asked> {
  const { method, path, input } = operation;
  const known = ['scripted', 'painter', 'reader-sounds', 'sounds', 'director', 'composer', ...ids];
  const oneId = fc.constantFrom(...ids);
  const words = fc.oneof(nastyText, fc.constantFrom(...known));
  const usual: Readonly<Record<string, Arbitrary<unknown>>> = {
    // A random list of parts is rarely a valid conversation: a tool result needs its call.
    content: fc.oneof(
      words,
      fc.array(fc.record({ type: fc.constant('text'), text: words }), { maxLength: 3 }),
    ),
    ...(path.includes('-generations')
      ? {
          model: fc.constantFrom('painter', 'director', 'composer'),
          mode: fc.constant(undefined),
          duration_seconds: fc.constant(8),
          resolution: fc.constantFrom('720p', '1080p'),
        }
      : { model: fc.constantFrom('scripted', 'painter', 'reader-sounds') }),
    modelId: fc.constant('band-sounds'),
    provider: fc.constant('sounds'),
    sessionId: oneId,
    session_id: oneId,
    fileIds: fc.constant([]),
    organizationId: fc.constant(undefined),
    knowledgeIds: fc.constant([]),
    artifactIds: fc.constant([]),
    agentIds: fc.constant([]),
    agentId: oneId,
    session_ids: fc.array(oneId, { maxLength: 3 }),
    file_ids: fc.constant([]),
    project_id: fc.constant(undefined),
    dataLakeId: fc.constant(undefined),
    cursor: fc.constant(undefined),
  };
  const generated = (schema: z.ZodType): Arbitrary<unknown> => {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
    return fc.oneof(
      { weight: 2, arbitrary: getArbitrary(json, { known, usual, wrongOneIn: 0 }) },
      { weight: 2, arbitrary: getArbitrary(json, { known, usual, wrongOneIn: 30 }) },
      { weight: 1, arbitrary: getArbitrary(json, { known, usual, wrongOneIn: 5 }) },
    );
  };
  const segment = fc.oneof(
    { weight: 4, arbitrary: oneId },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }) },
  );
  const filled = fc
    .array(segment, { minLength: 4, maxLength: 4 })
    .map((values) =>
      path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent((values.pop() ?? 'x').toWellFormed())),
    );
  const query =
    input.query === undefined
      ? fc.constant('')
      : fc
          .tuple(
            generated(input.query),
            fc.oneof(
              { weight: 3, arbitrary: fc.constant('') },
              { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
            ),
          )
          .map(([values, more]) => `?${queryText(values)}${more.replaceAll('#', '')}`);
  const json = input.body === undefined ? anything : generated(input.body);
  const body =
    method === 'GET'
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: 15, arbitrary: json.map((value) => JSON.stringify(value) ?? '') },
          { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
          { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
        );
  const headers = fc.record(
    {
      'X-Request-ID': headerText,
      'Content-Type': fc.oneof(
        { weight: 15, arbitrary: fc.constant('application/json') },
        { weight: 1, arbitrary: headerText },
      ),
      'Idempotency-Key': fc.oneof({ weight: 4, arbitrary: fc.uuid() }, { weight: 1, arbitrary: headerText }),
      Host: headerText,
      Accept: headerText,
      'X-Forwarded-Proto': headerText,
    },
    { requiredKeys: [] },
  );
  return fc.tuple(filled, query, body, headers).map(([address, more, content, sent]) => ({
    method,
    path: `${address}${more}`,
    headers: { ...sent, ...(operation.auth !== 'none' && { Authorization: `Bearer ${credential}` }) },
    ...(content !== undefined && { body: content }),
  }));
}

function queryText(values: unknown): string {
  const encoded = (value: unknown): string =>
    encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed());
  if (typeof values !== 'object' || values === null) return encoded(values);
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
}

describe(`${RUNS} generated requests`, () => {
  it.each(OPERATIONS)(
    'are answered by %s according to its description, and never with 5xx',
    { timeout: TIME_LIMIT_MS + 30_000 },
    async (_, operation) => {
      const { wire, ids } = await createTarget();
      const credential = operation.auth === 'token' ? await wire.app.token() : wire.app.key;
      const statuses: Record<number, number> = {};
      await fc.assert(
        fc.asyncProperty(requestTo(operation, ids, credential), async (asked) => {
          const reported = wire.app.incidents.length;
          const { status } = await wire.sendAndWait(asked);
          statuses[status] = (statuses[status] ?? 0) + 1;
          // Some operations declare 5xx answers with their own schema, such as a failed tool.
          const isAnnounced = operation.refusals?.some(
            (own) => own.status === status && own.schema !== undefined,
          );
          if (isAnnounced !== true) expect(status).toBeLessThan(500);
          expect(wire.app.incidents.slice(reported)).toEqual([]);
        }),
        {
          numRuns: RUNS,
          interruptAfterTimeLimit: TIME_LIMIT_MS,
          markInterruptAsFailure: true,
        },
      );
      if (RUNS > 300) process.stdout.write(`${operation.id}: ${JSON.stringify(statuses)}\n`);
      await wire.app.api.close();
    },
  );
});
