import { firstDistinct, MAX_TOOLS } from '../../contract/lists.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../../tools/registry.ts';
import { getToolLimits, permits } from '../agents/options.ts';
import type { AgentRecord } from '../agents/records.ts';
import type { SessionRecord } from '../sessions/records.ts';

/** The tools of one run. */
export interface Toolset {
  readonly offers: readonly ToolOffer[];
  /** Filters additional tools to those that this run may also be offered. */
  unlock(ids: readonly string[]): Promise<readonly ToolOffer[]>;
  /** Whether a call needs an approval that was not given in advance. */
  needsApproval(offer: ToolOffer): boolean;
  /** Returns why an unapproved tool must not be called; undefined when it may. */
  refusal(name: string): string | undefined;
}

/**
 * Combines the default set, the server's automatic offers, the session's tools and the approved ones, without those that
 * session or agent deny. A gated tool is offered unapproved too: a call of it waits for the user or, without `approvals`, ends
 * the run with a request for approval.
 */
export async function createToolset(
  registry: ToolRegistry,
  scope: ToolScope,
  session: SessionRecord,
  agent: AgentRecord | undefined,
  approvedIds: readonly string[],
  /** Tools that are offered only on request. */
  withheld: readonly string[],
): Promise<Toolset> {
  const named = new Set([...approvedIds, ...firstDistinct(session.enabledTools, MAX_TOOLS)]);
  const found = await Promise.all([...named].map((id) => registry.find(id, scope)));
  const usual = (await registry.list(scope)).filter(
    ({ id, offered }) => offered !== 'requested' && !withheld.includes(id),
  );
  const limits = agent === undefined ? undefined : getToolLimits([agent]);
  const isAllowed = ({ id }: ToolOffer): boolean =>
    session.disabledTools?.includes(id) !== true && (limits === undefined || permits(limits, id));
  const offers = new Map<string, ToolOffer>();
  for (const offer of [...usual, ...found]) {
    if (offer !== undefined && isAllowed(offer)) offers.set(offer.id, offer);
  }
  const approved = new Set(approvedIds);
  const needsApproval = ({ id, gated = false }: ToolOffer): boolean => gated && !approved.has(id);
  return {
    offers: [...offers.values()],
    async unlock(ids) {
      const wanted = await Promise.all(ids.map((id) => registry.find(id, scope)));
      // Runs are offered gated tools anyway; approval happens before the call.
      return wanted.filter(
        (offer) => offer !== undefined && isAllowed(offer) && offer.gated !== true,
      ) as ToolOffer[];
    },
    needsApproval,
    refusal(name) {
      const offer = [...offers.values()].find(({ schema }) => schema.name === name);
      if (offer === undefined || !needsApproval(offer)) return undefined;
      return `The run needs the tool '${offer.id}', which was not approved in advance. Name it in 'tools' to approve it.`;
    },
  };
}
