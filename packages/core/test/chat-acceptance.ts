import { createFakeClock, createFakeIds } from '@questline/testing';
import type { Call } from '../src/contract/call.ts';
import { type AcceptServices, createAcceptMessage, type TurnPlan } from '../src/features/chat/accept.ts';
import type { ChatBody } from '../src/features/chat/contract.ts';
import { SESSIONS } from '../src/features/sessions/records.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import { QUESTS, type QuestRecord } from '../src/runs/records.ts';
import type { ToolScope } from '../src/tools/registry.ts';

export const NOW = Date.UTC(2026, 10, 22);
export const S = 'a'.repeat(24);
export const UNKNOWN = 'f'.repeat(24);
export const ORGANIZATION = 'b'.repeat(24);
const INFO = { type: 'text', contextWindow: 1000, maxOutputTokens: 500, supportsTools: true };

/** A workspace with the session `S` of ada. */
export async function setUp({
  settings = {},
  isLate = false,
  quota = Number.POSITIVE_INFINITY,
  session = {},
  attached = [] as object[],
} = {}) {
  const store = createMemoryStore();
  const claimed: unknown[][] = [];
  const scopes: ToolScope[] = [];
  const checked: unknown[][] = [];
  const payers: unknown[] = [];
  const entries = [
    { info: { ...INFO, id: 'plain' }, prices: {} },
    { info: { ...INFO, id: 'free' } },
    { info: { ...INFO, id: 'simple', supportsTools: undefined }, prices: {} },
  ];
  const catalogue = {
    list: () => entries,
    find: (id: string) => entries.find(({ info }) => info.id === id),
    isAllowed: () => true,
    isDisabled: () => false,
    findRetired: () => undefined,
  };
  const current = { DefaultAPIModel: 'plain', EnableAgents: true, enforceCredits: true, ...settings };
  const find = async (id: string, scope: ToolScope) => {
    scopes.push(scope);
    return id.startsWith('tool') ? { id, offered: 'requested', schema: {} } : undefined;
  };
  const services = {
    ...{ store, clock: createFakeClock(NOW), ids: createFakeIds() },
    claimedQuests: { add: (...given: unknown[]) => void claimed.push(given), get: () => undefined },
    getCatalogue(payer: unknown) {
      payers.push(payer);
      return isLate ? Promise.resolve(catalogue) : catalogue;
    },
    adminSettings: { current: () => (isLate ? Promise.resolve(current) : current) },
    files: {
      async findAll(...given: unknown[]) {
        checked.push(given);
        return new Map([['clean', { isClean: true }]]);
      },
    },
    toolRegistry: { find, list: async () => [], select: async () => [] },
    agentReach: {
      attached: async (_: string, { id }: { id: string }) => (id === S ? attached : []),
      published: async () => ({ ownerId: 'none' }),
    },
    storageQuotas: { sessions: quota },
    isMember: async (_userId: string, id: string) => id === ORGANIZATION,
    modelLists: { ofOrganization: async () => [] },
  } as unknown as AcceptServices;
  await store.collection(SESSIONS).insert({
    ...{ id: S, ownerId: 'ada', name: 'A', firstCreated: 1, lastUpdated: 1 },
    ...session,
  } as never);
  const accept = createAcceptMessage(services);
  const call = {
    ...{ id: 'call', requestId: 'request-1', mountPath: '/ai', signal: new AbortController().signal },
    caller: { kind: 'token', userId: 'ada', isAdmin: false },
  } as unknown as Call;
  const run = (body: object = {}, plan?: TurnPlan) =>
    accept({ message: 'Hi', sessionId: S, enableTools: false, ...body } as ChatBody, call, plan);
  /** The stored quest. */
  const storeQuest = async (body: object = {}, plan?: TurnPlan): Promise<QuestRecord> => {
    const work = await run(body, plan);
    await work.write(store);
    const quest = await store.collection(QUESTS).get(work.answer.id);
    if (quest === undefined) throw new Error('no quest');
    return quest;
  };
  const toRequest = async (body: object = {}, plan?: TurnPlan) => (await storeQuest(body, plan)).request;
  return { run, storeQuest, toRequest, services, claimed, scopes, checked, payers };
}

export const PAYER = { account: 'user:ada', userId: 'ada' };
export const PLAIN = {
  message: 'Hi',
  model: 'plain',
  maxTokens: 500,
  payer: PAYER,
  requestId: 'request-1',
  isCapOurs: true,
};
