import { DELEGATE_TO_AGENT } from '../agents/delegation.ts';
import { permits, type ToolLimits } from '../agents/terms.ts';
import type { Payer } from '../call.ts';
import type { ToolOffer, ToolRegistry, ToolScope } from '../tools/registry.ts';
import type { ChatBody, ToolEcho } from './contract.ts';
import type { ChatFeatures } from './request.ts';

const MOST_UNRECOGNIZED = 10;
const NO_LIMITS: ToolLimits = { denied: [] };

/** What the session says about tools. */
interface SessionTools {
  readonly enabledTools?: readonly string[] | undefined;
  readonly disabledTools?: readonly string[] | undefined;
}

export interface ChosenTools {
  /** Ids of the tools to offer to the model. */
  readonly effective: readonly string[];
  /** What the answer tells of it; undefined when the request did not speak of tools. */
  readonly echo: ToolEcho | undefined;
}

/** Whether a turn has to do with tools at all: most have not, and pay nothing for it. */
export function speaksOfTools(body: ChatBody, session: SessionTools): boolean {
  return asksForTools(body) || hasTools(session) || body.enableAgents === true;
}

function hasTools({ enabledTools = [] }: SessionTools): boolean {
  return enabledTools.length > 0;
}

/** Who a turn's tools are for. */
export function scopeOf(
  userId: string,
  sessionId: string,
  payer: Payer,
  features: ChatFeatures | undefined,
): ToolScope {
  return { userId, sessionId, payer, ...(features?.agents === true && { agents: true }) };
}

function asksForTools({ enableTools, toolMode, tools = [] }: ChatBody): boolean {
  return enableTools || toolMode !== undefined || tools.length > 0;
}

/**
 * The tools of one turn. A mode beats `enableTools`; `fast` offers none; `smart` those that fit the message and the named
 * ones; without a mode `enableTools` brings the default set, and naming tools brings those. What the server adds by
 * itself stays away with `skip_auto_offers` and under any prompt mode. Gated tools never come by themselves: naming one,
 * in the request or in the session, approves it. @see open points, 3.2
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
    const ofSession = await recognized(registry, scope, session.enabledTools ?? []);
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
        unrecognizedTools: unrecognized.slice(0, MOST_UNRECOGNIZED),
      }
    : undefined;
  return { effective, echo };
}

/** What the server adds to the named ones. */
async function addedTools(
  registry: ToolRegistry,
  scope: ToolScope,
  { message, toolMode, enableTools, skip_auto_offers, promptMode }: ChatBody,
): Promise<string[]> {
  const offersItself = skip_auto_offers !== true && promptMode === undefined;
  // What needs approval is offered to those who name it, and to nobody else.
  const isAllowed = ({ offered, gated = false }: ToolOffer): boolean =>
    !gated && (offersItself || offered !== 'automatic');
  if (toolMode === 'smart') return ids((await registry.select(message, scope)).filter(isAllowed));
  const wanted = enableTools ? ['default', 'automatic'] : ['automatic'];
  return ids(
    (await registry.list(scope)).filter((offer) => wanted.includes(offer.offered) && isAllowed(offer)),
  );
}

/** A turn that has to do with agents, and with no tools beside, gets the one to bring them in. */
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
