import { describe, expect, it } from 'vitest';
import { PLAN_PAYLOAD, type QuestRecord } from '../../runs/records.ts';
import { getErrorCode, toPendingApprovals, toReplies, toReply, toWireQuest } from './wire.ts';

const REQUEST = { payer: { account: 'user:u', userId: 'u' }, requestId: 'r' };
const quest = (more: Partial<QuestRecord> = {}): QuestRecord => ({
  ...{ id: 'q', kind: 'chat', sessionId: 's', ownerId: 'u', type: 'message', status: 'done' },
  ...{ request: REQUEST, createdAt: 0, updatedAt: 1000 },
  ...more,
});

const ALWAYS = {
  ...{ id: 'q', sessionId: 's', status: 'done', type: 'message', reply: '', replies: [] },
  ...{ images: [], videos: [], files: [], toolPayloads: [] },
  ...{ createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:01.000Z' },
};

const DELIVERY = { requestedCount: 2, deliveredCount: 1, droppedIds: ['b'] };
/** Fields that are absent unless the record has them. */
const OPTIONAL: readonly (readonly [string, unknown])[] = [
  ['stopReason', 'stop'],
  ['providerError', { status: 404, code: 'model_not_found' }],
  ['fallbackInfo', { primaryModel: 'a', fallbackModel: 'b' }],
  ['promptMeta', { model: 'a', credits: 1 }],
  ['attachmentNotices', ['One file was left out.']],
  ['attachmentDelivery', DELIVERY],
];

describe('quest on the wire', () => {
  it('has no optional field that its record does not have', () => {
    expect(toWireQuest(quest())).toEqual(ALWAYS);
    expect(Object.keys(toWireQuest(quest())).sort()).toEqual(Object.keys(ALWAYS).sort());
  });

  it.each(OPTIONAL)('has %s if its record has it, and no other', (field, value) => {
    expect(toWireQuest(quest({ [field]: value }))).toEqual({ ...ALWAYS, [field]: value });
  });

  it.each<[string | undefined, { errorCode?: string }]>([
    ['insufficient_credits', { errorCode: 'insufficient_credits' }],
    ['budget_exceeded', { errorCode: 'budget_exceeded' }],
    ['internal', {}],
    [undefined, {}],
  ])('has the error code %s only where it is about credit', (errorCode, expected) => {
    const record = quest({
      type: 'error',
      ...(errorCode !== undefined && { errorCode }),
    } as Partial<QuestRecord>);
    expect(toWireQuest(record)).toEqual({ ...ALWAYS, type: 'error', ...expected });
    expect(getErrorCode(record)).toBe(expected.errorCode);
  });

  it.each(['pending', 'running', 'stopped', 'done'] as const)('has the status %s', (status) => {
    expect(toWireQuest(quest({ status })).status).toBe(status);
  });

  it('runs for other readers while it waits, and shows what it waits for to its owner only', () => {
    const call = { id: '1.0', tool: 'send_mail', kind: 'approval', input: { to: 'bob' } } as const;
    const decided = { ...call, id: '1.1', decision: { type: 'reject', reason: 'No.' } } as const;
    const waiting = quest({
      status: 'waiting',
      wait: { calls: [call, decided] },
    } as unknown as Partial<QuestRecord>);
    expect(toWireQuest(waiting).status).toBe('running');
    const { id: _id, ...shown } = call;
    expect(toPendingApprovals(waiting, 'u')).toEqual({
      status: 'waiting',
      pendingApprovals: [
        { callId: '1.0', ...shown },
        { callId: '1.1', ...shown, decision: 'reject' },
      ],
    });
    expect(toPendingApprovals(waiting, 'other')).toEqual({});
    expect(toPendingApprovals({ ...waiting, status: 'done' }, 'u')).toEqual({});
    expect(toPendingApprovals(quest({ status: 'waiting' }), 'u')).toEqual({});
  });

  it.each<[string, Partial<QuestRecord>, string | null, string[]]>([
    ['nothing before any text', { status: 'running' }, null, []],
    ['the text so far', { status: 'running', text: 'Hel' }, 'Hel', ['Hel']],
    ['an empty answer', { status: 'done' }, '', []],
    ['the text', { text: 'Hello.' }, 'Hello.', ['Hello.']],
    [
      'the answer instead of the text of all rounds',
      { text: 'I look. Hello.', answer: 'Hello.' },
      'Hello.',
      ['Hello.'],
    ],
    ['the text where the answer is empty', { text: 'I look.', answer: '' }, '', ['I look.']],
    [
      'the reason of a failure, and its text',
      { type: 'error', text: 'Hel', explanation: 'It failed.' },
      'It failed.',
      ['Hel'],
    ],
    [
      'the reason of a failure with an answer',
      { type: 'error', text: 'Hel', answer: 'A', explanation: 'It failed.' },
      'It failed.',
      ['Hel'],
    ],
    [
      'the text of a stop, also after an answer',
      { status: 'stopped', text: 'Hel', answer: 'A' },
      'A',
      ['Hel'],
    ],
    ['no text of a stop without one', { status: 'stopped' }, null, []],
  ])('replies with %s', (_name, more, reply, replies) => {
    expect([toReply(quest(more)), toReplies(quest(more))]).toEqual([reply, replies]);
  });

  const plan = (state: string) => ({
    type: PLAN_PAYLOAD,
    payload: { tasks: [{ id: 'a', title: 'A', state }] },
  });
  const other = { type: 'dice', payload: { rolled: 4, tasks: [{ id: 'a', state: 'pending' }] } };

  it.each<[QuestRecord['status'], string, string]>([
    ['running', 'pending', 'pending'],
    ['running', 'done', 'done'],
    ['done', 'pending', 'stopped'],
    ['stopped', 'pending', 'stopped'],
    ['stopped', 'done', 'done'],
  ])(
    '%s shows a task of its plan that is %s as %s, and other payloads as they are',
    (status, state, shown) => {
      for (const payloads of [[plan(state)], [other, plan(state)], [plan(state), other], [other]]) {
        const record = quest({ status, toolPayloads: payloads } as unknown as Partial<QuestRecord>);
        expect(toWireQuest(record).toolPayloads).toEqual(
          payloads.map((payload) => (payload === other ? other : plan(shown))),
        );
      }
    },
  );

  it('names its images', () => {
    expect(toWireQuest(quest({ images: ['a.png'] }))).toEqual({ ...ALWAYS, images: ['a.png'] });
  });
});
