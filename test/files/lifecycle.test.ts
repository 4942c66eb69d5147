import { FILES, type Moderator } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createFileWorld } from '../support/files.ts';

const text = (content: string) => Buffer.from(content);
const CLEAN = { isClean: true } as const;

/** A store that says what it holds. */
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

describe('an upload', () => {
  it('is checked, and then handed out under a link that ends', async () => {
    const { objects, keys } = visibleObjects();
    const world = await createFileWorld({ objects });
    const { id, url } = await world.announce({ file_name: '../../etc/passwd' });
    expect(url).not.toContain('passwd');
    expect(await world.show(id)).toMatchObject({ moderation_status: 'pending', download_url: null });
    expect(await world.put(url, text('hello'))).toBe(204);
    await world.until(async () => (await world.record(id))?.status === 'clean');
    const file = await world.show(id);
    const answer = await world.follow(file.download_url);
    expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    await world.until(async () => keys.size === 1);
    expect([...keys].filter((key) => key.startsWith('uploads/'))).toEqual([]);
    await world.clock.advance(15 * 60_000);
    expect((await world.follow(file.download_url)).status).toBe(403);
    expect((await world.follow((await world.show(id)).download_url)).status).toBe(200);
    expect(await world.usage()).toBe(5);
  });

  it('is saved under its name alone, whatever path that claims to be', async () => {
    const world = await createFileWorld({ moderator: null });
    const name = '../..\\C:/a "b" é.html';
    const file = await world.upload('hello', { file_name: name, mime_type: 'text/html' });
    expect(file.file_name).toBe(name);
    const answer = await world.follow(file.download_url);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename=".._.._C:_a _b_ _.html"; filename*=UTF-8''.._.._C%3A_a%20%22b%22%20%C3%A9.html`,
    );
  });

  it('of another size or type, after the end, twice, or elsewhere is refused, and nothing is there', async () => {
    const { objects, keys } = visibleObjects();
    const world = await createFileWorld({ objects });
    const { id, url } = await world.announce({});
    expect(await world.put(url, text('too long'))).toBe(413);
    expect(await world.put(url, text('no'))).toBe(400);
    expect(await world.put(url, text('<svg>'), 'image/svg+xml')).toBe(400);
    const other = await world.announce({});
    expect(await world.put(url.replace(id, other.id), text('hello'))).toBe(403);
    expect(await world.put(url.replace('size=5', 'size=9'), text('hello you'))).toBe(403);
    expect(keys.size).toBe(0);
    expect(await world.put(url, text('hello'))).toBe(204);
    expect(await world.put(url, text('evil!'))).toBe(403);
    await world.clock.advance(600_000);
    expect(await world.put(other.url, text('hello'))).toBe(403);
  });

  it('to an address of a file that was deleted is refused', async () => {
    const world = await createFileWorld();
    const { id, url } = await world.announce({});
    expect((await world.ask('DELETE', `/api/v1/files/${id}`)).status).toBe(204);
    expect(await world.put(url, text('hello'))).toBe(403);
    expect(await world.usage()).toBe(0);
  });

  it('that never comes is forgotten, and its room given back', async () => {
    const world = await createFileWorld();
    const { id } = await world.announce({});
    expect(await world.usage()).toBe(5);
    await world.until(async () => (await world.record(id)) === undefined, true);
    expect(await world.usage()).toBe(0);
    expect(world.clock.now() - Date.UTC(2026, 10, 21, 12)).toBeGreaterThanOrEqual(70 * 60_000);
  });

  it('whose arrival was lost in a crash is found by the watch', async () => {
    const world = await createFileWorld();
    const { id } = await world.announce({});
    await world.services.objects.put(`uploads/${id}`, text('hello'), { contentType: 'text/plain' });
    await world.until(async () => (await world.record(id))?.status === 'clean', true);
  });

  it('counts once, however many are announced at once', async () => {
    const world = await createFileWorld({ settings: { files: { storageQuota: 12 } } });
    const asked = Array.from({ length: 6 }, () =>
      world.ask('POST', '/api/v1/files', {
        body: { file_name: 'a', mime_type: 'text/plain', file_size: 5 },
      }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 400, 400, 400, 400]);
    expect(await world.usage()).toBe(10);
  });
});

describe('what is clean', () => {
  it('stays what was checked, whatever is written to the address later', async () => {
    const { objects } = visibleObjects();
    let swap = async (): Promise<unknown> => undefined;
    const moderator: Moderator = {
      async check(file) {
        // While it is being checked, the uploader writes something else to the address the store knows.
        await swap();
        const parts: Uint8Array[] = [];
        for await (const part of file.stream()) parts.push(part);
        return { isClean: Buffer.concat(parts).toString() === 'hello', reason: 'other bytes' };
      },
    };
    const world = await createFileWorld({ objects, moderator });
    const { id, url } = await world.announce({});
    const write = (content: string) =>
      objects.put(`uploads/${id}`, text(content), { contentType: 'text/plain' });
    swap = () => write('evil!');
    expect(await world.put(url, text('hello'))).toBe(204);
    await world.until(async () => (await world.record(id))?.status === 'clean');
    await write('evil!');
    const served = await world.follow((await world.show(id)).download_url);
    expect(await served.text()).toBe('hello');
    expect((await world.services.library.read(world.user.id, id, 100))?.toString()).toBe('hello');
    // What was written too late is cleared away in the end.
    await world.until(async () => (await objects.head(`uploads/${id}`)) === undefined, true);
  });

  it('is asked of the moderator, and straight away without one', async () => {
    const refusing: Moderator = { check: async () => ({ isClean: false, reason: 'no' }) };
    const blocked = await createFileWorld({ moderator: refusing });
    expect(await blocked.upload('hello')).toMatchObject({ moderation_status: 'blocked', download_url: null });
    expect(await blocked.usage()).toBe(0);
    expect(blocked.incidents.map(({ operation }) => operation)).toEqual(['files.blocked']);
    const open = await createFileWorld({ moderator: null });
    const program = await open.upload('MZ', { mime_type: 'image/png', file_size: 2 });
    expect(program.moderation_status).toBe('clean');
  });

  it('cannot be told by a moderator that fails: blocked the third time', async () => {
    for (const [failures, status] of [
      [2, 'clean'],
      [3, 'blocked'],
    ] as const) {
      let calls = 0;
      const moderator: Moderator = {
        async check() {
          calls += 1;
          if (calls <= failures) throw new Error('the moderator is not well');
          return CLEAN;
        },
      };
      const { objects, keys } = visibleObjects();
      const world = await createFileWorld({ moderator, objects });
      expect((await world.upload('hello')).moderation_status).toBe(status);
      expect(calls).toBe(3);
      await world.until(async () => keys.size === (status === 'clean' ? 1 : 0));
    }
  });

  it('is not what was deleted while it was being checked', async () => {
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
    const world = await createFileWorld({ moderator, objects });
    const { id, url } = await world.announce({});
    await world.put(url, text('hello'));
    await begun;
    expect((await world.ask('DELETE', `/api/v1/files/${id}`)).status).toBe(204);
    go();
    await world.until(async () => keys.size === 0, true);
    expect(await world.usage()).toBe(0);
  });
});

describe('a file that is shared', () => {
  async function shared(right: 'readerIds' | 'writerIds') {
    const world = await createFileWorld();
    const { id } = await world.upload('hello');
    const friend = await world.addUser('friend@example.com');
    const stranger = await world.addUser('stranger@example.com');
    await world.services.store.collection(FILES).update(id, { [right]: [friend.id, 'somebody'] });
    const token = await world.token(friend);
    const as = (method: string, body?: unknown, credential = token) =>
      world.ask(method, `/api/v1/files/${id}`, { credential, ...(body !== undefined && { body }) });
    return { world, id, as, stranger: await world.token(stranger) };
  }

  it('is read by those it is shared with, and by nobody else', async () => {
    const { as, stranger } = await shared('readerIds');
    expect((await as('GET')).status).toBe(200);
    expect((await as('PATCH', { file_name: 'b' })).status).toBe(404);
    for (const [method, body] of [['GET'], ['PATCH', { file_name: 'b' }], ['DELETE']] as const) {
      expect((await as(method, body, stranger)).status, method).toBe(404);
    }
  });

  it('is renamed by those it is shared with to write', async () => {
    const { as } = await shared('writerIds');
    const renamed = await (await as('PATCH', { file_name: 'b' })).json();
    expect(renamed).toMatchObject({ file_name: 'b' });
  });

  it.each(['readerIds', 'writerIds'] as const)('is left, not deleted, by one of its %s', async (right) => {
    const { world, id, as } = await shared(right);
    expect((await as('DELETE')).status).toBe(204);
    expect((await as('GET')).status).toBe(404);
    expect((await as('DELETE')).status).toBe(404);
    expect((await world.record(id))?.[right]).toEqual(['somebody']);
    expect((await world.show(id)).moderation_status).toBe('clean');
  });
});

describe('a deleted file', () => {
  it('leaves nothing, and its links end with it', async () => {
    const { objects, keys } = visibleObjects();
    const world = await createFileWorld({ objects });
    const file = await world.upload('hello');
    expect((await world.ask('DELETE', `/api/v1/files/${file.id}`)).status).toBe(204);
    await world.until(async () => keys.size === 0, true);
    expect((await world.follow(file.download_url)).status).toBe(404);
    expect((await world.ask('GET', `/api/v1/files/${file.id}`)).status).toBe(404);
    expect(await world.usage()).toBe(0);
  });
});

it('lists go page by page, oldest first, and find by name', async () => {
  const world = await createFileWorld();
  for (const name of ['b.txt', 'a.txt', 'A.md']) {
    await world.announce({ file_name: name });
    await world.clock.advance(1);
  }
  const names = async (query: string) => {
    const body = (await (await world.ask('GET', `/api/v1/files?${query}`)).json()) as {
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
