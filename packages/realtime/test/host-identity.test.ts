import { EXTERNAL_IDS } from '@questline/core/internal';
import type { HostIdentity } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { openClient, refusal } from './client.ts';
import { createTestApp } from './test-app.ts';

/** A host whose users are signed in by a cookie, until the map is cleared. */
function createHost() {
  const sessions = new Map<string | undefined, HostIdentity>([
    ['sid=alice', { externalId: 'alice' }],
    ['sid=reader', { externalId: 'reader', scopes: ['notebooks:read'] }],
    ['sid=talker', { externalId: 'talker', scopes: ['ai:chat'] }],
  ]);
  return {
    sessions,
    identity: {
      identify: async ({ headers }: { headers: { cookie?: unknown } }) => sessions.get(`${headers.cookie}`),
    },
  };
}

describe('realtime handshake with the session of the host', () => {
  it('accepts a user, and closes the socket after the sign-out in the host', async () => {
    const { sessions, identity } = createHost();
    const app = await createTestApp({ identity });
    const client = await openClient(app.url, [], {
      Cookie: 'sid=alice',
      Origin: app.url.replace('ws:', 'http:'),
    });
    await client.settled();
    const [link] = await app.store.collection(EXTERNAL_IDS).find({});
    const sessionId = await app.addSession({ id: link?.userId ?? '' } as never);
    client.subscribe(sessionId);
    await client.settled();
    app.publish(sessionId);
    expect(await client.next()).toMatchObject({ sessionId });
    sessions.clear();
    await app.clock.advance(2000);
    app.publish(sessionId);
    expect(await client.closed).toMatchObject({ code: 4401 });
  });

  it('rejects unknown users, restricted users, other sites and invalid Questline credentials', async () => {
    const { identity } = createHost();
    const app = await createTestApp({ identity });
    const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['', { Cookie: 'sid=unknown' }],
      ['', { Cookie: 'sid=reader' }],
      ['', { Cookie: 'sid=alice', Origin: 'https://evil.example' }],
      ['', { Cookie: 'sid=alice', 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
      ['', { Cookie: 'sid=alice', Authorization: 'Bearer svc_live_x' }],
      ['?token=nonsense', { Cookie: 'sid=alice' }],
      ['?token=a&token=b', { Cookie: 'sid=alice' }],
    ];
    for (const [query, headers] of wrong) {
      expect((await refusal(`${app.url}${query}`, [], headers)).status).toBe(401);
    }
    await (await openClient(app.url, [], { Cookie: 'sid=talker' })).settled();
  });

  it('answers 503 while the host does not answer', async () => {
    const app = await createTestApp({ identity: { identify: () => Promise.reject(new Error('away')) } });
    expect((await refusal(app.url, [], { Cookie: 'sid=alice' })).status).toBe(503);
    expect(app.incidents).toMatchObject([{ operation: 'realtime' }]);
  });
});
