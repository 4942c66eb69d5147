import { getEventListeners } from 'node:events';
import { createTokens } from '@questline/client';
import { getMe } from '@questline/client/operations';
import { describe, expect, it, vi } from 'vitest';
import { createScriptedClient, json } from './support.ts';

const OFFLINE = new TypeError('fetch failed');
const ME = { id: 'x' };

describe('a caller who leaves', () => {
  it('before the request sends nothing and asks for no credential', async () => {
    const credential = vi.fn(() => 'key');
    const { client, sent } = createScriptedClient([json(ME)], { credential });
    const signal = AbortSignal.abort(new Error('left'));
    await expect(client.call(getMe, undefined, { signal })).rejects.toThrow('left');
    expect([sent.length, credential.mock.calls.length]).toEqual([0, 0]);
  });

  it('during the request rejects the call with the reason', async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const given: unknown[] = [];
    const { client, waited } = createScriptedClient([], {
      async fetch(_, init) {
        given.push(init.signal);
        leaving.abort(new Error('left'));
        throw OFFLINE;
      },
    });
    await expect(client.call(getMe, undefined, { signal })).rejects.toThrow('left');
    expect(given.map((one) => one === signal)).toEqual([true]);
    expect(waited).toEqual([]);
  });

  it('while a failure arrives rejects the call with the reason', async () => {
    const leaving = new AbortController();
    const { client } = createScriptedClient([], {
      async fetch() {
        leaving.abort(new Error('left'));
        return json({}, 400);
      },
    });
    await expect(client.call(getMe, undefined, { signal: leaving.signal })).rejects.toThrow('left');
  });

  it('while a credential is made rejects the call, and leaves no listener behind', async () => {
    const leaving = new AbortController();
    const { client } = createScriptedClient([json(ME)], {
      async credential() {
        await new Promise((resolve) => setImmediate(resolve));
        return 'key';
      },
    });
    await client.call(getMe, undefined, { signal: leaving.signal });
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    const call = client.call(getMe, undefined, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
  });
});

describe('a token that the server rejects', () => {
  it.each([undefined, 'old'])('is not sent again when its source returns %s', async (renewed) => {
    const { client, sent } = createScriptedClient([json({}, 401)], {
      credential: ({ rejected }) => (rejected === undefined ? 'old' : renewed),
    });
    await expect(client.call(getMe)).rejects.toMatchObject({ status: 401 });
    expect(sent).toHaveLength(1);
  });

  it('is not asked for again without a token', async () => {
    const credential = vi.fn(() => undefined);
    const { client } = createScriptedClient([json({}, 401)], { credential });
    await expect(client.call(getMe)).rejects.toMatchObject({ status: 401 });
    expect(credential).toHaveBeenCalledOnce();
  });

  it('does not count as a repetition', async () => {
    const { client, sent } = createScriptedClient([json({}, 401), OFFLINE, json(ME)], {
      credential: ({ rejected }) => (rejected === undefined ? 'old' : 'new'),
      retries: 1,
    });
    expect(await client.call(getMe)).toEqual(ME);
    expect(sent).toHaveLength(3);
  });

  it('leaves all repetitions to the request', async () => {
    const { client, sent } = createScriptedClient([json({}, 401), OFFLINE, OFFLINE, json(ME)], {
      credential: ({ rejected }) => (rejected === undefined ? 'old' : 'new'),
      retries: 1,
    });
    await expect(client.call(getMe)).rejects.toMatchObject({ code: 'network_error' });
    expect(sent).toHaveLength(3);
  });

  it('is renewed by a call without an input', async () => {
    const { client } = createScriptedClient([json({}, 401), json({ id: 'new' }), json(ME)], {
      async credential({ rejected, call }) {
        if (rejected === undefined) return 'old';
        return (await call({ ...getMe, open: true })).id;
      },
    });
    expect(await client.call(getMe)).toEqual(ME);
  });

  it.each([200, 401])('is stored before the call goes on, after %s of its renewal', async (status) => {
    const { client, sent } = createScriptedClient(
      [json({}, 401), json({ accessToken: 'b', refreshToken: 's' }, status)],
      {
        credential: createTokens({
          load: () => ({ accessToken: 'a', refreshToken: 'r' }),
          save: () => Promise.reject(new Error('storage is full')),
        }),
      },
    );
    await expect(client.call(getMe)).rejects.toThrow('storage is full');
    expect(sent).toHaveLength(2);
  });
});
