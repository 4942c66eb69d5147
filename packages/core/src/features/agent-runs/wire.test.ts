import { describe, expect, it } from 'vitest';
import type { QuestRecord } from '../../runs/records.ts';
import { toWireExecution } from './wire.ts';

const REQUEST = { payer: { account: 'user:u', userId: 'u' }, requestId: 'r' };
const run = (more: Partial<QuestRecord> = {}): QuestRecord => ({
  ...{ id: 'q', kind: 'agent-execution', sessionId: 's', ownerId: 'u', type: 'message', status: 'done' },
  ...{ request: REQUEST, createdAt: 0, updatedAt: 1000 },
  ...more,
});
const ALWAYS = {
  ...{ id: 'q', status: 'completed', session_id: 's', answer: '', error: null, steps: [] },
  ...{ total_iterations: null },
  ...{ created_at: '1970-01-01T00:00:00.000Z', updated_at: '1970-01-01T00:00:01.000Z' },
};

describe('agent run on the wire', () => {
  it('has no optional field that its record does not have', () => {
    expect(toWireExecution(run(), [], 'u')).toEqual(ALWAYS);
    expect(Object.keys(toWireExecution(run(), [], 'u')).sort()).toEqual(Object.keys(ALWAYS).sort());
  });

  it('has the answer of its last step, or its text, when it is completed', () => {
    expect(toWireExecution(run({ text: 'All.', answer: 'Last.', rounds: 2 }), [], 'u')).toEqual({
      ...ALWAYS,
      ...{ answer: 'Last.', total_iterations: 2 },
    });
    expect(toWireExecution(run({ text: 'All.' }), [], 'u').answer).toBe('All.');
    expect(toWireExecution(run({ answer: '', text: 'All.' }), [], 'u').answer).toBe('');
    expect(toWireExecution(run({ status: 'running', text: 'Half' }), [], 'u').answer).toBeNull();
  });

  it.each([
    ['pending', 'message', 'pending'],
    ['running', 'message', 'running'],
    ['waiting', 'message', 'running'],
    ['stopped', 'message', 'aborted'],
    ['done', 'message', 'completed'],
    ['done', 'error', 'failed'],
  ] as const)('shows a quest that is %s with the type %s as %s', (status, type, expected) => {
    expect(toWireExecution(run({ status, type }), [], 'u').status).toBe(expected);
  });

  it('shows why it failed', () => {
    const providerError = { status: 429, retryAfter: 5 } as unknown as QuestRecord['providerError'];
    const failed = run({
      type: 'error',
      explanation: 'Busy.',
      stopReason: 'max_tokens',
      providerError,
    } as never);
    expect(toWireExecution(failed, [], 'u')).toEqual({
      ...ALWAYS,
      ...{ status: 'failed', answer: null, error: 'Busy.', stop_reason: 'max_tokens' },
      provider_error: { status: 429, retry_after: 5 },
    });
    const other = { status: 500 } as unknown as QuestRecord['providerError'];
    const shown = toWireExecution(run({ providerError: other } as never), [], 'u').provider_error;
    expect(Object.keys(shown ?? {})).toEqual(['status']);
  });

  it('has its steps, without their records', () => {
    const step = { id: 'q:0', executionId: 'q', sessionId: 's', number: 0, iteration: 1 } as const;
    const steps = [
      { ...step, type: 'thought', content: 'Hm.' },
      { ...step, type: 'action', content: '{}', toolName: 'look' },
    ] as const;
    const shown = toWireExecution(run(), steps, 'u').steps;
    expect(shown).toEqual([
      { type: 'thought', content: 'Hm.', iteration: 1 },
      { type: 'action', content: '{}', iteration: 1, tool_name: 'look' },
    ]);
    expect(Object.keys(shown[0] ?? {})).not.toContain('tool_name');
  });

  it('waits for its owner, who sees the calls', () => {
    const call = { id: '1.0', tool: 'send_mail', kind: 'approval', input: { to: 'bob' } } as const;
    const decided = { ...call, id: '1.1', decision: { type: 'reject', reason: 'No.' } } as const;
    const waiting = run({ status: 'waiting', wait: { calls: [call, decided], sealedState: 'x' } } as never);
    const shown = toWireExecution(waiting, [], 'u');
    expect(shown).toMatchObject({ status: 'waiting', answer: null });
    expect(shown.pending_approvals).toEqual([
      { call_id: '1.0', tool: 'send_mail', input: { to: 'bob' } },
      { call_id: '1.1', tool: 'send_mail', input: { to: 'bob' }, decision: 'reject' },
    ]);
    expect(Object.keys(shown.pending_approvals?.[0] ?? {})).not.toContain('decision');
    const others = toWireExecution(waiting, [], 'bob');
    expect(others.status).toBe('running');
    expect(others).not.toHaveProperty('pending_approvals');
  });
});
