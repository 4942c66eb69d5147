import { inspect } from 'node:util';
import type { Operation } from '@questline/core';
import { StorageUnavailable } from '@questline/core/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getArbitrary } from '../support/arbitrary.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';
import { type Asked, createWire, type Wire } from '../support/wire.ts';
import { getPath } from './samples.ts';

const PROMPT = 'MARKED-PROMPT-7f3a';
const DATABASE = 'MARKED-DATABASE-91cc';
const PROVIDER = 'MARKED-PROVIDER-22de';
const JWT_SECRET = 'MARKED-SECRET-of-tokens-0123456789abcdef';

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => [operation.id, operation] as const);

/** The injected failure: none, a store that fails after `callsBeforeFailure` calls, or a provider. */
interface Trouble {
  readonly failure?: Error;
  readonly callsBeforeFailure?: number;
  readonly onCall?: (call: ModelCall) => void | Promise<void>;
}

const away = new StorageUnavailable(`postgres://root:${DATABASE}@db:5432 is away`);
const broken = new Error(`duplicate key in ${DATABASE}`);

const TROUBLES: readonly Trouble[] = [
  {},
  ...[0, 1, 2, 3, 4, 6, 8].flatMap((callsBeforeFailure) => [
    { failure: away, callsBeforeFailure },
    { failure: broken, callsBeforeFailure },
  ]),
  { onCall: () => Promise.reject(new Error(`${PROVIDER} refused`)) },
  { onCall: (call) => call.fail(new Error(`${PROVIDER} broke off`)) },
  {
    onCall(call) {
      call.say({ type: 'text', text: 'Hi' });
      call.fail(new Error(`${PROVIDER} broke off`));
    },
  },
];

const endCall = (call: ModelCall): void => call.end();

interface Target {
  readonly wire: Wire;
  readonly secrets: readonly string[];
  /** From now on, this fails. */
  inject(trouble: Trouble): void;
}

async function createTarget(): Promise<Target> {
  const store = createBreakableStore();
  let trouble: Trouble = {};
  const wire = await createWire({
    store: store.wrap,
    models: [createScriptedProvider((call) => (trouble.onCall ?? endCall)(call))],
    key: {
      scopes: ['ai:chat', 'me:read', 'notebooks:write', 'notebooks:read'],
      ...{ requestsPerMinute: 10_000, requestsPerDay: 100_000 },
    },
    settings: { jwtSecret: JWT_SECRET, admin: { DefaultAPIModel: 'scripted' } },
  });
  await wire.app.api.start();
  return {
    wire,
    secrets: [wire.app.key, await wire.app.token(), JWT_SECRET],
    inject(next) {
      trouble = next;
      store.failure = next.failure;
      store.callsBeforeFailure = next.callsBeforeFailure ?? 0;
    },
  };
}

/** Valid and invalid bodies in which every text is the marked prompt. */
function getBodies({ input }: Operation): unknown[] {
  if (input.body === undefined) return [undefined];
  const schema = z.toJSONSchema(input.body, { io: 'input', unrepresentable: 'any' }) as Record<
    string,
    unknown
  >;
  const usual = {
    model: fc.constant('scripted'),
    message: fc.constant(PROMPT),
    content: fc.constant(PROMPT),
    sessionId: fc.constant(undefined),
    organizationId: fc.constant(undefined),
    fileIds: fc.constant([]),
    wait: fc.constant(false),
  };
  return [0, 6].flatMap((wrongOneIn) =>
    fc
      .sample(getArbitrary(schema, { known: [PROMPT], usual, wrongOneIn }), { numRuns: 6, seed: 7 })
      .map(withKnownModel),
  );
}

/** Requests with these bodies, and requests with invalid credentials. */
function getRequests(
  operation: Operation,
  bodies: readonly unknown[],
  credentials: readonly string[],
): Asked[] {
  const [key = '', token = ''] = credentials;
  const { method } = operation;
  const path = getPath(operation);
  const right: Record<string, string> =
    operation.auth === 'none'
      ? {}
      : operation.auth === 'token'
        ? { Authorization: `Bearer ${token}` }
        : { 'x-api-key': key };
  const wrong = [
    { Authorization: `Bearer ${token}x` },
    { Authorization: `Bearer ${key}x` },
    { Authorization: `Bearer ${token}`, 'x-api-key': `${key}x` },
    { 'x-api-key': token },
  ];
  const marked = method === 'GET' ? undefined : `{"message":"${PROMPT}", "prompt": "${PROMPT}`;
  return [
    ...bodies.map((body) => ({ method, path, headers: right, ...(body !== undefined && { body }) })),
    ...wrong.map((headers) => ({ method, path, headers, ...(marked !== undefined && { body: marked }) })),
    { method, path: `${path}?token=${token}&key=${key}&search=${PROMPT}`, headers: right, body: marked },
  ].map(({ body, ...asked }) => (body === undefined ? asked : { ...asked, body }));
}

/** The error names an unknown model, as specified, so the prompt must not be the model. */
function withKnownModel(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'model' in body ? { ...body, model: 'scripted' } : body;
}

/** `identify` returns the token of the request, the only answer that may contain one. */
function withoutOwnToken(operation: Operation, text: string): string {
  return operation.id === 'identify' ? text.replace(/"accessToken":"[^"]+"/, '') : text;
}

describe('secrets in responses', () => {
  it.each(OPERATIONS)('are in no answer and no incident of %s, whatever fails', async (_, operation) => {
    const bodies = getBodies(operation);
    let hasIncidents = false;
    // A GET changes nothing, so one app meets all troubles.
    const shared = operation.method === 'GET' ? await createTarget() : undefined;
    for (const trouble of TROUBLES) {
      const { wire, secrets, inject } = shared ?? (await createTarget());
      // Ends caches and the windows of rate limits.
      await wire.app.clock.advance(shared === undefined ? 0 : 60_000);
      inject(trouble);
      const leaks: string[] = [];
      for (const asked of getRequests(operation, bodies, secrets)) {
        const answer = await wire.sendAndWait(asked);
        const reported = `${withoutOwnToken(operation, answer.text)}${JSON.stringify(answer.headers)}`;
        const forbidden = [...secrets, DATABASE, PROVIDER, ...(answer.status >= 400 ? [PROMPT] : [])];
        // An expectation for each answer would cost as much as the answer.
        if (forbidden.some((secret) => reported.includes(secret))) leaks.push(reported);
      }
      if (shared === undefined) await wire.app.api.close();
      expect(leaks).toEqual([]);
      hasIncidents ||= wire.app.incidents.length > 0;
      const reported = inspect(wire.app.incidents, {
        depth: 20,
        showHidden: true,
        maxStringLength: null,
      });
      for (const secret of [...secrets, PROMPT]) expect(reported).not.toContain(secret);
    }
    await shared?.wire.app.api.close();
    // The test proves nothing unless requests failed.
    if (operation.auth !== 'none') expect(hasIncidents).toBe(true);
  });
});
