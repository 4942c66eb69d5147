import { describe, expect, it } from 'vitest';
import { call, FIRST, openPlan, TARGET, WEB, WRITE } from '../../../../test/round-plan.ts';
import type { GenerateRequest, ModelContent } from '../../../ports/models.ts';

const result = (toolUseId: string): ModelContent => ({
  ...{ type: 'tool_result', toolUseId, toolName: 'notes__write' },
  ...{ content: 'not run', isError: true },
});

describe('approved calls', () => {
  const approved = [
    { id: 'a1', name: 'notes__write', arguments: '{"n":1}', target: TARGET },
    { id: 'a2', name: 'gone', arguments: '{}', target: TARGET },
    { id: 'a3', name: 'notes__write', arguments: '{"n":3}', target: TARGET },
  ];
  const messages: GenerateRequest['messages'] = [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'user', content: [result('a1'), result('other')], cacheBreakpoint: true },
  ];

  it('are those of the request', () => {
    expect(openPlan().plan.hasApproved).toBe(false);
    expect(openPlan({ approved: [] }).plan.hasApproved).toBe(false);
    expect(openPlan({ approved }).plan.hasApproved).toBe(true);
  });

  it('run one after the other, before the first call of the model, which reads their results', async () => {
    const { plan, calls, runApproved } = openPlan({ approved }, { messages });
    const about = (id: string, json: string) => ({
      ...{ id, name: 'notes__write', arguments: json, target: TARGET },
    });
    const ended = (id: string) => ({ content: `result of ${id}`, isError: false, sources: [] });
    expect(await runApproved()).toEqual([
      { type: 'server_tool_call', ...about('a1', '{"n":1}') },
      { type: 'server_tool_result', ...about('a1', '{"n":1}'), ...ended('a1') },
      { type: 'server_tool_call', ...about('a3', '{"n":3}') },
      { type: 'server_tool_result', ...about('a3', '{"n":3}'), ...ended('a3') },
    ]);
    expect(calls).toEqual([
      ['a1', 0],
      ['a3', 2],
    ]);
    expect(plan.request()).toEqual({
      ...FIRST,
      messages: [
        messages[0],
        {
          role: 'user',
          content: [{ ...result('a1'), content: 'result of a1', isError: false }, result('other')],
          cacheBreakpoint: true,
        },
      ],
    });
  });

  it('have numbers before those of the calls of a round', async () => {
    const { calls, take, run } = openPlan({ approved });
    await run(take(call('c1', 'web_search'), call('c2', 'notes__write')).round);
    expect(calls).toEqual([
      ['c1', 3],
      ['c2', 4],
    ]);
  });
});

describe('a round', () => {
  it('has work if the model calls a tool of the server, and was not cut', () => {
    const { plan, take } = openPlan();
    expect(plan.hasWork(take({ type: 'text', text: 'Hi' }).round, 'stop')).toBe(false);
    expect(plan.hasWork(take(call('c1', 'weather')).round, 'tool_use')).toBe(false);
    expect(plan.isCut()).toBe(false);
    expect(plan.hasWork(take(call('c1', 'web_search')).round, 'tool_use')).toBe(true);
    expect(plan.isCut()).toBe(false);
    expect(plan.hasWork(take(call('c1', 'web_search')).round, 'max_tokens')).toBe(false);
    expect(plan.isCut()).toBe(true);
  });

  it('keeps calls of the server out of the answer, and those of the client in it', () => {
    const { take } = openPlan();
    const parts = [call('c1', 'web_search'), call('c2', 'weather')];
    const block = { type: 'thinking', thinking: 'hm' };
    const { round, kept } = take({ type: 'text', text: 'Hi' }, { type: 'thinking', block }, ...parts);
    expect(kept).toEqual([true, true, false, true]);
    expect(round.uses).toEqual([{ id: 'c1', name: 'web_search', arguments: '{}' }]);
    expect(round.callsClient()).toBe(true);
    expect(take(call('c1', 'web_search')).round.callsClient()).toBe(false);
  });

  it('yields calls and results in order, with the server of each', async () => {
    const { take, run } = openPlan();
    const { round } = take(call('c1', 'web_search'), call('c2', 'notes__write'));
    const web = { id: 'c1', name: 'web_search', arguments: '{}' };
    const write = { id: 'c2', name: 'notes__write', arguments: '{}', target: TARGET };
    expect(await run(round)).toEqual([
      { type: 'server_tool_call', ...web },
      { type: 'server_tool_result', ...web, content: 'result of c1', isError: false, sources: [] },
      { type: 'server_tool_call', ...write },
      { type: 'server_tool_result', ...write, content: 'result of c2', isError: false, sources: [] },
    ]);
  });

  it('asks for approval, runs the other calls, and is the last one', async () => {
    const { plan, calls, take, run } = openPlan({ tools: [WEB, { ...WRITE, needsApproval: true }] });
    const { round } = take(call('c1', 'notes__write'), call('c2', 'web_search'));
    const parts = await run(round);
    expect(parts[0]).toEqual({
      ...{ type: 'server_tool_approval', id: 'c1', name: 'notes__write', arguments: '{}' },
      target: TARGET,
    });
    expect(parts.slice(1)).toMatchObject([{ id: 'c2' }, { id: 'c2' }]);
    expect(calls).toEqual([['c2', 1]]);
    expect(plan.advance(round, 1)).toBe(false);
  });

  it('is the last one if the model also calls a tool of the client', async () => {
    const { plan, take, run } = openPlan();
    const { round } = take(call('c1', 'web_search'), call('c2', 'weather'));
    await run(round);
    expect(plan.advance(round, 1)).toBe(false);
    expect(plan.isCut()).toBe(false);
  });
});
