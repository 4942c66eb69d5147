import { toIdSet } from '../../access/links.ts';
import { isId } from '../../contract/identifiers.ts';
import { firstDistinct } from '../../contract/lists.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { MAX_SESSION_AGENTS, type SessionRecord } from '../sessions/records.ts';
import { AGENTS, type AgentRecord, canUseAgent, isPublished } from './records.ts';

/** The fields that decide about the agents of a session. */
export type AgentSession = Pick<SessionRecord, 'ownerId' | 'agentIds'>;

/**
 * The one rule for the agents that a user may use: the user's own, those shared with the user, published ones, and, in
 * the turns of a session, those attached agents that belong to the session's owner. An attached agent of another user is
 * available only to users who may use it anyway: write access to a session must not add text to other users' prompts.
 * Views and events show only the agents that are usable everywhere.
 */
export interface AgentReach {
  /** Agents that the user may read and use anywhere. */
  usable(userId: string): Promise<Filter<AgentRecord>>;
  /** Agents that all users may read and use. */
  published(): Promise<Filter<AgentRecord>>;
  /** @param session also includes agents that the user may use only in this session. */
  find(userId: string, id: string, session?: AgentSession): Promise<AgentRecord | undefined>;
  /**
   * Returns those of `ids` that the user may read and use anywhere, in their order. Lists from before the maximum existed
   * are cut to the first `MAX_SESSION_AGENTS`.
   */
  list(userId: string, ids: readonly string[]): Promise<readonly AgentRecord[]>;
  /** The ids of agents that exist, for all users. At most 1,000. */
  listExisting(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The attached agents that the user may use, in the order of the session. */
  attached(userId: string, session: AgentSession): Promise<readonly AgentRecord[]>;
}

export function createAgentReach({
  store,
  adminSettings,
}: {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
}): AgentReach {
  const agents = store.collection(AGENTS);
  const usable: AgentReach['usable'] = async (userId) =>
    canUseAgent(userId, (await adminSettings.current()).AgentPublishing);

  const inSession = async (userId: string, { ownerId }: AgentSession): Promise<Filter<AgentRecord>> => ({
    anyOf: [await usable(userId), { ownerId }],
  });

  const findAll = async (
    ids: readonly string[],
    which: () => Promise<Filter<AgentRecord>>,
  ): Promise<readonly AgentRecord[]> => {
    const wanted = firstDistinct(ids, MAX_SESSION_AGENTS);
    if (wanted.length === 0) return [];
    const found = await agents.find({ ...(await which()), id: { in: wanted } });
    const byId = new Map(found.map((agent) => [agent.id, agent]));
    return wanted.map((id) => byId.get(id)).filter((agent) => agent !== undefined);
  };

  return {
    usable,
    published: async () => isPublished((await adminSettings.current()).AgentPublishing),

    async find(userId, id, session) {
      if (!isId(id)) return undefined;
      const isAttached = session?.agentIds?.includes(id) === true;
      return agents.get(id, isAttached ? await inSession(userId, session) : await usable(userId));
    },

    list: async (userId, ids) => findAll(ids, () => usable(userId)),
    listExisting: async (ids) => toIdSet(await agents.find({ id: { in: ids } })),
    attached: async (userId, session) => findAll(session.agentIds ?? [], () => inSession(userId, session)),
  };
}
