import { firstDistinct, MAX_TOOLS } from '../../contract/lists.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../../tools/registry.ts';
import { DELEGATE_TO_AGENT } from '../agents/delegation.ts';
import { permits, type ToolLimits } from '../agents/options.ts';
import type { ChatBody, ToolEcho } from './contract.ts';

const MAX_UNRECOGNIZED = 10;
const NO_LIMITS: ToolLimits = { denied: [] };

/** The tool settings of the session. */
interface SessionTools {
  readonly enabledTools?: readonly string[] | undefined;
  readonly disabledTools?: readonly string[] | undefined;
}

export interface ChosenTools {
  /** Ids of the tools offered to the model. */
  readonly effective: readonly string[];
  /** The tool report of the response; undefined when the request does not mention tools. */
  readonly echo: ToolEcho | undefined;
}

/** Whether a turn involves tools at all: most do not, and skip the lookups. */
export function usesTools(body: ChatBody, session: SessionTools): boolean {
  return asksForTools(body) || hasTools(session) || body.enableAgents === true;
}

function hasTools({ enabledTools = [] }: SessionTools): boolean {
  return enabledTools.length > 0;
}

function asksForTools({ enableTools, toolMode, tools = [] }: ChatBody): boolean {
  return enableTools || toolMode !== undefined || tools.length > 0;
}

/**
 * Chooses the tools of one turn. A mode takes precedence over `enableTools`; `fast` offers none; `smart` those that match
 * the message, and the named ones; without a mode `enableTools` adds the default set, and `tools` adds the named ones.
 * Automatic offers are left out with `skip_auto_offers` and under any prompt mode. With `approvals` the calls of gated tools
 * wait for the user. Without it gated tools are never automatic: the request or the session approves one by naming it.
 */
export async function chooseTools(
  registry: ToolRegistry,
  scope: ToolScope,
  body: ChatBody,
  session: SessionTools,
  supportsTools: boolean,
  limits: ToolLimits = NO_LIMITS,
): Promise<ChosenTools> {
  const { toolMode } = body;
  const named = distinct(body.tools ?? []);
  const known: string[] = [];
  const unrecognized: string[] = [];
  for (const id of named) {
    if ((await registry.find(id, scope)) === undefined) unrecognized.push(id);
    else known.push(id);
  }
  const disabled = new Set(session.disabledTools);
  const usable = (ids: readonly string[]): string[] =>
    distinct(ids).filter((id) => !disabled.has(id) && permits(limits, id));
  let added: readonly string[] = [];
  let effective: string[] = [];
  if (toolMode !== 'fast' && supportsTools) {
    const ofSession = await recognized(registry, scope, firstDistinct(session.enabledTools, MAX_TOOLS));
    added =
      asksForTools(body) || hasTools(session)
        ? await addedTools(registry, scope, body)
        : await delegation(registry, scope, body);
    effective = usable([...added, ...known, ...ofSession]);
  }
  const echo: ToolEcho | undefined = asksForTools(body)
    ? {
        ...(toolMode !== undefined && { toolMode }),
        autoSelectedTools: usable(added),
        effectiveTools: effective,
        unrecognizedTools: unrecognized.slice(0, MAX_UNRECOGNIZED),
      }
    : undefined;
  return { effective, echo };
}

/** Tools that the server adds to the named ones. */
async function addedTools(
  registry: ToolRegistry,
  scope: ToolScope,
  { message, toolMode, enableTools, skip_auto_offers, promptMode, approvals = false }: ChatBody,
): Promise<string[]> {
  const offersItself = skip_auto_offers !== true && promptMode === undefined;
  // Where their calls do not wait, gated tools are offered only when they are named.
  const isAllowed = ({ offered, gated = false }: ToolOffer): boolean =>
    (!gated || approvals) && (offersItself || offered !== 'automatic');
  if (toolMode === 'smart') return ids((await registry.select(message, scope)).filter(isAllowed));
  const wanted = enableTools ? ['default', 'automatic'] : ['automatic'];
  return ids(
    (await registry.list(scope)).filter((offer) => wanted.includes(offer.offered) && isAllowed(offer)),
  );
}

/** Adds the delegation tool to a turn that involves agents but no other tools. */
async function delegation(
  registry: ToolRegistry,
  scope: ToolScope,
  { skip_auto_offers, promptMode }: ChatBody,
): Promise<string[]> {
  if (skip_auto_offers === true || promptMode !== undefined) return [];
  return recognized(registry, scope, [DELEGATE_TO_AGENT]);
}

async function recognized(
  registry: ToolRegistry,
  scope: ToolScope,
  wanted: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(wanted.map((id) => registry.find(id, scope)));
  return ids(found.filter((offer) => offer !== undefined));
}

function ids(offers: readonly ToolOffer[]): string[] {
  return offers.map(({ id }) => id);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
