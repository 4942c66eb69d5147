import { describe, expect, it } from 'vitest';
import type { QuestRecord } from '../../runs/records.ts';
import { isDecision, readDecisions } from './ui-decisions.ts';
import { readMessage } from './ui-message.ts';

const refusal = (path: string) =>
  expect.objectContaining({ status: 422, details: [expect.objectContaining({ path })] });

describe('the last message of a page', () => {
  const read = (parts: readonly object[], role = 'user') =>
    readMessage({ role, parts, index: 2, id: 'm', previousId: undefined } as never);
  const url = 'https://a.b/c';

  it('has its texts and files', () => {
    const stored = { type: 'file', url: 'x', providerMetadata: { questline: { fileId: 'f' } } };
    const file = { type: 'file', url, filename: 'a.png' };
    expect(read([{ type: 'text', text: 'a' }, file, stored, { type: 'text', text: 'b' }])).toEqual({
      ...{ text: 'a\nb', files: [{ url, name: 'a.png', path: 'messages.2.parts.1.url' }], fileIds: ['f'] },
    });
    expect(read([stored])).toMatchObject({ text: '', fileIds: ['f'] });
    expect(read([{ type: 'text', text: 'a' }])).toEqual({ text: 'a', files: [], fileIds: [] });
    expect(read([file])).toMatchObject({ text: '', fileIds: [] });
  });

  it.each([
    [undefined, 'file'],
    ['', 'file'],
    [7, 'file'],
    ['x'.repeat(256), 'x'.repeat(255)],
    [`${'x'.repeat(254)}😀`, `${'x'.repeat(254)}\ufffd`],
  ])('names its files: %o', (filename, name) => {
    expect(read([{ type: 'file', url, filename }]).files[0]?.name).toBe(name);
  });

  it.each([[null], [{}], [{ questline: {} }], [{ questline: { fileId: 7 } }], [{ other: { fileId: 'f' } }]])(
    'has files of its own with other data: %j',
    (providerMetadata) => {
      expect(read([{ type: 'file', url: 'DATA:a', providerMetadata }]).files).toHaveLength(1);
    },
  );

  it('has at most 20 files', () => {
    const files = (count: number) => Array.from({ length: count }, () => ({ type: 'file', url }));
    expect(read(files(20)).files).toHaveLength(20);
    expect(() => read(files(21))).toThrow(refusal('messages.2.parts'));
  });

  it.each([
    ['messages.2.parts', []],
    ['messages.2.parts', [{ type: 'text', text: ' \n' }]],
    ['messages.2.parts.0', [{ type: 'reasoning', text: 'a' }]],
    ['messages.2.parts.0', [{ type: 'text', text: 7 }]],
    ['messages.2.parts.0.url', [{ type: 'file', url: 'http://a.b' }]],
    ['messages.2.parts.0.url', [{ type: 'file' }]],
  ])('is refused at %s: %j', (path, parts) => {
    expect(() => read(parts)).toThrow(refusal(path));
  });

  it('is of the user', () => {
    expect(() => read([{ type: 'text', text: 'a' }], 'assistant')).toThrow(refusal('messages.2.role'));
  });
});

