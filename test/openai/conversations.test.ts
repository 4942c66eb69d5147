import type { ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { reason, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { FUNCTIONS, QUESTION, readEvents } from './support-responses.ts';

/** Answers with the number of the call. */
function count(call: ModelCall): void {
  sayAtOnce(`answer ${call.request.messages.filter(({ role }) => role === 'user').length}`)(call);
}

function getTexts({ calls }: OpenAIApp, place: number): readonly string[] {
  return (calls[place]?.request.messages ?? []).flatMap(({ role, content }) =>
    content.flatMap((part) => (part.type === 'text' ? [`${role}: ${part.text}`] : [])),
  );
}

/** The items of a conversation, oldest first. */
async function list({ client }: OpenAIApp, id: string): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 7 })) all.push(item);
  return all;
}

const user = (content: string) => ({ role: 'user' as const, content });

describe('a conversation', () => {
  it('is created with items and metadata, read, changed and deleted', async () => {
    const app = await createOpenAIApp();
    const created = await app.client.conversations.create({
      items: [{ role: 'developer', content: 'Be brief.' }, user('Hello there')],
      metadata: { team: 'a' },
    });
    expect(created).toEqual({
      id: expect.stringMatching(/^conv_[0-9a-f]{24}$/),
      object: 'conversation',
      created_at: expect.any(Number),
      metadata: { team: 'a' },
    });
    expect(await app.client.conversations.retrieve(created.id)).toEqual(created);
    const changed = await app.client.conversations.update(created.id, { metadata: { team: 'b' } });
    expect(changed).toEqual({ ...created, metadata: { team: 'b' } });
    expect(await list(app, created.id)).toMatchObject([
      { type: 'message', role: 'developer', status: 'completed', content: [{ text: 'Be brief.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] },
    ]);
    expect(await app.client.conversations.delete(created.id)).toEqual({
      id: created.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/items'],
    ] as const) {
      expect((await app.send(method, `/conversations/${created.id}${path}`)).status).toBe(404);
    }
  });

  it('needs no body', async () => {
    const app = await createOpenAIApp();
    const made = await app.send('POST', '/conversations');
    expect([made.status, await made.json()]).toMatchObject([200, { object: 'conversation', metadata: {} }]);
  });

  it('is a session of its owner, which has its first message as its name', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const named = await app.client.conversations.create({ items: [user('About rivers')] });
    const empty = await app.client.conversations.create();
    await app.client.responses.create({ model: 'scripted', input: 'About lakes', conversation: empty.id });
    const { body } = await app.json('GET', '/api/v1/sessions');
    const sessions = (body.data as { id: string; name: string }[]).map(({ id, name }) => [id, name]);
    expect(sessions).toHaveLength(2);
    expect(sessions).toEqual(
      expect.arrayContaining([
        [named.id.slice(5), 'About rivers'],
        [empty.id.slice(5), 'About lakes'],
      ]),
    );
  });

  it('continues over ten turns, plain and streamed, with all of its items', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const { id } = await app.client.conversations.create({ items: [user('question 1')] });
    for (let turn = 2; turn <= 11; turn += 1) {
      const body = { model: 'scripted', input: `question ${turn}`, conversation: turn % 2 ? id : { id } };
      if (turn % 3 === 0) {
        const events = await readEvents(await app.send('POST', '/responses', { ...body, stream: true }));
        expect(events.at(-1)).toMatchObject({
          type: 'response.completed',
          response: { conversation: { id } },
        });
      } else {
        const answered = await app.client.responses.create(body);
        expect(answered).toMatchObject({ output_text: `answer ${turn}`, conversation: { id } });
      }
    }
    const expected = ['user: question 1'];
    for (let turn = 2; turn < 11; turn += 1)
      expected.push(`user: question ${turn}`, `assistant: answer ${turn}`);
    expect(getTexts(app, 9)).toEqual([...expected, 'user: question 11']);
    expect(await list(app, id)).toHaveLength(21);
    expect(await app.ledger.charges({ account: app.account }, 100)).toHaveLength(10);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('keeps items with every field, and reasoning before its item', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create();
    const first = await app.client.responses.create({ ...QUESTION, conversation: id });
    const given: ResponseInput = [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: 'data:image/png;base64,eA==', detail: 'low' }],
      },
      {
        id: 'msg_old',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Rain.', annotations: [] }],
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    ] as ResponseInput;
    const added = await app.client.conversations.items.create(id, { items: given });
    expect(added.data).toMatchObject([
      { content: [{ type: 'input_image', detail: 'low' }] },
      { phase: 'commentary', content: [{ type: 'output_text', text: 'Rain.', annotations: [] }] },
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
    ]);
    const items = await list(app, id);
    expect(items.slice(1, 1 + first.output.length)).toEqual(first.output);
    expect(items.slice(-3)).toEqual(added.data);
    await app.client.responses.create({ model: 'scripted', input: 'And now?', conversation: id });
    const [, second] = app.calls.map(({ request }) => request.messages);
    const said = second?.find(({ role }) => role === 'assistant');
    expect(said?.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });

  it('takes the results of tools without the calls', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const { id } = await app.client.conversations.create();
    await app.client.responses.create({ ...QUESTION, tools: FUNCTIONS, conversation: id });
    const open = await app.send('POST', '/responses', { ...QUESTION, tools: FUNCTIONS, conversation: id });
    expect([open.status, (await readError(open)).param]).toEqual([400, 'conversation']);
    const second = await app.client.responses.create({
      model: 'scripted',
      tools: FUNCTIONS,
      conversation: id,
      input: [
        { type: 'function_call_output', call_id: 't2', output: 'noon' },
        { type: 'function_call_output', call_id: 't1', output: 'rain' },
      ],
    });
    expect(second.output_text).toBe('Rain, at noon.');
  });

  it('lists its items page by page, in both orders', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const { id } = await app.client.conversations.create({ items: [user('a'), user('b'), user('c')] });
    await app.client.responses.create({ model: 'scripted', input: [user('d'), user('e')], conversation: id });
    await app.client.conversations.items.create(id, { items: [user('f')] });
    const all = (await list(app, id)) as { id: string; content: { text: string }[] }[];
    const texts = all.map(({ content }) => content[0]?.text);
    expect(texts).toEqual(['a', 'b', 'c', 'd', 'e', 'answer 5', 'f']);
    expect(new Set(all.map((item) => item.id)).size).toBe(7);
    for (const limit of [1, 2, 3, 7, 100]) {
      for (const order of ['asc', 'desc'] as const) {
        const paged: string[] = [];
        for await (const item of app.client.conversations.items.list(id, { limit, order }))
          paged.push((item as { id: string }).id);
        const ids = all.map((item) => item.id);
        expect(paged).toEqual(order === 'asc' ? ids : ids.toReversed());
      }
    }
    const page = await app.send(
      'GET',
      `/conversations/${id}/items?limit=2&include[]=reasoning.encrypted_content`,
    );
    expect(await page.json()).toMatchObject({
      object: 'list',
      has_more: true,
      first_id: all[6]?.id,
      last_id: all[5]?.id,
    });
    const wrong = await app.send('GET', `/conversations/${id}/items?after=msg_${'f'.repeat(24)}_0`);
    expect([wrong.status, (await readError(wrong)).param]).toEqual([400, 'after']);
    for (const item of all) {
      expect(await app.client.conversations.items.retrieve(item.id, { conversation_id: id })).toEqual(item);
    }
  });

  it('loses a deleted item, and the reasoning before it', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create({ items: [user('a'), user('b')] });
    const { output } = await app.client.responses.create({ ...QUESTION, conversation: id });
    const [a, b] = (await list(app, id)) as { id: string }[];
    const remaining = await app.client.conversations.items.delete(a?.id ?? '', { conversation_id: id });
    expect(remaining).toMatchObject({ id, object: 'conversation' });
    const said = output.at(-1)?.id ?? '';
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    await app.client.conversations.items.delete(said, { conversation_id: id });
    const left = (await list(app, id)) as { id: string; type: string }[];
    expect(left.map((item) => [item.id, item.type])).toEqual([
      [b?.id, 'message'],
      [expect.any(String), 'message'],
    ]);
    for (const gone of [a?.id, said]) {
      const path = `/conversations/${id}/items/${gone}`;
      expect((await app.send('DELETE', path)).status).toBe(404);
      expect((await app.send('GET', path)).status).toBe(404);
    }
    await app.client.responses.create({ model: 'scripted', input: 'c', conversation: id });
    expect(getTexts(app, 1)).toEqual(['user: b', 'user: Weather in Oslo?', 'user: c']);
  });

  it('loses every item that is deleted at the same time', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create({ items: ['a', 'b', 'c', 'd'].map(user) });
    const [kept, ...others] = (await list(app, id)) as { id: string }[];
    await Promise.all(
      others.map((item) => app.client.conversations.items.delete(item.id, { conversation_id: id })),
    );
    expect(await list(app, id)).toEqual([kept]);
  });

  it('lists values that only describe an item as their types allow', async () => {
    const app = await createOpenAIApp();
    const items = [
      {
        role: 'assistant',
        status: 'robot',
        phase: 5,
        content: [{ type: 'output_text', text: 'x', annotations: 5, logprobs: null }],
      },
      { type: 'reasoning', summary: 7, encrypted_content: 'x' },
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'x' }],
      },
    ];
    const made = await app.send('POST', '/conversations', { items });
    const { id } = (await made.json()) as { id: string };
    expect(await list(app, id)).toMatchObject([
      { status: 'completed', content: [{ text: 'x', annotations: [], logprobs: [] }] },
      { summary: [], encrypted_content: 'x' },
      { content: [{ detail: 'auto' }] },
    ]);
  });
});
