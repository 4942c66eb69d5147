import { describe, expect, it } from 'vitest';
import type { ToolOffer, ToolRegistry } from '../../tools/registry.ts';
import { checkClientTools } from './client-tools.ts';
import { chooseTools, usesTools } from './tools.ts';

const SCOPE = { userId: 'ada', sessionId: 's', payer: { account: 'user:ada', userId: 'ada' } };
const offer = (id: string, offered: ToolOffer['offered'], gated?: boolean): ToolOffer =>
  ({ id, offered, schema: { name: id }, ...(gated && { gated }) }) as never;
const OFFERS = [
  offer('default', 'default'),
  offer('auto', 'automatic'),
  offer('named', 'requested'),
  offer('gated', 'default', true),
  offer('autogated', 'automatic', true),
  offer('delegate_to_agent', 'requested'),
];

const registry = {
  list: async (scope) => (scope === SCOPE ? OFFERS : []),
  select: async (message, scope) => (scope === SCOPE && message === 'hi' ? OFFERS.slice(0, 4) : []),
  find: async (id, scope) => (scope === SCOPE ? OFFERS.find((one) => one.id === id) : undefined),
} as Partial<ToolRegistry> as ToolRegistry;

const choose = (
  body: object = {},
  session: object = {},
  { supportsTools = true, limits = undefined as object | undefined } = {},
) =>
  chooseTools(
    registry,
    SCOPE,
    { message: 'hi', enableTools: false, ...body } as never,
    session,
    supportsTools,
    ...((limits === undefined ? [] : [limits]) as []),
  );
const effective = async (...given: Parameters<typeof choose>) => (await choose(...given)).effective;

describe('the tools of a turn', () => {
  it('are the default and automatic ones', async () => {
    expect(await choose({ enableTools: true })).toEqual({
      effective: ['default', 'auto'],
      echo: {
        autoSelectedTools: ['default', 'auto'],
        effectiveTools: ['default', 'auto'],
        unrecognizedTools: [],
      },
    });
    expect(await effective({ enableTools: true, skip_auto_offers: true })).toEqual(['default']);
    expect(await effective({ enableTools: true, skip_auto_offers: false })).toEqual(['default', 'auto']);
    expect(await effective({ enableTools: true, promptMode: 'raw' })).toEqual(['default']);
    const all = ['default', 'auto', 'gated', 'autogated'];
    expect(await effective({ enableTools: true, approvals: true })).toEqual(all);
  });

  it('are those that match the message, or none', async () => {
    expect(await choose({ toolMode: 'smart' })).toEqual({
      effective: ['default', 'auto', 'named'],
      echo: {
        ...{ toolMode: 'smart', autoSelectedTools: ['default', 'auto', 'named'] },
        ...{ effectiveTools: ['default', 'auto', 'named'], unrecognizedTools: [] },
      },
    });
    expect(await effective({ toolMode: 'smart', skip_auto_offers: true })).toEqual(['default', 'named']);
    expect(await choose({ toolMode: 'fast', tools: ['named'] })).toMatchObject({
      effective: [],
      echo: { toolMode: 'fast', autoSelectedTools: [], effectiveTools: [] },
    });
  });

  it('are named ones, with automatic ones', async () => {
    const { effective: ids, echo } = await choose({ tools: ['gated', 'x', 'named', 'gated', 'x'] });
    expect(ids).toEqual(['auto', 'gated', 'named']);
    expect(echo).toStrictEqual({
      ...{
        autoSelectedTools: ['auto'],
        effectiveTools: ['auto', 'gated', 'named'],
        unrecognizedTools: ['x'],
      },
    });
    const unknown = Array.from({ length: 11 }, (_, at) => `x${at}`);
    expect((await choose({ tools: unknown })).echo?.unrecognizedTools).toEqual(unknown.slice(0, 10));
  });

  it('are those of the session, too', async () => {
    expect(await choose({}, { enabledTools: ['named', 'x'] })).toEqual({
      effective: ['auto', 'named'],
      echo: undefined,
    });
    const session = { enabledTools: ['named'], disabledTools: ['auto'] };
    expect(await choose({ tools: ['default'] }, session)).toMatchObject({
      effective: ['default', 'named'],
      echo: { autoSelectedTools: [] },
    });
  });

  it('are those that the limits permit', async () => {
    const limits = { denied: ['auto'] };
    expect(await effective({ enableTools: true }, {}, { limits })).toEqual(['default']);
  });

  it('are none of a model without tools', async () => {
    expect(await choose({ enableTools: true }, {}, { supportsTools: false })).toMatchObject({
      effective: [],
      echo: {},
    });
  });

  it('delegate to agents if nothing else does', async () => {
    expect(await choose({ enableAgents: true })).toEqual({
      effective: ['delegate_to_agent'],
      echo: undefined,
    });
    expect(await effective({ enableAgents: true, skip_auto_offers: true })).toEqual([]);
    expect(await effective({ enableAgents: true, promptMode: 'raw' })).toEqual([]);
  });

  it.each([
    [{}, {}, false],
    [{ tools: [] }, { enabledTools: [] }, false],
    [{ enableAgents: false }, {}, false],
    [{ enableTools: true }, {}, true],
    [{ toolMode: 'fast' }, {}, true],
    [{ tools: ['x'] }, {}, true],
    [{ enableAgents: true }, {}, true],
    [{}, { enabledTools: ['x'] }, true],
  ])('are looked up for %j, %j: %s', (body, session, isLookedUp) => {
    expect(usesTools({ enableTools: false, ...body } as never, session)).toBe(isLookedUp);
  });
});

describe('the tools of a client', () => {
  const check = (names: readonly string[], hasApprovals = true) =>
    checkClientTools(registry, SCOPE, names.map((name) => ({ name })) as never, hasApprovals);
  const refusal = (path: string) => ({ status: 422, details: [{ path }] });

  it('need approvals, and names of their own', async () => {
    await expect(check(['a', 'b'])).resolves.toBeUndefined();
    await expect(check([], false)).resolves.toBeUndefined();
    await expect(check(['a'], false)).rejects.toMatchObject(refusal('clientTools'));
    await expect(check(['a', 'b', 'a'])).rejects.toMatchObject(refusal('clientTools.2.name'));
    await expect(check(['a', 'named'])).rejects.toMatchObject(refusal('clientTools.1.name'));
  });
});
