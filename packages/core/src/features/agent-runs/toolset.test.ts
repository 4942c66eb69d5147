import { describe, expect, it } from 'vitest';
import { toAgent } from '../../../../../test/support/agent-records.ts';
import { MAX_TOOLS } from '../../contract/lists.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../../tools/registry.ts';
import type { AgentRecord } from '../agents/records.ts';
import type { SessionRecord } from '../sessions/records.ts';
import { createToolset } from './toolset.ts';

const SCOPE = {} as ToolScope;
const offer = (id: string, offered: ToolOffer['offered'], gated = false): ToolOffer => ({
  ...{ id, offered, schema: { name: `${id}_name` } as ToolOffer['schema'] },
  ...(gated && { gated }),
});
const ALL = [
  offer('web', 'default'),
  offer('time', 'automatic'),
  offer('rare', 'requested'),
  offer('mail', 'requested', true),
  offer('gate', 'default', true),
];
const registry = {
  list: async (scope) => (scope === SCOPE ? ALL : []),
  find: async (id, scope) => (scope === SCOPE ? ALL.find((one) => one.id === id) : undefined),
} as Partial<ToolRegistry> as ToolRegistry;

interface Setting {
  readonly session?: Partial<SessionRecord>;
  readonly agent?: Partial<AgentRecord>;
  readonly approved?: readonly string[];
  readonly withheld?: readonly string[];
}

const create = ({ session = {}, agent, approved = [], withheld = [] }: Setting = {}) =>
  createToolset(
    ...([registry, SCOPE, session as SessionRecord] as const),
    ...([agent && toAgent(1, agent), approved, withheld] as const),
  );
const ids = async (setting?: Setting) => (await create(setting)).offers.map(({ id }) => id);

describe('tools of an agent run', () => {
  it.each<[string, Setting | undefined, readonly string[]]>([
    ['the usual ones', undefined, ['web', 'time', 'gate']],
    [
      'those of the session too',
      { session: { enabledTools: ['rare', 'none'] } },
      ['web', 'time', 'gate', 'rare'],
    ],
    ['the approved ones too', { approved: ['mail', 'web'] }, ['web', 'time', 'gate', 'mail']],
    ['not those that the session denies', { session: { disabledTools: ['web'] } }, ['time', 'gate']],
    ['not those that the agent denies', { agent: { deniedTools: ['time'] } }, ['web', 'gate']],
    ['only those that the agent allows', { agent: { allowedTools: ['time'] }, approved: ['mail'] }, ['time']],
    ['not the withheld ones', { withheld: ['web'] }, ['time', 'gate']],
    ['withheld ones that are approved', { withheld: ['web'], approved: ['web'] }, ['time', 'gate', 'web']],
  ])('are %s', async (_, setting, expected) => {
    expect(await ids(setting)).toEqual(expected);
  });

  it('are the first ones of a long list', async () => {
    const others = Array.from({ length: MAX_TOOLS - 1 }, (_, at) => `x${at}`);
    expect(await ids({ session: { enabledTools: [...others, 'rare'] } })).toContain('rare');
    expect(await ids({ session: { enabledTools: [...others, 'x', 'rare'] } })).not.toContain('rare');
  });

  it('are unlocked where they are allowed, and need no approval', async () => {
    const unlock = async (wanted: readonly string[], setting?: Setting) =>
      (await (await create(setting)).unlock(wanted)).map(({ id }) => id);
    expect(await unlock(['rare', 'none', 'mail', 'gate'])).toEqual(['rare']);
    expect(await unlock(['rare'], { session: { disabledTools: ['rare'] } })).toEqual([]);
    expect(await unlock(['rare'], { agent: { deniedTools: ['rare'] } })).toEqual([]);
  });

  it('need an approval that was not given in advance only where they are gated', async () => {
    const { offers, needsApproval, refusal } = await create({ session: { enabledTools: ['mail'] } });
    expect(offers.filter(needsApproval).map(({ id }) => id)).toEqual(['gate', 'mail']);
    expect(refusal('mail_name')).toBe(
      "The run needs the tool 'mail', which was not approved in advance. Name it in 'tools' to approve it.",
    );
    expect([refusal('web_name'), refusal('none_name'), refusal('mail')]).toEqual(Array(3).fill(undefined));
    const given = await create({ approved: ['mail'] });
    expect(given.offers.filter(given.needsApproval).map(({ id }) => id)).toEqual(['gate']);
    expect(given.refusal('mail_name')).toBeUndefined();
  });
});
