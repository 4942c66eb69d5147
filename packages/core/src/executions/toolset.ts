import type { AgentRecord } from '../agents/records.ts';
import { permits, toolLimitsOf } from '../agents/terms.ts';
import type { SessionRecord } from '../sessions/records.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../tools/registry.ts';

/** The tools of one run. */
export interface Toolset {
  readonly offers: readonly ToolOffer[];
  /** Of more tools, those that this run may be offered too. */
  unlock(ids: readonly string[]): Promise<readonly ToolOffer[]>;
  /** Why a tool must not be used without having been approved; undefined when it may. */
  refusal(name: string): string | undefined;
}

/**
 * The default set, what the server adds by itself, the session's own and the approved ones, less what session and agent
 * deny. A gated tool is offered unapproved too: needing it ends the run, which says what to approve.
 */
export async function toolsetOf(
  registry: ToolRegistry,
  scope: ToolScope,
  session: SessionRecord,
  agent: AgentRecord | undefined,
  approvedIds: readonly string[],
  /** Those that come only when they are named. */
  withheld: readonly string[],
): Promise<Toolset> {
  const named = [...approvedIds, ...(session.enabledTools ?? [])];
  const found = await Promise.all(named.map((id) => registry.find(id, scope)));
  const usual = (await registry.list(scope)).filter(
    ({ id, offered }) => offered !== 'requested' && !withheld.includes(id),
  );
  const limits = agent === undefined ? undefined : toolLimitsOf([agent]);
  const isAllowed = ({ id }: ToolOffer): boolean =>
    session.disabledTools?.includes(id) !== true && (limits === undefined || permits(limits, id));
  const offers = new Map<string, ToolOffer>();
  for (const offer of [...usual, ...found]) {
    if (offer !== undefined && isAllowed(offer)) offers.set(offer.id, offer);
  }
  const approved = new Set(approvedIds);
  return {
    offers: [...offers.values()],
    async unlock(ids) {
      const wanted = await Promise.all(ids.map((id) => registry.find(id, scope)));
      // What needs approval is offered to runs anyhow, and only approval opens it.
      return wanted.filter(
        (offer) => offer !== undefined && isAllowed(offer) && offer.gated !== true,
      ) as ToolOffer[];
    },
    refusal(name) {
      const offer = [...offers.values()].find(({ schema }) => schema.name === name);
      if (offer?.gated !== true || approved.has(offer.id)) return undefined;
      return `The run needs the tool '${offer.id}', which was not approved in advance. Name it in 'tools' to approve it.`;
    },
  };
}
