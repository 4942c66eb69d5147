import { QUESTS, RESPONSES, STORAGE_USAGE } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import type { Response, ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { reason, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { FUNCTIONS, QUESTION } from './support-responses.ts';

/** Answers with the number of the call. */
function count(call: ModelCall): void {
  sayAtOnce(`answer ${call.request.messages.filter(({ role }) => role === 'user').length}`)(call);
}

function getTexts({ calls }: OpenAIApp, place: number): readonly string[] {
  return (calls[place]?.request.messages ?? []).flatMap(({ role, content }) =>
    content.flatMap((part) => (part.type === 'text' ? [`${role}: ${part.text}`] : [])),
  );
}

describe('stored responses', () => {
  it('are read as they were answered', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const created = await app.client.responses.create({ ...QUESTION, metadata: { team: 'a' } });
    const { output_text: _text, ...stored } = await app.client.responses.retrieve(created.id);
    const { output_text: _other, ...answered } = created;
    expect(stored).toEqual(answered);
    expect(created).toMatchObject({ store: true, background: false });
  });

  it('continue over ten turns, with all earlier items', async () => {
    const app = await createOpenAIApp({ onCall: count });
    let previous: Response | undefined;
    for (let turn = 1; turn <= 10; turn += 1) {
      previous = await app.client.responses.create({
        model: 'scripted',
        input: `question ${turn}`,
        instructions: `rule ${turn}`,
        previous_response_id: previous?.id ?? null,
      });
      expect(previous.output_text).toBe(`answer ${turn}`);
    }
    const expected = ['system: rule 10'];
    for (let turn = 1; turn < 10; turn += 1)
      expected.push(`user: question ${turn}`, `assistant: answer ${turn}`);
    expect(getTexts(app, 9)).toEqual([...expected, 'user: question 10']);
    const charges = await app.ledger.charges({ account: app.account }, 100);
    expect(charges).toHaveLength(10);
    const reported = await app.client.responses.retrieve(previous?.id ?? '');
    expect(charges[0]?.usage).toEqual({
      input: reported.usage?.input_tokens,
      output: reported.usage?.output_tokens,
    });
  });

  it('are continued up to 1,000 times', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const first = await app.client.responses.create(QUESTION);
    const ask = (id: string) => app.send('POST', '/responses', { ...QUESTION, previous_response_id: id });
    const second = (await (await ask(first.id)).json()) as Response;
    const earlier = Array.from({ length: 999 }, () => first.id.slice(5));
    await app.services.store.collection(RESPONSES).update(second.id.slice(5), { earlier });
    const answered = await ask(second.id);
    expect(answered.status).toBe(200);
    expect(getTexts(app, 2)).toHaveLength(2001);
    const refused = await ask(((await answered.json()) as Response).id);
    expect([refused.status, await readError(refused)]).toMatchObject([
      400,
      { param: 'previous_response_id', message: expect.stringContaining('the conversation is too long') },
    ]);
    expect(app.calls).toHaveLength(3);
  });

  it('are continued up to 25 MiB of items', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const responses = app.services.store.collection(RESPONSES);
    const getWire = async (id: string) => {
      const { wire = '' } = (await responses.get(id.slice(5))) ?? {};
      return JSON.parse(wire) as { readonly size: number };
    };
    const first = await app.client.responses.create(QUESTION);
    const ask = (input: string) =>
      app.send('POST', '/responses', { ...QUESTION, input, previous_response_id: first.id });
    const second = (await (await ask('And now?')).json()) as Response;
    const wire = await getWire(first.id);
    const room = 25 * 2 ** 20 - (await getWire(second.id)).size;
    await responses.update(first.id.slice(5), { wire: JSON.stringify({ ...wire, size: wire.size + room }) });
    expect((await ask('And now?')).status).toBe(200);
    const refused = await ask('And now??');
    expect([refused.status, await readError(refused)]).toMatchObject([
      400,
      { param: 'previous_response_id', message: expect.stringContaining('the conversation is too long') },
    ]);
    expect(app.calls).toHaveLength(3);
  });
  it.each([{}, { 'Idempotency-Key': 'one' }])(
    'take no room if they cannot be stored completely (%j)',
    async (headers: Record<string, string>) => {
      let isAway = false;
      const withoutQuests = (store: Store): Store => ({
        ...store,
        transaction: (work, options) => store.transaction((inner) => work(withoutQuests(inner)), options),
        collection(definition) {
          const records = store.collection(definition);
          if (!isAway || definition.name !== QUESTS.name) return records;
          return { ...records, insert: () => Promise.reject(new Error('away')) };
        },
      });
      const app = await createOpenAIApp({ store: withoutQuests });
      const { store } = app.services;
      isAway = true;
      expect((await app.send('POST', '/responses', QUESTION, headers)).status).toBe(500);
      expect(await store.collection(RESPONSES).find({})).toEqual([]);
      expect(await store.collection(STORAGE_USAGE).find({})).toEqual([]);
      isAway = false;
      expect((await app.send('POST', '/responses', QUESTION, headers)).status).toBe(200);
      expect(await store.collection(RESPONSES).count({})).toBe(1);
    },
  );

  it('branch from one response', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const { id } = await app.client.responses.create(QUESTION);
    const ask = (input: string) =>
      app.client.responses.create({ model: 'scripted', input, previous_response_id: id });
    await ask('left');
    await ask('right');
    expect(getTexts(app, 2)).toEqual(['user: Weather in Oslo?', 'assistant: answer 1', 'user: right']);
  });

  it('are continued by a response that is not stored', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const { id } = await app.client.responses.create(QUESTION);
    const more = await app.client.responses.create({
      model: 'scripted',
      input: 'And now?',
      previous_response_id: id,
      store: false,
    });
    expect(more).toMatchObject({ output_text: 'answer 2', store: false, previous_response_id: id });
  });

  it('take the results of tools without the calls', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const first = await app.client.responses.create({ ...QUESTION, tools: FUNCTIONS });
    const second = await app.client.responses.create({
      model: 'scripted',
      tools: FUNCTIONS,
      previous_response_id: first.id,
      input: [
        { type: 'function_call_output', call_id: 't2', output: 'noon' },
        { type: 'function_call_output', call_id: 't1', output: 'rain' },
      ],
    });
    expect(second.output_text).toBe('Rain, at noon.');
  });

  it('keep reasoning verbatim and before its item, over previous_response_id and over references', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const first = await app.client.responses.create(QUESTION);
    const ask = (input: ResponseInput, id?: string) =>
      app.client.responses.create({ model: 'scripted', input, previous_response_id: id ?? null });
    const question = { role: 'user' as const, content: 'Weather in Oslo?' };
    const next = { role: 'user' as const, content: 'And now?' };
    const references = first.output.map(({ id = '' }) => ({ type: 'item_reference' as const, id }));
    await ask([next], first.id);
    await ask([question, ...references, next]);
    await ask([question, ...(first.output as ResponseInput), next]);
    const [, byId, byReference, byValue] = app.calls.map(({ request }) => request.messages);
    const said = byValue?.find(({ role }) => role === 'assistant');
    expect(said?.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(byId?.find(({ role }) => role === 'assistant')).toEqual(said);
    expect(byReference).toEqual(byId);
  });

  it('list their items in pages, in both orders', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const first = await app.client.responses.create({
      model: 'scripted',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'One?' }] },
      ],
    });
    const { id } = await app.client.responses.create({
      model: 'scripted',
      input: 'Two?',
      previous_response_id: first.id,
    });
    const all = await app.client.responses.inputItems.list(id, { order: 'asc' });
    expect(all.data).toMatchObject([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { type: 'message', role: 'user', status: 'completed' },
      { id: first.output[0]?.id, type: 'message', role: 'assistant' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two?' }] },
    ]);
    const ids = all.data.map((item) => item.id);
    expect(new Set(ids).size).toBe(4);
    const paged: (string | null | undefined)[] = [];
    for await (const item of app.client.responses.inputItems.list(id, { limit: 1 })) paged.push(item.id);
    expect(paged).toEqual(ids.toReversed());
    const [, second] = ids;
    const rest = await app.client.responses.inputItems.list(id, {
      order: 'asc',
      after: second ?? '',
      limit: 1,
    });
    expect(rest).toMatchObject({ has_more: true });
    expect(rest.data.map((item) => item.id)).toEqual([ids[2]]);
    const wrong = await app.send('GET', `/responses/${id}/input_items?after=none`);
    expect([wrong.status, (await readError(wrong)).param]).toEqual([400, 'after']);
  });

  it('are gone after their deletion, with every record, and cannot be continued', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const first = await app.client.responses.create(QUESTION);
    const second = await app.client.responses.create({ ...QUESTION, previous_response_id: first.id });
    const deleted = await app.send('DELETE', `/responses/${first.id}`);
    expect(await deleted.json()).toEqual({ id: first.id, object: 'response', deleted: true });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['DELETE', ''],
      ['POST', '/cancel'],
    ] as const) {
      expect((await app.send(method, `/responses/${first.id}${path}`)).status).toBe(404);
    }
    const ask = (id: string) =>
      app.client.responses.create({ ...QUESTION, previous_response_id: id }).catch((error: unknown) => error);
    expect(await ask(first.id)).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    expect(await ask(second.id)).toMatchObject({
      status: 400,
      param: 'previous_response_id',
      message: expect.stringContaining('an earlier response of it was deleted'),
    });
  });

  it('of another user are unknown', async () => {
    const app = await createOpenAIApp({ onCall: count });
    const response = await app.client.responses.create(QUESTION);
    const stranger = await app.addUser('eve@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: ['ai:chat'] });
    const unknown = `resp_${'f'.repeat(24)}`;
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?stream=true'],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const ask = async (id: string) => {
        const answer = await app.send(method, `/responses/${id}${path}`, undefined, {
          Authorization: `Bearer ${key}`,
        });
        const { message, ...error } = await readError(answer);
        return { status: answer.status, error, message: String(message).replace(id, 'ID') };
      };
      const foreign = await ask(response.id);
      expect(foreign).toMatchObject({ status: 404, error: { type: 'invalid_request_error' } });
      expect(foreign).toEqual(await ask(unknown));
    }
    const item = response.output[0]?.id ?? '';
    for (const body of [
      { ...QUESTION, previous_response_id: response.id },
      { model: 'scripted', input: [{ type: 'item_reference', id: item }] },
    ]) {
      const refused = await app.send('POST', '/responses', body, { Authorization: `Bearer ${key}` });
      expect(refused.status).toBe('input' in body && typeof body.input === 'string' ? 400 : 404);
    }
    expect(app.calls).toHaveLength(1);
    expect(await app.client.responses.retrieve(response.id)).toMatchObject({ status: 'completed' });
  });

  it('are not kept when they fail before any output', async () => {
    const app = await createOpenAIApp({ credits: 0 });
    const headers = { 'Idempotency-Key': 'a' };
    for (const stream of [false, true]) {
      const refused = await app.send('POST', '/responses', { ...QUESTION, stream }, headers);
      expect([refused.status, (await readError(refused)).code]).toEqual([429, 'insufficient_quota']);
      headers['Idempotency-Key'] = 'b';
    }
    await app.ledger.grant({ account: app.account, amount: 1_000_000_000, key: 'more', reason: 'more' });
    const answered = await app.send('POST', '/responses', { ...QUESTION, stream: true }, headers);
    expect(answered.status).toBe(200);
    expect(await answered.text()).toContain('response.completed');
  });
});
