import { FILES } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import type { Moderator } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createFileApp } from '../support/files.ts';

const text = (content: string) => Buffer.from(content);
const CLEAN = { isClean: true } as const;

/** An object store that lists its content. */
function visibleObjects() {
  const objects = createMemoryObjects();
  const keys = new Set<string>();
  return {
    keys,
    objects: {
      ...objects,
      put: async (key, ...rest) => {
        const info = await objects.put(key, ...rest);
        keys.add(key);
        return info;
      },
      remove: async (key, ...rest) => {
        await objects.remove(key, ...rest);
        keys.delete(key);
      },
    } satisfies typeof objects,
  };
}

describe('file upload', () => {
  it('is checked and then served at a link that expires', async () => {
    const { objects, keys } = visibleObjects();
    const app = await createFileApp({ objects });
    const { id, url } = await app.announce({ file_name: '../../etc/passwd' });
    expect(url).not.toContain('passwd');
    expect(await app.show(id)).toMatchObject({ moderation_status: 'pending', download_url: null });
    expect(await app.put(url, text('hello'))).toBe(204);
    await app.until(async () => (await app.record(id))?.status === 'clean');
    const file = await app.show(id);
    const answer = await app.follow(file.download_url ?? '');
    expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    await app.until(async () => keys.size === 1);
    expect([...keys].filter((key) => key.startsWith('uploads/'))).toEqual([]);
    await app.clock.advance(15 * 60_000);
    expect((await app.follow(file.download_url ?? '')).status).toBe(403);
    expect((await app.follow((await app.show(id)).download_url ?? '')).status).toBe(200);
    expect(await app.usage()).toBe(5);
  });

  it('is saved under the last part of its name, whatever path it contains', async () => {
    const app = await createFileApp({ moderator: null });
    const name = '../..\\C:/a "b" é.html';
    const file = await app.upload('hello', { file_name: name, mime_type: 'text/html' });
    expect(file.file_name).toBe(name);
    const answer = await app.follow(file.download_url ?? '');
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename=".._.._C:_a _b_ _.html"; filename*=UTF-8''.._.._C%3A_a%20%22b%22%20%C3%A9.html`,
    );
  });

  it('is rejected and not stored with another size or type, late, twice, or at another address', async () => {
    const { objects, keys } = visibleObjects();
    const app = await createFileApp({ objects });
    const { id, url } = await app.announce({});
    expect(await app.put(url, text('too long'))).toBe(413);
    expect(await app.put(url, text('no'))).toBe(400);
    expect(await app.put(url, text('<svg>'), 'image/svg+xml')).toBe(400);
    const other = await app.announce({});
    expect(await app.put(url.replace(id, other.id), text('hello'))).toBe(403);
    expect(await app.put(url.replace('size=5', 'size=9'), text('hello you'))).toBe(403);
    expect(keys.size).toBe(0);
    expect(await app.put(url, text('hello'))).toBe(204);
    expect(await app.put(url, text('evil!'))).toBe(403);
    await app.clock.advance(600_000);
    expect(await app.put(other.url, text('hello'))).toBe(403);
  });

  it('is rejected at the address of a deleted file', async () => {
    const app = await createFileApp();
    const { id, url } = await app.announce({});
    expect((await app.ask('DELETE', `/api/v1/files/${id}`)).status).toBe(204);
    expect(await app.put(url, text('hello'))).toBe(403);
    expect(await app.usage()).toBe(0);
  });

  it('is removed and frees its storage when it never arrives', async () => {
    const app = await createFileApp();
    const { id } = await app.announce({});
    expect(await app.usage()).toBe(5);
    await app.until(async () => (await app.record(id)) === undefined, true);
    expect(await app.usage()).toBe(0);
    expect(app.clock.now() - Date.UTC(2026, 10, 21, 12)).toBeGreaterThanOrEqual(70 * 60_000);
  });

  it('is found by the periodic check when its notification was lost in a crash', async () => {
    const app = await createFileApp();
    const { id } = await app.announce({});
    await app.services.objects.put(`uploads/${id}`, text('hello'), { contentType: 'text/plain' });
    await app.until(async () => (await app.record(id))?.status === 'clean', true);
  });

  it('counts once when it is announced many times in parallel', async () => {
    const app = await createFileApp({ settings: { files: { storageQuota: 12 } } });
    const asked = Array.from({ length: 6 }, () =>
      app.ask('POST', '/api/v1/files', {
        body: { file_name: 'a', mime_type: 'text/plain', file_size: 5 },
      }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 400, 400, 400, 400]);
    expect(await app.usage()).toBe(10);
  });
});

describe('clean file', () => {
  it.each([
    'text/javascript',
    'application/javascript; charset=utf-8',
    'text/css',
    'application/x-javascript',
  ])('is never served as script or style: %s', async (mime_type) => {
    const app = await createFileApp({ moderator: null });
    const { download_url } = await app.upload('hello', { mime_type });
    const served = await app.follow(download_url ?? '');
    expect(served.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(served.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('keeps its checked content when the upload address is written later', async () => {
    const { objects } = visibleObjects();
    let swap = async (): Promise<unknown> => undefined;
    const moderator: Moderator = {
      async check(file) {
        // During the check, the uploader overwrites the object at the upload address.
        await swap();
        const parts: Uint8Array[] = [];
        for await (const part of file.stream()) parts.push(part);
        return { isClean: Buffer.concat(parts).toString() === 'hello', reason: 'other bytes' };
      },
    };
    const app = await createFileApp({ objects, moderator });
    const { id, url } = await app.announce({});
    const write = (content: string) =>
      objects.put(`uploads/${id}`, text(content), { contentType: 'text/plain' });
    swap = () => write('evil!');
    expect(await app.put(url, text('hello'))).toBe(204);
    await app.until(async () => (await app.record(id))?.status === 'clean');
    await write('evil!');
    const served = await app.follow((await app.show(id)).download_url ?? '');
    expect(await served.text()).toBe('hello');
    expect((await app.services.library.read(app.user.id, id, 100))?.toString()).toBe('hello');
    // The late write is removed by maintenance.
    await app.until(async () => (await objects.head(`uploads/${id}`)) === undefined, true);
  });

  it('is checked by the moderator, and available at once without one', async () => {
    const refusing: Moderator = { check: async () => ({ isClean: false, reason: 'no' }) };
    const blocked = await createFileApp({ moderator: refusing });
    expect(await blocked.upload('hello')).toMatchObject({ moderation_status: 'blocked', download_url: null });
    expect(await blocked.usage()).toBe(0);
    expect(blocked.incidents.map(({ operation }) => operation)).toEqual(['files.blocked']);
    const open = await createFileApp({ moderator: null });
    const program = await open.upload('MZ', { mime_type: 'image/png', file_size: 2 });
    expect(program.moderation_status).toBe('clean');
  });

  it('is blocked after the moderator has failed three times', async () => {
    for (const [failures, status] of [
      [2, 'clean'],
      [3, 'blocked'],
    ] as const) {
      let calls = 0;
      const moderator: Moderator = {
        async check() {
          calls += 1;
          if (calls <= failures) throw new Error('the moderator fails');
          return CLEAN;
        },
      };
      const { objects, keys } = visibleObjects();
      const app = await createFileApp({ moderator, objects });
      expect((await app.upload('hello')).moderation_status).toBe(status);
      expect(calls).toBe(3);
      await app.until(async () => keys.size === (status === 'clean' ? 1 : 0));
    }
  });

  it('is not restored when it was deleted during the check', async () => {
    let checking = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      checking = resolve;
    });
    let go = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const moderator: Moderator = {
      async check() {
        checking();
        await gone;
        return CLEAN;
      },
    };
    const { objects, keys } = visibleObjects();
    const app = await createFileApp({ moderator, objects });
    const { id, url } = await app.announce({});
    await app.put(url, text('hello'));
    await begun;
    expect((await app.ask('DELETE', `/api/v1/files/${id}`)).status).toBe(204);
    go();
    await app.until(async () => keys.size === 0, true);
    expect(await app.usage()).toBe(0);
  });
});

describe('shared file', () => {
  async function shared(right: 'readerIds' | 'writerIds') {
    const app = await createFileApp();
    const { id } = await app.upload('hello');
    const friend = await app.addUser('friend@example.com');
    const stranger = await app.addUser('stranger@example.com');
    await app.services.store.collection(FILES).update(id, { [right]: [friend.id, 'someone'] });
    const token = await app.token(friend);
    const as = (method: string, body?: unknown, credential = token) =>
      app.ask(method, `/api/v1/files/${id}`, { credential, ...(body !== undefined && { body }) });
    return { app, id, as, stranger: await app.token(stranger) };
  }

  it('is read only by users it is shared with', async () => {
    const { as, stranger } = await shared('readerIds');
    expect((await as('GET')).status).toBe(200);
    expect((await as('PATCH', { file_name: 'b' })).status).toBe(404);
    for (const [method, body] of [['GET'], ['PATCH', { file_name: 'b' }], ['DELETE']] as const) {
      expect((await as(method, body, stranger)).status, method).toBe(404);
    }
  });

  it('is renamed by users it is shared with to write', async () => {
    const { as } = await shared('writerIds');
    const renamed = await (await as('PATCH', { file_name: 'b' })).json();
    expect(renamed).toMatchObject({ file_name: 'b' });
  });

  it.each(['readerIds', 'writerIds'] as const)(
    'loses its share, not its content, when one of its %s deletes it',
    async (right) => {
      const { app, id, as } = await shared(right);
      expect((await as('DELETE')).status).toBe(204);
      expect((await as('GET')).status).toBe(404);
      expect((await as('DELETE')).status).toBe(404);
      expect((await app.record(id))?.[right]).toEqual(['someone']);
      expect((await app.show(id)).moderation_status).toBe('clean');
    },
  );
});

describe('deleted file', () => {
  it('leaves nothing, and its links expire with it', async () => {
    const { objects, keys } = visibleObjects();
    const app = await createFileApp({ objects });
    const file = await app.upload('hello');
    expect((await app.ask('DELETE', `/api/v1/files/${file.id}`)).status).toBe(204);
    await app.until(async () => keys.size === 0, true);
    expect((await app.follow(file.download_url ?? '')).status).toBe(404);
    expect((await app.ask('GET', `/api/v1/files/${file.id}`)).status).toBe(404);
    expect(await app.usage()).toBe(0);
  });
});

it('lists files page by page, oldest first, and finds them by name', async () => {
  const app = await createFileApp();
  for (const name of ['b.txt', 'a.txt', 'A.md']) {
    await app.announce({ file_name: name });
    await app.clock.advance(1);
  }
  const names = async (query: string) => {
    const body = (await (await app.ask('GET', `/api/v1/files?${query}`)).json()) as {
      data: { file_name: string }[];
      next_cursor: string | null;
    };
    return { names: body.data.map(({ file_name }) => file_name), next: body.next_cursor };
  };
  const first = await names('limit=2');
  expect(first.names).toEqual(['b.txt', 'a.txt']);
  expect(await names(`limit=2&cursor=${first.next}`)).toEqual({ names: ['A.md'], next: null });
  expect((await names('search=a.')).names).toEqual(['a.txt', 'A.md']);
});
