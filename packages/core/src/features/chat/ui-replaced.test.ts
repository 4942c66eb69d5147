import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { MESSAGES, type MessageRecord } from '../sessions/records.ts';
import { findReplaced, getPageId } from './ui-replaced.ts';

/** Turns of a question and an answer. The page named the questions of even turns. */
async function setUp(turns: number) {
  const store = createMemoryStore();
  const messages = store.collection(MESSAGES);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const role of ['user', 'assistant'] as const) {
      const at = 2 * turn + (role === 'user' ? 0 : 1);
      const about = {
        sessionId: 's',
        ownerId: 'ada',
        role,
        content: role,
        questId: `q${turn}`,
        createdAt: at,
      };
      const pageId = role === 'user' && turn % 2 === 0 ? { pageId: `page${turn}` } : {};
      await messages.insert({ id: `m${String(at).padStart(4, '0')}`, ...about, ...pageId });
    }
  }
  const other = {
    id: 'z',
    sessionId: 'other',
    ownerId: 'ada',
    role: 'user',
    content: 'x',
    createdAt: 9999,
  } as const;
  await messages.insert(other);
  const limits: unknown[] = [];
  const counting = {
    ...messages,
    find(...given: Parameters<typeof messages.find>) {
      limits.push(given[1]?.limit);
      return messages.find(...given);
    },
  };
  const find = (body: object, last: object = {}) =>
    findReplaced(counting, 's', {
      ...{
        trigger: 'submit-message',
        messages: { role: 'user', id: undefined, previousId: undefined, ...last },
      },
      ...body,
    } as never);
  return { find, limits };
}

const position = (at: number) => ({ id: `m${String(at).padStart(4, '0')}`, createdAt: at });
const range = (from: number, to: number) => ({ from: position(from), to: position(to) });

describe('an edit', () => {
  it.each([
    ['page0', 0, 'page0'],
    ['q1.question', 2, 'q1.question'],
    ['m0002', 2, 'q1.question'],
    ['page2', 4, 'page2'],
  ])('replaces the message %s and all that follow', async (messageId, from, pageId) => {
    const { find } = await setUp(3);
    expect(await find({ messageId })).toStrictEqual({ replaces: range(from, 5), pageId });
  });

  it('is of a message of the user', async () => {
    const { find } = await setUp(3);
    for (const messageId of ['m0003', 'm0001']) {
      await expect(find({ messageId })).rejects.toMatchObject({
        status: 422,
        details: [{ path: 'messageId' }],
      });
    }
    // The newest message with the name of a turn is its answer.
    await expect(find({ messageId: 'q1' })).rejects.toMatchObject({
      details: [{ message: 'must be a message of the user' }],
    });
  });

  it('of an unknown message is refused', async () => {
    const { find } = await setUp(3);
    const refused = find({ messageId: 'x' }, { id: 'y' });
    await expect(refused).rejects.toMatchObject({ status: 422, details: [{ path: 'messageId' }] });
    await expect(refused).rejects.toThrow(/must be one of the last \d+ messages of this chat/);
  });

  it('looks at more messages only if it must', async () => {
    const { find, limits } = await setUp(10);
    await find({ messageId: 'page8' });
    expect(limits).toEqual([10]);
    expect(await find({ messageId: 'page0' })).toMatchObject({ replaces: range(0, 19) });
    expect(limits).toEqual([10, 10, expect.any(Number)]);
    const few = await setUp(2);
    await few.find({ messageId: 'x' }).catch(() => undefined);
    expect(few.limits).toEqual([10]);
  });
});

describe('a regeneration', () => {
  const trigger = 'regenerate-message';

  it('repeats the question of the answer', async () => {
    const { find } = await setUp(3);
    const repeated = expect.objectContaining({ id: 'm0002', role: 'user' }) as MessageRecord;
    const replaced = { replaces: range(2, 5), pageId: 'q1.question', repeated };
    for (const messageId of ['q1', 'm0003', 'm0002'])
      expect(await find({ trigger, messageId })).toEqual(replaced);
  });

  it('without a name is of the newest answer', async () => {
    const { find } = await setUp(3);
    const last = { role: 'assistant', id: 'x' };
    expect(await find({ trigger }, last)).toMatchObject({ replaces: range(4, 5), repeated: { id: 'm0004' } });
    expect(await find({ trigger }, { id: 'page0' })).toMatchObject({ replaces: range(0, 5) });
  });

  it('of an answer that was never accepted is a new turn', async () => {
    const { find } = await setUp(3);
    expect(await find({ trigger }, { id: 'new', previousId: 'q2' })).toBeUndefined();
    expect(await find({ trigger }, { id: 'new' })).toBeUndefined();
    expect(await find({ trigger, messageId: 'new' }, { id: 'new', previousId: 'm0005' })).toBeUndefined();
    await expect(find({ trigger }, { id: 'new', previousId: 'q1' })).rejects.toMatchObject({
      details: [{ path: 'messages' }],
    });
    await expect(find({ trigger, messageId: 'x' }, { id: 'new', previousId: 'q2' })).rejects.toThrow();
    await expect(find({ trigger, messageId: 'x' }, { role: 'assistant', id: 'x' })).rejects.toThrow();
    const empty = await setUp(0);
    expect(await empty.find({ trigger }, { id: 'new', previousId: 'q2' })).toBeUndefined();
  });
});

it('names messages in pages', () => {
  const name = (more: object) => getPageId({ id: 'm', role: 'user', ...more } as never);
  expect([name({}), name({ pageId: 'p' }), name({ questId: 'q' })]).toEqual(['m', 'p', 'q.question']);
  expect([name({ role: 'assistant', questId: 'q' }), name({ pageId: 'p', questId: 'q' })]).toEqual([
    'q',
    'p',
  ]);
});
