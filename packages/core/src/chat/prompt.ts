import type { AgentCard } from '../agents/events.ts';
import type { Payer } from '../call.ts';
import { countCharacters, estimateTokens } from '../credits/estimates.ts';
import type { SessionRecord } from '../sessions/records.ts';
import type { PromptDetail } from './contract.ts';
import type { ChatFeatures, PromptMode } from './request.ts';

/** One text that tells the model how to behave, and where it comes from. */
export interface PromptPart {
  readonly source: PromptDetail['source'];
  readonly name: string;
  readonly text: string;
  /** The agent that speaks through it. */
  readonly agent?: AgentCard;
  /** What it quotes, for whoever shows the answer. */
  readonly citation?: Citation;
  /** It was left out before there was anything to put together; it is told of all the same. */
  readonly leftOut?: NonNullable<PromptDetail['exclusionReason']>;
}

/** A passage of a document that a turn was given. */
export interface Citation {
  readonly file_id: string;
  readonly file_name: string;
  readonly lake_id?: string;
  readonly chunk_id?: string;
  readonly score?: number;
}

export interface PromptContext {
  /** Whose turn it is. */
  readonly userId: string;
  readonly session: SessionRecord;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly askedAt: number;
  readonly promptMode: PromptMode | undefined;
  /** What the turn does beside answering. */
  readonly features: ChatFeatures | undefined;
  /** The request's own text. */
  readonly systemPrompt: string | undefined;
  /** Who pays for what a source asks of models, under keys that begin with this id. Absent: nothing is asked. */
  readonly turn?: { readonly id: string; readonly payer: Payer; readonly requestId: string };
}

/** Adds to the system text of turns. Quick when it has nothing to say. */
export type PromptSource = (context: PromptContext) => readonly PromptPart[] | Promise<readonly PromptPart[]>;

/** What stands before what. The request's own text comes after everything else. */
const ORDER: readonly PromptDetail['source'][] = [
  'hardcoded',
  'admin',
  'org',
  'project',
  'user',
  'session',
  'caller',
];

const SEPARATOR = '\n\n';

const BASE =
  'You are an assistant in a shared workspace. Answer in the language of the question, use Markdown where it helps, and say so when you do not know.';

const MODE_TEXTS: Readonly<Record<Exclude<PromptMode, 'raw'>, string>> = {
  grounded:
    'Answer only from this conversation and the material given with it. When the answer is not there, say that it is not.',
  surface: 'Your answer is shown in a small view beside other work: be brief, and use plain text.',
};

/** The parts every installation has: ours, the mode's, the host's, the session's and the request's. */
export function builtInPrompt(hostText: string | undefined): PromptSource {
  return ({ session, promptMode, systemPrompt }) => {
    const parts: PromptPart[] = [{ source: 'hardcoded', name: 'base', text: BASE }];
    if (promptMode !== undefined && promptMode !== 'raw') {
      parts.push({ source: 'hardcoded', name: `mode:${promptMode}`, text: MODE_TEXTS[promptMode] });
    }
    if (hostText !== undefined) parts.push({ source: 'admin', name: 'workspace', text: hostText });
    if (session.systemPromptText !== undefined) {
      parts.push({ source: 'session', name: 'session', text: session.systemPromptText });
    }
    if (systemPrompt !== undefined)
      parts.push({ source: 'caller', name: 'systemPrompt', text: systemPrompt });
    return parts;
  };
}

export interface SystemPrompt {
  readonly text: string;
  /** In the order of the text. The counts of included parts add up to the estimate of the whole text. */
  readonly details: readonly PromptDetail[];
  readonly tokens: number;
  /** The agents that speak through it. */
  readonly agents: readonly AgentCard[];
  /** What it quotes. */
  readonly citations: readonly Citation[];
}

/** Asks all sources and puts the system text of one turn together. */
export async function composePrompt(
  sources: readonly PromptSource[],
  context: PromptContext,
  tokenLimit: number,
): Promise<SystemPrompt> {
  const parts: PromptPart[] = [];
  for (const source of sources) {
    const more = source(context);
    parts.push(...(more instanceof Promise ? await more : more));
  }
  const inOrder = parts
    .filter(({ text }) => text.trim() !== '')
    .sort((a, b) => ORDER.indexOf(a.source) - ORDER.indexOf(b.source));
  return joinParts(inOrder, exclusions(inOrder, context.promptMode, tokenLimit));
}

/** Which parts are left out and why. What the request brought is the last to yield. */
function exclusions(
  parts: readonly PromptPart[],
  mode: PromptMode | undefined,
  tokenLimit: number,
): ReadonlyMap<PromptPart, NonNullable<PromptDetail['exclusionReason']>> {
  const excluded = new Map<PromptPart, NonNullable<PromptDetail['exclusionReason']>>();
  const seen = new Set<string>();
  let left = tokenLimit * 2.5;
  const byWeight = [...parts].sort((a, b) => Number(b.source === 'caller') - Number(a.source === 'caller'));
  for (const part of byWeight) {
    const size = countCharacters(part.text) + SEPARATOR.length;
    if (part.leftOut !== undefined) excluded.set(part, part.leftOut);
    else if (mode === 'raw' && part.source !== 'caller') excluded.set(part, 'disabled');
    else if (seen.has(part.text.trim())) excluded.set(part, 'duplicate');
    else if (size > left) excluded.set(part, 'token_limit');
    else left -= size;
    seen.add(part.text.trim());
  }
  return excluded;
}

function joinParts(
  parts: readonly PromptPart[],
  excluded: ReadonlyMap<PromptPart, NonNullable<PromptDetail['exclusionReason']>>,
): SystemPrompt {
  let text = '';
  let characters = 0;
  let tokens = 0;
  const details = parts.map((part): PromptDetail => {
    const exclusionReason = excluded.get(part);
    const size = countCharacters(part.text);
    const { source, name } = part;
    if (exclusionReason !== undefined) {
      return { source, name, tokenCount: estimateTokens(size), wasIncluded: false, exclusionReason };
    }
    characters += size + (text === '' ? 0 : SEPARATOR.length);
    text += (text === '' ? '' : SEPARATOR) + part.text;
    // What the whole has grown by: so the parts add up to it, whatever is rounded.
    const tokenCount = estimateTokens(characters) - tokens;
    tokens += tokenCount;
    return { source, name, tokenCount, wasIncluded: true };
  });
  const included = parts.filter((part) => !excluded.has(part));
  const agents = included.map(({ agent }) => agent).filter((agent) => agent !== undefined);
  const citations = included.map(({ citation }) => citation).filter((citation) => citation !== undefined);
  return { text, details, tokens, agents, citations };
}
