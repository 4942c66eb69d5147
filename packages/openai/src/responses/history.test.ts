import type { Responses, StoredResponse } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createResponse, type ResponseBody } from './contract.ts';
import type { InputItem, WholeItem } from './contract-items.ts';
import { loadHistory, resolveReferences } from './history.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [A, B, C] = [toId(10), toId(11), toId(12)] as const;
const MAX_CHARACTERS = 25 * 2 ** 20;

const said = (content: string): WholeItem => ({ type: 'message', role: 'user', content }) as WholeItem;

function stored(
  id: string,
  more: Partial<StoredResponse> = {},
  { request = {}, size = 0 }: { readonly request?: object; readonly size?: number } = {},
): StoredResponse {
  return {
    ...{ id, status: 'completed', earlier: [] },
    wire: JSON.stringify({ request: { conversation: null, ...request }, tools: [], size }),
    input: JSON.stringify([{ id: `msg_${id}_in0`, item: said(`in ${id}`) }]),
    output: { parts: [{ type: 'text', text: `out ${id}` }], finishReason: 'stop' },
    ...more,
  } as unknown as StoredResponse;
}

function openResponses(...list: readonly StoredResponse[]) {
  const asked: (readonly string[])[] = [];
  const find = (userId: string, ids: readonly string[]) =>
    userId === 'ada' ? ids.flatMap((id) => list.find((one) => one.id === id) ?? []) : [];
  const responses = {
    find: async (userId: string, id: string) => find(userId, [id])[0],
    async findAll(userId: string, ids: readonly string[]) {
      asked.push(ids);
      return find(userId, ids);
    },
  } as Partial<Responses> as Responses;
  return { responses, asked };
}

const load = (
  list: readonly StoredResponse[],
  body: object,
  ...more: readonly [userId?: string, conversation?: Parameters<typeof loadHistory>[3]]
) => {
  const [userId = 'ada', conversation] = more;
  return loadHistory(
    openResponses(...list).responses,
    userId,
    { input: 'Hi', ...body } as ResponseBody,
    conversation,
  );
};

const listTexts = (value: unknown) => JSON.stringify(value).match(/(?:in|out) [0-9a-f]+|new/g);

describe('history of a request', () => {
  it('is empty where it continues nothing', async () => {
    const own = [{ item: said('Hi') }];
    const expected = { before: [], own, earlier: [], size: JSON.stringify(own).length };
    expect(await load([], {})).toEqual(expected);
    expect(await load([], { input: [said('Hi')], previous_response_id: null })).toEqual(expected);
  });

  it('has the items of all earlier responses in their order, and their size', async () => {
    const first = stored(A);
    const second = stored(B, { earlier: [A] }, { size: 100 });
    const history = await load([second, first], { previous_response_id: `resp_${B}` });
    expect(listTexts(history.before)).toEqual([A, B].flatMap((id) => [`in ${id}`, `out ${id}`]));
    const sizes = [second.output.parts, history.own].map((part) => JSON.stringify(part).length);
    expect([history.earlier, history.size]).toEqual([[A, B], sizes.reduce((sum, size) => sum + size, 100)]);
  });

  it.each([
    ['an unknown response', stored(C), `resp_${A}`, 'ada'],
    ['a text that is no id', stored(A), A, 'ada'],
    ['a response of another user', stored(A), `resp_${A}`, 'grace'],
    ['a response that is not stored', stored(A, {}, { request: { store: false } }), `resp_${A}`, 'ada'],
  ])('cannot begin with %s', async (_name, response, id, userId) => {
    await expect(load([response], { previous_response_id: id }, userId)).rejects.toMatchObject({
      ...{ status: 400, message: `Previous response with id '${id}' not found.` },
      extra: { code: 'previous_response_not_found' },
      details: [{ path: 'previous_response_id' }],
    });
  });

  it.each<[string, StoredResponse]>([
    ['has not ended yet', stored(A, { status: 'queued' })],
    ['has not ended yet', stored(A, { status: 'in_progress' })],
    ['was not completed', stored(A, { status: 'failed' })],
    ['was cancelled', stored(A, { status: 'cancelled' })],
    ['continue that with conversation', stored(A, {}, { request: { conversation: { id: 'c' } } })],
    ['was deleted', stored(A, { earlier: [C] })],
    ['too long', stored(A, { earlier: Array.from({ length: 1000 }, (_, at) => toId(at + 100)) })],
    ['too long', stored(A, {}, { size: MAX_CHARACTERS })],
  ])('cannot go on where the response %s', async (words, response) => {
    await expect(load([response], { previous_response_id: `resp_${A}` })).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringContaining(words) },
      details: [{ path: 'previous_response_id' }],
    });
  });

  it('may have as many characters and responses as fit', async () => {
    const own = JSON.stringify([{ item: said('Hi') }]).length;
    const rest = MAX_CHARACTERS - own - JSON.stringify(stored(A).output.parts).length;
    const id = { previous_response_id: `resp_${A}` };
    expect((await load([stored(A, {}, { size: rest })], id)).size).toBe(MAX_CHARACTERS);
    await expect(load([stored(A, {}, { size: rest + 1 })], id)).rejects.toThrow('too long');
    const earlier = Array.from({ length: 999 }, (_, at) => toId(at + 100));
    await expect(load([stored(A, { earlier })], id)).rejects.toThrow('was deleted');
  });

  it('of a conversation comes from there, and each item is new', async () => {
    const given: [number, number][] = [];
    const conversation = {
      size: 50,
      async load(items: number, characters: number) {
        given.push([items, characters]);
        return [said('Before')];
      },
    };
    const input = [{ type: 'item_reference', id: `msg_${A}_in0` }, said('Hi')];
    const history = await load([stored(A)], { input, previous_response_id: 'x' }, 'ada', conversation);
    expect(history).toMatchObject({ before: [said('Before')], earlier: [] });
    expect(history.own).toEqual([{ item: said(`in ${A}`) }, { item: said('Hi') }]);
    const [[items, characters] = [0, 0]] = given;
    expect([items, history.size]).toEqual([2, characters + 50]);
  });
});

