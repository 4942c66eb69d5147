import { canWrite } from '../../access/access.ts';
import type { Caller } from '../../contract/call.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError, forbidden, notFound } from '../../shared/errors.ts';
import type { AgentReach } from './reach.ts';
import { AGENTS, type AgentPersonality, type AgentRecord } from './records.ts';

export interface AgentMakerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly adminSettings: AdminSettingsReader;
}

const NO_PERSONALITY: AgentPersonality = {
  majorMotivation: '',
  minorMotivation: '',
  characterFlaw: '',
  uniqueQuirk: '',
  responseStyle: '',
};

/** The changeable fields of an agent. A field that is present with the value undefined is unset. */
export interface AgentChange
  extends Partial<
    Omit<
      AgentRecord,
      'id' | 'ownerId' | 'readerIds' | 'writerIds' | 'personality' | 'publication' | 'createdAt' | 'updatedAt'
    >
  > {
  /** Only the traits that change. */
  readonly personality?: Partial<AgentPersonality> | undefined;
}

/** @throws ApiError of `limitReached` when the owner has reached the maximum number of agents. */
export async function makeAgent(
  { store, clock, ids, adminSettings }: AgentMakerServices,
  owner: Caller,
  { personality, ...input }: AgentChange & Pick<AgentRecord, 'name'>,
  limitReached: (most: number) => ApiError,
): Promise<AgentRecord> {
  const { MaxAgentsPerUser } = await adminSettings.current();
  const now = clock.now();
  const ownerId = owner.userId;
  const agent: AgentRecord = {
    id: ids.next(),
    ownerId,
    description: '',
    triggerWords: [],
    isPublic: false,
    personality: { ...NO_PERSONALITY, ...personality },
    capabilities: [],
    createdAt: now,
    updatedAt: now,
    ...input,
    ...(input.isPublic === true && isAdministrator(owner) && { publication: 'approved' }),
  };
  // Counting and inserting share one transaction, so parallel requests cannot exceed the limit.
  await store.transaction(async (inner) => {
    const agents = inner.collection(AGENTS);
    if ((await agents.count({ ownerId })) >= MaxAgentsPerUser) throw limitReached(MaxAgentsPerUser);
    await agents.insert(agent);
  });
  return agent;
}

/**
 * An approval covers the approved content only: a change by a user who is not an administrator removes it.
 * @returns the updated agent; undefined when the caller has no write access.
 * @throws ApiError 403 for a caller with a write share who publishes it or sets its system prompt.
 */
export function changeAgent(
  { store, clock }: Pick<AgentMakerServices, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  { personality, ...change }: AgentChange,
): Promise<AgentRecord | undefined> {
  const mayEdit = canWrite(caller.userId);
  return store.transaction(async (inner) => {
    const agents = inner.collection(AGENTS);
    const before = await agents.get(id, mayEdit);
    if (before === undefined) return undefined;
    const after = {
      ...(before.ownerId === caller.userId ? change : withoutOwners(before, change)),
      ...(personality !== undefined && { personality: { ...before.personality, ...personality } }),
    };
    const patch = { ...after, ...publicationAfter(before, after, caller), updatedAt: clock.now() };
    return agents.update(id, patch, mayEdit);
  });
}

/** The change by a user with a write share, who reads no system prompt and so may send it back as null. */
function withoutOwners(
  before: AgentRecord,
  { systemPrompt, isPublic = before.isPublic, ...change }: Omit<AgentChange, 'personality'>,
): Omit<AgentChange, 'personality'> {
  if (systemPrompt !== undefined && systemPrompt !== '') throw accessDenied('set its system prompt');
  if (isPublic !== before.isPublic) throw accessDenied('publish this agent');
  return change;
}

function accessDenied(what: string): ApiError {
  return new ApiError(403, `Only its owner may ${what}`, { applicationCode: 'AGENT_ACCESS_DENIED' });
}

/** Updates an administrator's decision after a change. A refused agent whose owner publishes it again becomes pending. */
function publicationAfter(
  before: AgentRecord,
  change: Partial<AgentRecord>,
  caller: Caller,
): Pick<AgentRecord, 'publication'> {
  const isPublic = change.isPublic ?? before.isPublic;
  if (isAdministrator(caller)) return { publication: isPublic ? 'approved' : undefined };
  if (before.publication === 'refused') return change.isPublic === true ? { publication: undefined } : {};
  const isSame = Object.entries(change).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(before[field as keyof AgentRecord]),
  );
  return isSame ? {} : { publication: undefined };
}

function isAdministrator(caller: Caller): boolean {
  return caller.kind === 'token' && caller.isAdmin;
}

/** @throws ApiError 404 for an agent that is not visible to the user. */
export async function usableAgent(reach: AgentReach, userId: string, id: string): Promise<AgentRecord> {
  const agent = await reach.find(userId, id);
  if (agent === undefined) throw agentNotFound();
  return agent;
}

/** @throws ApiError 403 while the setting `EnableAgents` is off. */
export async function requireAgents(adminSettings: AdminSettingsReader): Promise<void> {
  if (!(await adminSettings.current()).EnableAgents) throw forbidden('Agents are switched off');
}

export function agentNotFound(): ApiError {
  return notFound('Agent', 'AGENT_NOT_FOUND');
}