describe('the decisions of a page', () => {
  const calls = [
    { id: 'a', tool: 'x', kind: 'approval', input: {} },
    { id: 'b', tool: 'y', kind: 'answer', input: {} },
  ];
  const read = (parts: readonly object[], { quest = {}, id = 'q' }: { quest?: object; id?: string } = {}) => {
    const waiting = { id: 'q', wait: { calls }, ...quest } as unknown as QuestRecord;
    const { decisions, toolCallIds } = readDecisions(waiting, { id, parts, index: 1 } as never);
    return { decisions, toolCallIds: [...toolCallIds] };
  };
  const approval = (more: object = {}, toolCallId = 'q.1.a') => ({
    ...{ toolCallId, state: 'approval-responded', approval: { id: 'q.a', approved: true, ...more } },
  });
  const APPROVED = [{ callId: 'a', decision: { type: 'approve' } }];

  it('are approvals and rejections', () => {
    expect(read([approval()])).toEqual({ decisions: APPROVED, toolCallIds: [['a', 'q.1.a']] });
    const reject = (reason?: unknown) => read([approval({ approved: false, reason })]).decisions[0]?.decision;
    expect(reject()).toStrictEqual({ type: 'reject' });
    expect(reject('')).toStrictEqual({ type: 'reject' });
    expect(reject(7)).toStrictEqual({ type: 'reject' });
    expect(reject('no')).toEqual({ type: 'reject', reason: 'no' });
    expect(reject('x'.repeat(2001))).toEqual({ type: 'reject', reason: 'x'.repeat(2000) });
  });

  it('are answers of tools of the page', () => {
    const answered = { toolCallId: 'q.2.b', state: 'output-available', output: { a: 1 } };
    expect(read([answered]).decisions).toMatchObject([{ callId: 'b', decision: { type: 'answer' } }]);
    expect(read([answered]).decisions).not.toMatchObject([{ decision: { isError: true } }]);
    const other = { decided: [{ id: 'z', type: 'answer' }] };
    const wrong = { ...answered, toolCallId: 'q.1.a' };
    expect(() => read([wrong], { quest: other })).toThrow(refusal('messages.1.parts'));
    const failed = { toolCallId: 'q.2.b', state: 'output-error', errorText: 'no' };
    expect(read([failed]).decisions).toMatchObject([
      { callId: 'b', decision: { type: 'answer', isError: true } },
    ]);
    const decided = { wait: undefined, decided: [{ id: 'b', type: 'answer' }] };
    expect(read([answered], { quest: decided }).decisions).toHaveLength(1);
    const approved = { wait: undefined, decided: [{ id: 'b', type: 'approve' }] };
    expect(() => read([answered], { quest: approved })).toThrow(refusal('messages.1.parts'));
    expect(() => read([{ ...answered, toolCallId: 'q.1.a' }])).toThrow(refusal('messages.1.parts'));
    expect(() => read([{ ...failed, toolCallId: 'q.1.a' }])).toThrow(refusal('messages.1.parts'));
  });

  it('concern each call once, and only calls of this answer', () => {
    const others = ['r.1.a', 'q.1.c', 'q.x.a', 'q.1.', 'qq1.a', 7].map((toolCallId) => ({
      ...approval(),
      toolCallId,
    }));
    const second = approval({ approved: false }, 'q.3.a');
    const later = { toolCallId: 'q.1.b', state: 'input-available' };
    expect(read([...others, approval(), second, later])).toEqual({
      ...{
        decisions: APPROVED,
        toolCallIds: [
          ['a', 'q.1.a'],
          ['b', 'q.1.b'],
        ],
      },
    });
    const decided = { decided: [{ id: 'd', type: 'approve' }] };
    const parts = [approval({ id: 'q.d' }, 'q.1.d')];
    expect(read(parts, { quest: decided }).decisions).toMatchObject([{ callId: 'd' }]);
  });

  it.each([
    ['messages.1.parts', []],
    ['messages.1.parts.0.approval.id', [approval({ id: 'q.b' })]],
    ['messages.1.parts.0.approval.id', [{ ...approval(), approval: undefined }]],
    ['messages.1.parts.0.approval.approved', [approval({ approved: 'yes' })]],
  ])('are refused at %s', (path, parts) => {
    expect(() => read(parts)).toThrow(refusal(path));
  });

  it('belong to the answer that waits', () => {
    expect(() => read([approval()], { id: 'r' })).toThrow(refusal('messages.1.id'));
  });

  it('are sent with the answer as the last message', () => {
    const is = (trigger: string, role: string) => isDecision({ trigger, messages: { role } } as never);
    expect(is('submit-message', 'assistant')).toBe(true);
    expect(is('submit-message', 'user')).toBe(false);
    expect(is('regenerate-message', 'assistant')).toBe(false);
  });
});