describe('references to items', () => {
  const refer = (...ids: string[]) => ids.map((id) => ({ type: 'item_reference' as const, id }));

  it('become items that keep their ids, of requests and of answers', async () => {
    const { responses, asked } = openResponses(stored(A), stored(B));
    const ids = [`msg_${A}_in0`, `msg_${B}_0`, `msg_${A}_in0`];
    const items = [said('new'), ...refer(...ids)];
    const found = await resolveReferences(responses, 'ada', items);
    expect(found.map(({ id }) => id)).toEqual([undefined, ...ids]);
    expect(listTexts(found.map(({ item }) => item))).toEqual(['new', `in ${A}`, `out ${B}`, `in ${A}`]);
    expect(asked).toEqual([[A, B]]);
  });

  it('need no type', async () => {
    const { responses } = openResponses(stored(A));
    const input = [{ id: `msg_${A}_in0` }, { id: `msg_${A}_in0`, role: 'user', content: 'new' }];
    const body = createResponse.input.body.parse({ model: 'm', input });
    const found = await resolveReferences(responses, 'ada', body.input as readonly InputItem[]);
    expect(listTexts(found.map(({ item }) => item))).toEqual([`in ${A}`, 'new']);
  });

  it('need no look at the responses where there are none', async () => {
    const { responses, asked } = openResponses();
    expect(await resolveReferences(responses, 'ada', [said('a')])).toEqual([{ item: said('a') }]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['no item', [stored(A)], `msg_${A}_in1`, 'ada'],
    ['an item of another user', [stored(A)], `msg_${A}_in0`, 'grace'],
    [
      'an item of a response that is not stored',
      [stored(A, {}, { request: { store: false } })],
      `msg_${A}_in0`,
      'ada',
    ],
    ['a long text', [stored(A)], 'x'.repeat(300), 'ada'],
  ])('are refused with 404 for %s', async (_name, list, id, userId) => {
    const { responses } = openResponses(...list);
    const message = `Item with id '${id.slice(0, 200)}' not found. Items of responses with store set to false are not stored.`;
    await expect(
      resolveReferences(responses, userId, [said('a'), ...refer(id)], 'items'),
    ).rejects.toMatchObject({
      ...{ status: 404, message },
      details: [{ path: 'items.1.id', message }],
    });
  });

  it('are refused for more than 200 responses', async () => {
    const { responses } = openResponses();
    const ids = Array.from({ length: 201 }, (_, at) => `msg_${toId(at + 100)}_in0`);
    await expect(resolveReferences(responses, 'ada', refer(...ids.slice(1)))).rejects.toThrow('not found');
    await expect(resolveReferences(responses, 'ada', refer(...ids))).rejects.toThrow(
      'input: expected references to at most 200 responses',
    );
  });
});
