import { CONVERSATION_ENTRIES, QUESTS } from '@questline/core/internal';
import type OpenAI from 'openai';
import { describe, expect, it, vi } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { stopServerProcess } from '../../support/server-process.ts';
import { setUp } from './set-up.ts';

const WITHIN = { timeout: 60_000, interval: 50 };
const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

async function getTexts(client: OpenAI, id: string): Promise<readonly unknown[]> {
  const texts: unknown[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 })) {
    const [part] = item.type === 'message' ? item.content : [];
    texts.push(part !== undefined && 'text' in part ? part.text : undefined);
  }
  return texts;
}

describe.each(ENGINES)('a conversation, on $name', (engine) => {
  it('has every turn before a crash, nothing of the one in the middle, and continues', async () => {
    const { services, account, start, closeAll } = await setUp(engine);
    const calm = await start('nowhere');
    const { id } = await calm.client.conversations.create({ items: [{ role: 'user', content: 'a' }] });
    const ask = ({ responses }: OpenAI, input: string, background = false) =>
      responses.create({ model: 'scripted', input, conversation: id, background });
    await ask(calm.client, 'b');
    const turns = ['a', 'b', 'One two three'];
    expect(await getTexts(calm.client, id)).toEqual(turns);
    await stopServerProcess(calm.server, 'SIGKILL');

    const doomed = await start('the middle');
    expect(await getTexts(doomed.client, id)).toEqual(turns);
    const broken = await ask(doomed.client, 'c', true);
    await vi.waitFor(async () => {
      const quest = await services.store.collection(QUESTS).get(broken.id.slice('resp_'.length));
      expect(quest?.text).toBe('One two three');
      expect(quest?.notes?.steps).toHaveLength(1);
    }, WITHIN);
    expect(await ask(doomed.client, 'd').catch((error: unknown) => error)).toMatchObject({
      status: 409,
      code: 'conversation_locked',
    });
    await stopServerProcess(doomed.server, 'SIGKILL');

    const next = await start('nowhere');
    await vi.waitFor(
      async () => expect((await next.client.responses.retrieve(broken.id)).status).toBe('failed'),
      WITHIN,
    );
    expect(await getTexts(next.client, id)).toEqual(turns);
    await ask(next.client, 'e');
    expect(await getTexts(next.client, id)).toEqual([...turns, 'e', 'One two three']);
    expect(await services.store.collection(CONVERSATION_ENTRIES).count({})).toBe(5);
    expect(await services.ledger.charges({ account }, 10)).toHaveLength(3);
    expect((await services.ledger.balance(account)).held).toBe(0);
    await stopServerProcess(next.server, 'SIGKILL');
    await closeAll();
  }, 120_000);
});

describe.each(ENGINES)('several processes of one conversation, on $name', (engine) => {
  it('give one response at a time, and add every item once', async () => {
    const { start, closeAll } = await setUp(engine);
    const [first, second] = await Promise.all([start('nowhere'), start('nowhere')]);
    const clients = [first.client, second.client];
    const { id } = await first.client.conversations.create();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        (clients[at % 2] as OpenAI).responses
          .create({ model: 'scripted', input: `q${at}`, conversation: id })
          .then(
            () => 200,
            (error: { status?: number }) => error.status,
          ),
      ),
    );
    const answered = results.filter((status) => status === 200).length;
    expect(answered).toBeGreaterThan(0);
    expect(results.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await getTexts(second.client, id)).toHaveLength(2 * answered);
    const additions = Array.from({ length: 10 }, (_, at) =>
      (clients[at % 2] as OpenAI).conversations.items.create(id, {
        items: [
          { role: 'user', content: `m${at}` },
          { role: 'user', content: `n${at}` },
        ],
      }),
    );
    await Promise.all(additions);
    const texts = await getTexts(first.client, id);
    expect(texts).toHaveLength(2 * answered + 20);
    const added = texts.slice(2 * answered);
    expect(added.map((text, at) => (at % 2 === 1 ? `n${String(added[at - 1]).slice(1)}` : text))).toEqual(
      added,
    );
    await Promise.all([first, second].map(({ server }) => stopServerProcess(server, 'SIGKILL')));
    await closeAll();
  }, 120_000);
});
