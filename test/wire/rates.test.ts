import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const ME = { method: 'GET', path: '/api/v1/me' };
const COMPLETIONS = { method: 'POST', path: '/api/ai/v1/completions' };

async function remaining(wire: Wire, key: string): Promise<{ minute: string; day: string }> {
  const { headers } = await wire.send({ ...COMPLETIONS, headers: { 'x-api-key': key } });
  return {
    minute: headers['x-ratelimit-remaining-minute'] ?? '',
    day: headers['x-ratelimit-remaining-day'] ?? '',
  };
}

describe('rate limits of a key', () => {
  it('let exactly 60 of 100 parallel requests pass', async () => {
    const wire = await createWire();
    const headers = { 'x-api-key': wire.app.key };
    const answers = await Promise.all(Array.from({ length: 100 }, () => wire.send({ ...ME, headers })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    const left = answers
      .filter(({ status }) => status === 200)
      .map((answer) => Number(answer.headers['x-ratelimit-remaining-minute']))
      .sort((a, b) => a - b);
    expect(left).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });

  it('do not count requests rejected before them: 405, 401, 403', async () => {
    const wire = await createWire({ key: { scopes: ['ai:chat'] } });
    const { key } = wire.app;
    const headers = { 'x-api-key': key };
    expect((await wire.send({ ...ME, method: 'POST', headers })).status).toBe(405);
    expect((await wire.send({ ...ME, headers })).status).toBe(403);
    expect(
      (await wire.send({ ...ME, headers: { ...headers, Authorization: 'Bearer svc_live_x' } })).status,
    ).toBe(401);
    expect((await wire.send({ method: 'GET', path: '/api/v1/nothing', headers })).status).toBe(0);
    expect(await remaining(wire, key)).toEqual({ minute: '59', day: '999' });
  });

  it('count requests rejected after them, including invalid JSON', async () => {
    const wire = await createWire();
    const { key } = wire.app;
    const headers = { 'x-api-key': key };
    await wire.send({ ...COMPLETIONS, headers, body: '{' });
    await wire.send({ ...COMPLETIONS, headers, body: '[]' });
    await wire.send({ method: 'GET', path: '/api/v1/models?limit=0', headers });
    expect(await remaining(wire, key)).toEqual({ minute: '56', day: '997' });
  });

  it('are in the headers of every answer after them: streams, errors and failures', async () => {
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'text', text: 'Hi' });
      call.end();
    });
    const broken = createScriptedProvider(
      () => Promise.reject(new Error('broken')),
      [
        {
          ...(provider.models()[0] as NonNullable<ReturnType<typeof provider.models>[0]>),
          id: 'broken',
          provider: 'broken',
        },
      ],
    );
    const wire = await createWire({ models: [provider, { ...broken, id: 'broken' }] });
    const headers = { 'x-api-key': wire.app.key };
    const messages = [{ role: 'user', content: 'Hi' }];
    const statuses: number[] = [];
    for (const model of ['scripted', 'broken', 'unknown', 7]) {
      const answer = await wire.send({ ...COMPLETIONS, headers, body: { model, messages } });
      statuses.push(answer.status);
      expect(answer.headers).toMatchObject({
        'x-ratelimit-limit-minute': '60',
        'x-ratelimit-remaining-minute': String(60 - statuses.length),
        'x-ratelimit-reset-minute': String(NOW / 1000 + 60),
        'x-ratelimit-limit-day': '1000',
        'x-ratelimit-remaining-day': String(1000 - statuses.length),
        'x-ratelimit-reset-day': String(NOW / 1000 + 86_400),
      });
    }
    expect(statuses).toEqual([200, 500, 400, 422]);
  });

  it('open their window with the first request, and a new one after its end', async () => {
    const wire = await createWire();
    const { key } = await wire.app.issue({ requestsPerMinute: 2 });
    const ask = () => wire.send({ ...ME, headers: { 'x-api-key': key } });
    await wire.app.clock.advance(7500);
    expect((await ask()).headers['x-ratelimit-reset-minute']).toBe(String(Math.ceil((NOW + 67_500) / 1000)));
    await wire.app.clock.advance(30_000);
    expect((await ask()).status).toBe(200);
    await wire.app.clock.advance(29_999);
    const refused = await ask();
    // One millisecond of the window remains; the header is at least one second.
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    await wire.app.clock.advance(1);
    const again = await ask();
    expect([again.status, again.headers['x-ratelimit-remaining-minute']]).toEqual([200, '1']);
  });

  it('do not count a request in the day when the minute rejects it, nor in the minute when the day rejects it', async () => {
    const wire = await createWire();
    const tight = (await wire.app.issue({ requestsPerMinute: 1 })).key;
    expect(await remaining(wire, tight)).toEqual({ minute: '0', day: '999' });
    expect(await remaining(wire, tight)).toEqual({ minute: '0', day: '999' });
    const short = (await wire.app.issue({ requestsPerDay: 1 })).key;
    expect(await remaining(wire, short)).toEqual({ minute: '59', day: '0' });
    expect(await remaining(wire, short)).toEqual({ minute: '59', day: '0' });
    const refused = await wire.send({ ...COMPLETIONS, headers: { 'x-api-key': short } });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '86400']);
  });

  it('let exempt operations pass after the day limit, so that polling continues', async () => {
    const wire = await createWire();
    const { key } = await wire.app.issue({ requestsPerDay: 1 });
    const headers = { 'x-api-key': key };
    expect(await remaining(wire, key)).toEqual({ minute: '59', day: '0' });
    for (const method of ['GET', 'HEAD']) {
      const answer = await wire.send({ ...ME, method, headers });
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'x-ratelimit-remaining-day': '0',
        'x-ratelimit-reset-day': String(NOW / 1000 + 86_400),
      });
    }
  });

  it('are separate for other keys and for the same user signed in', async () => {
    const wire = await createWire({ key: { requestsPerMinute: 1 } });
    const other = (await wire.app.issue({})).key;
    const ask = (credential: string) =>
      wire.send({ ...ME, headers: { Authorization: `Bearer ${credential}` } });
    expect((await ask(wire.app.key)).status).toBe(200);
    expect((await ask(wire.app.key)).status).toBe(429);
    expect((await ask(other)).status).toBe(200);
    expect((await ask(await wire.app.token())).status).toBe(200);
  });
});

describe('rate limit of a signed-in user', () => {
  it('lets exactly 100 completions an hour pass, independent of keys', async () => {
    const wire = await createWire();
    const headers = { Authorization: `Bearer ${await wire.app.token()}` };
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => wire.send({ ...COMPLETIONS, headers })),
    );
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(100);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ message: 'Rate limit exceeded: 100 requests per hour allowed' });
    expect(refused?.headers).toMatchObject({
      'retry-after': '3600',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW / 1000 + 3600),
    });
    expect(await remaining(wire, wire.app.key)).toEqual({ minute: '59', day: '999' });
  });
});
