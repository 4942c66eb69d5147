import { describe, expect, it } from 'vitest';
import { checkApprovals, spendApprovals } from './approvals.ts';
import type { ServerTools } from './tools.ts';

const USER = { userId: 'u', sessionId: 's' };
const call = (id: string) => ({
  ...{ id, name: 'notes__write', arguments: '{}', target: { server: 'notes', tool: 'write' } },
});
const tools = (...ids: readonly string[]): ServerTools => ({
  ...{ tools: [], maxCalls: 1, approved: ids.map(call) },
});

/** A register in which some approvals are used. */
function createRegister(used?: string) {
  const asked: unknown[] = [];
  const look = async (given: unknown) => {
    asked.push(given);
    return used;
  };
  return { asked, findUsed: look, useUp: look };
}

describe('approvals', () => {
  const all = { userId: 'u', workId: 's', names: ['a1', 'a2'] };

  it('belong to a user and to the work that uses them', async () => {
    const checked = createRegister();
    await checkApprovals(checked, tools('a1', 'a2'), USER);
    expect(checked.asked).toEqual([all]);
    const spent = createRegister();
    await spendApprovals(spent, tools('a1', 'a2'), USER);
    expect(spent.asked).toEqual([all]);
  });

  it('are not looked for without one', async () => {
    const register = createRegister('a1');
    await checkApprovals(register, undefined, USER);
    await checkApprovals(register, { tools: [], maxCalls: 1 }, USER);
    expect(register.asked).toEqual([]);
  });

  it.each([
    ['a1', 'a1'],
    ['x'.repeat(101), 'x'.repeat(100)],
  ])('are refused when one was used: %s', async (id, shown) => {
    const message = `The approval of the call ${shown} was used before: a call runs once`;
    const refusal = { status: 400, code: 'approval_used', message };
    const register = createRegister(id);
    await expect(checkApprovals(register, tools(id), USER)).rejects.toMatchObject(refusal);
    await expect(spendApprovals(register, tools(id), USER)).rejects.toMatchObject(refusal);
  });
});
