import { MESSAGES, QUESTS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { withEngineCharges, withWriteAll } from '../../packages/core/test/whole-writes.ts';
import { type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { createTestFilesReader } from '../support/files-reader.ts';
import type { ModelCall } from '../support/model.ts';
import { fetchFrom, whileWorking } from '../support/use-chat.ts';

const FILE = 'a'.repeat(24);
const files = createTestFilesReader({
  find: (id) => (id === FILE ? { id, name: 'file', mimeType: 'image/png', isClean: true } : undefined),
  content: () => [{ type: 'image', mediaType: 'image/png', data: 'AA==' }],
});

async function setUp(options: ChatAppOptions) {
  const app = await createChatApp({ services: (services) => ({ ...services, files }), ...options });
  const post = async (body: object) => {
    const asking = fetchFrom(app)('/api/chat', {
      method: 'POST',
      body: JSON.stringify({ id: 'c', ...body }),
    });
    const response = await whileWorking(app, asking);
    const text = await whileWorking(app, response.text());
    return { status: response.status, text };
  };
  const readStored = async () => {
    const order = { field: 'createdAt', direction: 'asc' } as const;
    const messages = await app.services.store.collection(MESSAGES).find({}, { order });
    return messages.map(({ role, content, pageId, fileIds }) => ({ role, content, pageId, fileIds }));
  };
  return { app, post, readStored };
}

/** Lets messages be deleted only after `free`. */
function holdDeletions() {
  let free = (): void => undefined;
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const hold = (store: Store): Store => ({
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== MESSAGES.name) return records;
      return {
        ...records,
        async removeWhere(...given) {
          await freed;
          return records.removeWhere?.(...given) ?? 0;
        },
      };
    },
    transaction: (work, more) => store.transaction((inner) => work(hold(inner)), more),
  });
  return { hold, free: () => free() };
}

const question = { id: 'page-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

describe.each<[string, ChatAppOptions]>([
  ['in a transaction', {}],
  // An enrichment that follows needs a transaction.
  ['in one step', { store: withWriteAll, ledger: withEngineCharges, settings: { enrichment: false } }],
])('a turn that ends %s', (_title, options) => {
  it('stores its message with its files, and its answer', async () => {
    const { app, readStored } = await setUp(options);
    expect((await app.chat({ message: 'Look', fileIds: [FILE], wait: true })).body.status).toBe('done');
    expect(await readStored()).toEqual([
      { role: 'user', content: 'Look', pageId: undefined, fileIds: [FILE] },
      { role: 'assistant', content: 'Hello.', pageId: undefined, fileIds: undefined },
    ]);
  });

  it('stores the id that its message has in the page', async () => {
    const { post, readStored } = await setUp(options);
    expect((await post({ messages: [question], trigger: 'submit-message' })).status).toBe(200);
    expect(await readStored()).toMatchObject([{ content: 'Hi', pageId: 'page-1' }, { content: 'Hello.' }]);
  });

  it('stores its message without an answer when the model fails', async () => {
    const { post, readStored } = await setUp({
      ...options,
      onCall: (call) => call.fail(new Error('broken')),
    });
    await post({ messages: [question], trigger: 'submit-message' });
    expect((await readStored()).map(({ content }) => content)).toEqual(['Hi']);
  });

  it('replaces the message that is edited, with its answer', async () => {
    const { post, readStored } = await setUp(options);
    await post({ messages: [question], trigger: 'submit-message' });
    const edited = { ...question, parts: [{ type: 'text', text: 'Hi there' }] };
    await post({ messages: [edited], trigger: 'submit-message', messageId: 'page-1' });
    expect((await readStored()).map(({ content }) => content)).toEqual(['Hi there', 'Hello.']);
  });

  it('replaces the answer that is regenerated, unless it has no text', async () => {
    let say: (call: ModelCall) => void = sayAtOnce('First.');
    const { post, readStored } = await setUp({ ...options, onCall: (call) => say(call) });
    const contents = async () => (await readStored()).map(({ content }) => content);
    await post({ messages: [question], trigger: 'submit-message' });
    say = sayAtOnce('Second.');
    await post({ messages: [question], trigger: 'regenerate-message' });
    expect(await contents()).toEqual(['Hi', 'Second.']);
    say = (call) => call.fail(new Error('broken'));
    await post({ messages: [question], trigger: 'regenerate-message' });
    expect(await contents()).toEqual(['Hi', 'Second.']);
  });

  it('stores the combined answer of Quest Master, not the texts of its tasks', async () => {
    const tasks = ['a', 'b'].map((id) => ({ id, title: id, instructions: `Do ${id}.`, dependsOn: [] }));
    const { app, readStored } = await setUp({
      ...options,
      onCall(call) {
        const asked = JSON.stringify(call.request.messages);
        const isPlan = asked.includes('You are a planner');
        const isWhole = asked.includes('Use these results to write');
        sayAtOnce(isPlan ? JSON.stringify({ tasks }) : isWhole ? 'All of it.' : 'A part.')(call);
      },
    });
    const { body } = await app.chat({ message: 'Do both', enableQuestMaster: true, wait: true });
    expect([body.status, app.calls.length]).toEqual(['done', 4]);
    expect((await readStored()).map(({ content }) => content)).toEqual(['Do both', 'All of it.']);
  });

  it('ends only when the message that it replaces is deleted', async () => {
    const { hold, free } = holdDeletions();
    const { app, post, readStored } = await setUp({
      ...options,
      store: (store) => hold(options.store?.(store) ?? store),
    });
    await post({ messages: [question], trigger: 'submit-message' });
    const edited = { ...question, parts: [{ type: 'text', text: 'Hi there' }] };
    const editing = post({ messages: [edited], trigger: 'submit-message', messageId: 'page-1' });
    for (let count = 0; count < 5; count += 1) await app.settle();
    const quests = await app.services.store.collection(QUESTS).find({});
    expect(quests.map(({ status }) => status).sort()).toEqual(['done', 'running']);
    free();
    await editing;
    expect((await readStored()).map(({ content }) => content)).toEqual(['Hi there', 'Hello.']);
  });
});
