import { describe, expect, it } from 'vitest';
import { call, FIRST, offer, openPlan } from '../../../../test/round-plan.ts';
import type { GenerateRequest } from '../../../ports/models.ts';
import type { ServerTools } from './tools.ts';

describe('the next round', () => {
  const advance = async (more: Partial<ServerTools>, request: Partial<GenerateRequest> = {}) => {
    const { plan, take, run } = openPlan(more, request, true);
    const { round } = take(
      { type: 'text', text: 'So.' },
      call('c1', 'web_search'),
      call('c2', 'notes__write'),
    );
    await run(round);
    return { goesOn: plan.advance(round, 40), plan, take };
  };

  it('has the results, the rest of a named limit and no choice that forces a call', async () => {
    const { goesOn, plan } = await advance({});
    const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });
    const ended = (toolUseId: string, toolName: string) => ({
      ...{ type: 'tool_result', toolUseId, toolName, content: `result of ${toolUseId}`, isError: false },
    });
    expect(goesOn).toBe(true);
    const { toolChoice, ...rest } = FIRST;
    expect(toolChoice).toBe('required');
    expect(plan.request()).toEqual({
      ...rest,
      maxTokens: 60,
      messages: [
        ...FIRST.messages,
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'So.' }, use('c1', 'web_search'), use('c2', 'notes__write')],
        },
        { role: 'user', content: [ended('c1', 'web_search'), ended('c2', 'notes__write')] },
      ],
    });
  });

  it('keeps the choice to call no tool', async () => {
    expect((await advance({}, { toolChoice: 'none' })).plan.request().toolChoice).toBe('none');
  });

  it('offers only tools of the client when no call is left', async () => {
    const { plan, take } = await advance({ maxCalls: 2 });
    expect(plan.request().tools).toEqual([offer('weather')]);
    expect(plan.request()).not.toHaveProperty('toolChoice');
    expect(plan.hasWork(take(call('c3', 'web_search')).round, 'tool_use')).toBe(false);
    expect(plan.isCut()).toBe(true);
    const own = [offer('web_search'), offer('notes__write')];
    const alone = await advance({ maxCalls: 2 }, { tools: own });
    expect(alone.plan.request()).toMatchObject({ tools: own, toolChoice: 'none' });
    // The client offers no tool, and one call is left.
    expect((await advance({}, { tools: own })).plan.request()).not.toHaveProperty('toolChoice');
  });

  it('refuses a call beyond the limit to the model', async () => {
    const { plan } = await advance({ maxCalls: 1 });
    expect(plan.request().messages.at(-1)?.content).toMatchObject([
      { toolUseId: 'c1', content: 'result of c1', isError: false },
      { toolUseId: 'c2', content: expect.stringContaining('No more calls'), isError: true },
    ]);
  });
});
