import type { Operation } from '@questline/core';
import { getUserRateClass } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import { askFor } from './samples.ts';

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);
const PAID = OPERATIONS.filter(({ paid }) => paid === true);
const ENDS_OR_ANNOUNCES = /^cancel|^stopUiChat$|Upload$/;

/** Detects operations that call a provider, by scopes and rate class. */
function isAboutModels({ id, method, scopes, rate }: Operation): boolean {
  if (method === 'GET' || ENDS_OR_ANNOUNCES.test(id)) return false;
  const classes: readonly string[] = ['ai-tools', 'completions', 'application-ai', 'application-upload'];
  return (
    classes.includes(rate.user) ||
    scopes.some((scope) => scope.startsWith('ai:') || scope === 'datalake:query')
  );
}

describe('rate limits', () => {
  it('apply to access tokens on every operation that accepts them', () => {
    const open = OPERATIONS.filter((one) => one.auth !== 'none' && getUserRateClass(one) === undefined);
    expect(open.map(({ id }) => id)).toEqual([]);
  });

  it('count read and write operations of a signed-in user separately', async () => {
    const rateLimits = { reads: { limit: 2, per: 'minute' }, work: { limit: 1, per: 'minute' } } as const;
    const wire = await createWire({ settings: { rateLimits } });
    const headers = { Authorization: `Bearer ${await wire.app.token()}` };
    const read = () => wire.send({ method: 'GET', path: '/api/v1/me', headers });
    const work = () =>
      wire.send({ method: 'POST', path: '/api/v1/sessions', headers, body: { name: 'One' } });
    expect([(await read()).status, (await read()).status, (await read()).status]).toEqual([200, 200, 429]);
    expect([(await work()).status, (await work()).status]).toEqual([200, 429]);
  });

  it('of paid requests are declared by every operation that uses a model or a tool', () => {
    const missing = OPERATIONS.filter((one) => isAboutModels(one) && one.paid !== true);
    expect(missing.map(({ id }) => id)).toEqual([]);
    // Embeddings of a data lake have another scope.
    expect(PAID.map(({ id }) => id)).toContain('addDataLakeFile');
  });
});

describe.each(PAID.map((operation): [string, Operation] => [operation.id, operation]))(
  'rejects %s with credits off',
  (_, operation) => {
    it('is rejected when the paid requests of the day are used up', async () => {
      const wire = await createWire({ settings: { admin: { enforceCredits: false }, paidCallsPerDay: 1 } });
      const { app } = wire;
      const headers = { Authorization: `Bearer ${await app.token()}` };
      await app.services.paidCalls.take(app.user.id);
      const refused = await wire.send({ ...askFor(operation), headers });
      expect(refused.status).toBe(429);
      expect(JSON.stringify(refused.body)).toContain('1 paid request per day allowed');
      expect(refused.headers['retry-after']).toBe('86400');
    });
  },
);

describe('paid requests', () => {
  const INFER = { method: 'POST', path: '/api/infer', body: { prompt: 'Hi' } };

  it('are unlimited when credits are enforced or the setting is null', async () => {
    for (const settings of [
      { paidCallsPerDay: 1 },
      { paidCallsPerDay: null, admin: { enforceCredits: false } },
    ]) {
      const wire = await createWire({ settings });
      const headers = { Authorization: `Bearer ${await wire.app.token()}` };
      const statuses = [];
      for (let call = 0; call < 3; call += 1) statuses.push((await wire.send({ ...INFER, headers })).status);
      expect(statuses).not.toContain(429);
    }
  });

  it('are 1,000 a day by default', async () => {
    const { services, user } = await createTestApp({ settings: { admin: { enforceCredits: false } } });
    const takes = Array.from({ length: 1010 }, async () => services.paidCalls.take(user.id));
    const answers = await Promise.allSettled(takes);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1000);
  });
});
