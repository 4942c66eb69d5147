import { ApiError } from '@questline/core';
import { QUESTS, RESPONSES } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { BOTH, FUNCTIONS, QUESTION, readEvents } from './support-responses.ts';

const toQuestId = (id: string): string => id.slice('resp_'.length);

async function readRecord({ services }: OpenAIApp, id: string) {
  const quest = await services.store.collection(QUESTS).get(toQuestId(id));
  const output = JSON.parse(quest?.output ?? '{}') as {
    readonly parts?: readonly { readonly type: string }[];
  };
  return { quest, types: output.parts?.map(({ type }) => type) };
}

/** Shows what the store is asked for. */
function watchFinds(seen: unknown[]): (store: Store) => Store {
  return (store) => ({
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== RESPONSES.name && definition.name !== QUESTS.name) return records;
      return {
        ...records,
        find(filter, options) {
          seen.push(filter);
          return records.find(filter, options);
        },
      };
    },
  });
}

describe('the record of a response', () => {
  it('has the parts of the answer only, with complete calls', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const { id } = await app.client.responses.create({ ...QUESTION, tools: FUNCTIONS });
    const { quest, types } = await readRecord(app, id);
    expect(types).toEqual(['tool_use', 'tool_use']);
    expect(quest).toMatchObject({ stopReason: 'tool_use' });
  });

  it('keeps the order of reasoning and text', async () => {
    const app = await createOpenAIApp({
      onCall(call) {
        for (const round of ['a', 'b']) {
          call.say({ type: 'thinking_delta', text: `why ${round}` }, { type: 'thinking_delta', text: '?' });
          call.say({ type: 'text', text: `answer ${round}` }, { type: 'text', text: '.' });
        }
        call.say({ type: 'usage', usage: { input: 10, output: 3 } }, { type: 'finish', reason: 'stop' });
        call.end();
      },
    });
    const live = await readEvents(await app.send('POST', '/responses', { ...QUESTION, stream: true }));
    const [{ id = '' } = {}] = await app.services.store.collection(RESPONSES).find({});
    const { types } = await readRecord(app, `resp_${id}`);
    expect(types).toEqual(['thinking_delta', 'text', 'thinking_delta', 'text']);
    const late = await readEvents(await app.send('GET', `/responses/resp_${id}?stream=true`));
    expect(late).toEqual(live);
    expect(late.flatMap((event) => ('delta' in event ? [event.delta] : []))).toEqual([
      ...['why a', '?', 'answer a', '.'],
      ...['why b', '?', 'answer b', '.'],
    ]);
  });

  it('measures the phases of its work', async () => {
    let wait = async (): Promise<unknown> => undefined;
    const app = await createOpenAIApp({
      onCall: silent,
      started: false,
      store: (store) => ({
        ...store,
        collection(definition) {
          const records = store.collection(definition);
          if (definition.name !== RESPONSES.name) return records;
          return {
            ...records,
            async get(...given) {
              await wait();
              return records.get(...given);
            },
          };
        },
      }),
    });
    const { id } = await app.client.responses.create({ ...QUESTION, background: true });
    wait = async () => {
      wait = async () => undefined;
      await app.clock.advance(70);
    };
    await app.api.start();
    await untilCalled(app);
    await app.clock.advance(3000);
    app.calls[0]?.say({ type: 'text', text: 'One' }, { type: 'finish', reason: 'stop' });
    app.calls[0]?.end();
    for (let count = 0; count < 5; count += 1) await app.settle();
    const { quest } = await readRecord(app, id);
    expect(quest?.phases).toMatchObject({ load: 70, model: 3000 });
  });

  it('is read with at most 200 others of its owner at once', async () => {
    const seen: unknown[] = [];
    const app = await createOpenAIApp({ store: watchFinds(seen) });
    const first = await app.client.responses.create(QUESTION);
    const second = await app.client.responses.create({ ...QUESTION, previous_response_id: first.id });
    const earlier = Array.from({ length: 400 }, () => toQuestId(first.id));
    await app.services.store.collection(RESPONSES).update(toQuestId(second.id), { earlier });
    seen.length = 0;
    const items = await app.client.responses.inputItems.list(second.id, { limit: 100 });
    expect(items.data).toHaveLength(100);
    const read = { ownerId: app.user.id, id: { in: earlier.slice(0, 200) } };
    expect(seen).toEqual([read, read, read, read]);
  });
});

describe('a response that broke off', () => {
  it.each([
    ['with cached input', { input: 10, cachedInput: 30, cacheWrite: 5, output: 2 }, [45, 30, 5, 2]],
    ['without cached input', { input: 10, output: 2 }, [10, 0, 0, 2]],
  ])('has the usage that was charged, %s', async (_title, usage, [all, cached, written, output]) => {
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'text', text: 'It rains' }, { type: 'usage', usage });
        call.fail(new Error('broken'));
      },
    });
    await app.send('POST', '/responses', QUESTION);
    const [{ id = '' } = {}] = await app.services.store.collection(RESPONSES).find({});
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage).toEqual(usage);
    const response = await app.client.responses.retrieve(`resp_${id}`);
    expect(response).toMatchObject({
      status: 'failed',
      usage: {
        input_tokens: all,
        input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
        output_tokens: output,
      },
    });
  });

  it.each(BOTH)('fails with all that a provider of the host says about it (%s)', async (_title, question) => {
    const about = {
      code: 'invalid_request' as const,
      extra: { code: 'very_odd' },
      headers: { 'Retry-After': '7' },
      details: [{ path: 'input', message: 'odd' }],
    };
    const onCall = (call: ModelCall) => {
      call.say({ type: 'text', text: 'It' });
      call.fail(new ApiError(422, 'An odd input.', about));
    };
    const app = await createOpenAIApp({ onCall });
    const failed = await app.send('POST', '/responses', question);
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([400, '7']);
    expect(await readError(failed)).toMatchObject({
      message: 'An odd input.',
      code: 'very_odd',
      param: 'input',
    });
  });
});
