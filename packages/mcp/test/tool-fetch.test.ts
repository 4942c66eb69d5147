import { afterEach, describe, expect, it, vi } from 'vitest';
import { createToolFetch } from '../src/tool-fetch.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const URL_OF_SERVER = 'https://tools.example.com/mcp';
const authorized = (authorization: string) => ({ headers: { authorization } });

function answer(body: ConstructorParameters<typeof Response>[0], init?: ResponseInit): void {
  vi.stubGlobal('fetch', async () => new Response(body, init));
}

describe('the fetch for a tool server', () => {
  it('remembers the token of the request that an answer is for', async () => {
    const { fetch, getToken } = createToolFetch({});
    answer('no', { status: 401 });
    const [first, second, basic, none] = [
      await fetch(URL_OF_SERVER, authorized('Bearer first-token')),
      await fetch(URL_OF_SERVER, authorized('bearer second-token')),
      await fetch(URL_OF_SERVER, authorized('Basic dTpw')),
      await fetch(URL_OF_SERVER),
    ];
    expect([first, second, basic, none].map(getToken)).toEqual([
      'first-token',
      'second-token',
      undefined,
      undefined,
    ]);
    answer('yes');
    expect(getToken(await fetch(URL_OF_SERVER, authorized('Bearer first-token')))).toBe('first-token');
    expect(getToken(await fetch(URL_OF_SERVER, authorized('Token Bearer first-token')))).toBeUndefined();
  });

  it('passes the request on', async () => {
    const asked: unknown[] = [];
    vi.stubGlobal('fetch', async (...request: unknown[]) => {
      asked.push(request);
      return new Response('yes');
    });
    const init = { method: 'POST', body: '{}' };
    await createToolFetch({}).fetch(URL_OF_SERVER, init);
    expect(asked).toEqual([[URL_OF_SERVER, init]]);
  });

  it('removes the token and the headers of the credential from a refusal', async () => {
    const { fetch } = createToolFetch({
      'X-Key': 'Secret key-of-the-user',
      'X-Flag': 'on',
      'X-Eight': '12345678',
    });
    const text = 'key-of-the-user 12345678 token-of-the-user Bearer on 12345678 Secret key-of-the-user';
    for (const status of [400, 401, 503]) {
      answer(text, { status });
      const refused = await fetch(URL_OF_SERVER, authorized('Bearer token-of-the-user'));
      expect(await refused.text()).toBe('[secret] [secret] [secret] Bearer on [secret] [secret]');
    }
  });

  it('keeps what else a refusal says', async () => {
    answer('no', {
      status: 403,
      statusText: 'Not Today',
      headers: {
        'www-authenticate': 'Bearer scope="more"',
        'content-type': 'text/plain',
        'content-length': '2',
        'content-encoding': 'identity',
      },
    });
    const refused = await createToolFetch({}).fetch(URL_OF_SERVER);
    expect([refused.status, refused.statusText]).toEqual([403, 'Not Today']);
    expect([...refused.headers]).toEqual([
      ['content-type', 'text/plain'],
      ['www-authenticate', 'Bearer scope="more"'],
    ]);
  });

  it('leaves other answers as they are', async () => {
    const given = new Response('token-of-the-user', { status: 399 });
    vi.stubGlobal('fetch', async () => given);
    const got = await createToolFetch({}).fetch(URL_OF_SERVER, authorized('Bearer token-of-the-user'));
    expect(got).toBe(given);
    expect(await got.text()).toBe('token-of-the-user');
  });

  it('accepts a refusal without a body', async () => {
    answer(null, { status: 401 });
    expect(await (await createToolFetch({}).fetch(URL_OF_SERVER)).text()).toBe('');
  });

  it.each([
    [2 ** 18, 4],
    // One byte is missing after four pieces.
    [2 ** 18 - 1, 5],
  ])('stops to read a refusal at a mebibyte, with a first piece of %i bytes', async (first, pieces) => {
    let given = 0;
    let isStopped = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          given += 1;
          controller.enqueue(new Uint8Array(given === 1 ? first : 2 ** 18).fill(0x61));
        },
        cancel() {
          isStopped = true;
        },
      },
      { highWaterMark: 0 },
    );
    answer(body, { status: 500 });
    const refused = await createToolFetch({}).fetch(URL_OF_SERVER);
    expect(isStopped).toBe(true);
    expect(given).toBe(pieces);
    expect((await refused.text()).length).toBe(first + (pieces - 1) * 2 ** 18);
  });
});
