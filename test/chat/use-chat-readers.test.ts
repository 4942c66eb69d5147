import { setImmediate as turn } from 'node:timers/promises';
import { QUESTS, SESSIONS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, createChatApp, silent } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import { readChunks, whileWorking } from '../support/use-chat.ts';

const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] });

const send = (app: ChatApp, more: object = {}): Promise<Response> =>
  app.ask('POST', '/api/chat', { body: { id: 'c', messages: [user('Hi')], ...more } });

/** A store whose quests are watched when they are inserted, and take long to be stopped. */
function watchQuests(store: Store, onInsert: (quest: object) => void): Store {
  return {
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== QUESTS.name) return records;
      return {
        ...records,
        insert(record, ...more) {
          onInsert(record);
          return records.insert(record, ...more);
        },
        async update(id, patch, ...more) {
          const isStop = (patch as { readonly status?: string }).status === 'stopped';
          for (let count = 0; isStop && count < 50; count += 1) await turn();
          return records.update(id, patch, ...more);
        },
      };
    },
    transaction: (work, more) => store.transaction((inner) => work(watchQuests(inner, onInsert)), more),
  };
}

describe('a reader of a running turn of useChat', () => {
  it('gets everything from the beginning when it resumes', async () => {
    const app = await createChatApp({
      onCall(call) {
        if (app.calls.length === 1) callTool(call, 'dice_roll', { sides: 6 }, 'I roll. ');
      },
      services: (services) => ({
        ...services,
        promptSources: [
          () => [
            {
              ...{ source: 'user', name: 'rivers', text: 'The Nile is long.' },
              citation: { file_id: 'a'.repeat(24), file_name: 'rivers.txt' },
            },
          ],
          ...services.promptSources,
        ],
      }),
    });
    const first = await whileWorking(app, send(app, { tools: ['dice_roll'] }));
    await app.clock.advance(1000);
    const again = await app.ask('GET', '/api/chat/c/stream');
    await app.clock.advance(1000);
    app.calls[1]?.say(...answerParts('Four.'));
    app.calls[1]?.end();
    const chunks = await readChunks(app, first);
    expect(chunks.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['data-payload', 'source-document', 'tool-output-available', 'text-delta']),
    );
    expect(await readChunks(app, again)).toEqual(chunks);
  });

  it('gets no more after the session is no longer shared with it', async () => {
    const app = await createChatApp({ onCall: silent });
    await whileWorking(app, send(app));
    const bob = await app.addUser('bob@example.com');
    const credential = await app.token(bob);
    const sessions = app.services.store.collection(SESSIONS);
    const [session] = await sessions.find({});
    await sessions.update(session?.id ?? '', { readerIds: [bob.id] });
    const reading = await app.ask('GET', `/api/chat/${session?.id}/stream`, { credential });
    const text = reading.text();
    app.calls[0]?.say({ type: 'text', text: 'Shown.' });
    await app.settle();
    await app.clock.advance(1000);
    await sessions.update(session?.id ?? '', { readerIds: [] });
    for (let count = 0; count < 40; count += 1) {
      await app.settle();
      await app.clock.advance(1000);
    }
    app.calls[0]?.say({ type: 'text', text: 'Hidden.' });
    app.calls[0]?.end();
    const shown = await whileWorking(app, text);
    expect(shown).toContain('Shown.');
    expect(shown).not.toMatch(/Hidden|DONE/);
  });

  it('is known from the acceptance of the turn', async () => {
    const inserted: object[] = [];
    const app = await createChatApp({
      store: (store) => watchQuests(store, (quest) => inserted.push(quest)),
    });
    await readChunks(app, await whileWorking(app, send(app)));
    expect(inserted[0]).toHaveProperty('followedAt');
  });

  it('has stopped the turn when its request to stop is answered', async () => {
    const app = await createChatApp({
      onCall: silent,
      store: (store) => watchQuests(store, () => undefined),
    });
    await whileWorking(app, send(app));
    await app.json('POST', '/api/chat/c/stop');
    const [quest] = await app.services.store.collection(QUESTS).find({});
    expect(quest?.status).toBe('stopped');
  });

  it('gets another answer also when its page still shows the last one', async () => {
    const app = await createChatApp();
    await readChunks(app, await whileWorking(app, send(app)));
    const shown = { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'Hello.' }] };
    const again = await whileWorking(
      app,
      send(app, { messages: [user('Hi'), shown], trigger: 'regenerate-message' }),
    );
    expect(again.status).toBe(200);
    await readChunks(app, again);
    expect(app.calls).toHaveLength(2);
  });
});
