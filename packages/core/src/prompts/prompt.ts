import type { AgentCard } from '../contract/agent-card.ts';
import type { Payer } from '../contract/call.ts';
import type { SessionView } from '../contract/session.ts';
import { estimateTokens } from '../credits/estimates.ts';
import { countCharacters } from '../shared/characters.ts';
import type { PromptDetail, PromptMode } from './contract.ts';

/** One part of the system prompt, with its source. */
export interface PromptPart {
  readonly source: PromptDetail['source'];
  readonly name: string;
  readonly text: string;
  /** True: only for this turn. Placed next to the message, and omitted first. */
  readonly perTurn?: true;
  /** The agent that the part belongs to. */
  readonly agent?: AgentCard;
  /** The quoted sources, for display with the answer. */
  readonly citation?: Citation;
  /**
   * True: the text belongs to another user or to the host. The model receives it; the user of the turn sees only its
   * name.
   */
  readonly isPrivate?: boolean;
  /** Omitted before assembly; still listed in the details. */
  readonly leftOut?: NonNullable<PromptDetail['exclusionReason']>;
}

/** A document passage in the prompt of a turn. */
export interface Citation {
  readonly file_id: string;
  readonly file_name: string;
  readonly lake_id?: string;
  readonly chunk_id?: string;
  readonly score?: number;
}

/** The purposes of a turn other than an answer. */
export interface ChatFeatures {
  readonly questMaster: boolean;
  readonly mementos: boolean;
  readonly agents: boolean;
}

export interface PromptContext {
  /** The user of the turn. */
  readonly userId: string;
  readonly session: SessionView;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  readonly promptMode: PromptMode | undefined;
  /** What the turn does beside answering. */
  readonly features: ChatFeatures | undefined;
  /** The system prompt of the request. */
  readonly systemPrompt: string | undefined;
  /**
   * The payer of model calls by prompt sources; their hold keys start with this id. Absent: sources call no models.
   */
  readonly turn?: { readonly id: string; readonly payer: Payer; readonly requestId: string };
}

/** Adds parts to the system prompt of a turn. Must be fast if it has none. */
export type PromptSource = (context: PromptContext) => readonly PromptPart[] | Promise<readonly PromptPart[]>;

/** The order of parts by source. The text of the request comes last. */
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
  'You are an assistant in a shared workspace. Answer in the language of the question. Use Markdown where it helps. If you do not know the answer, say so.';

const MODE_TEXTS: Readonly<Record<Exclude<PromptMode, 'raw'>, string>> = {
  grounded: 'Use only this conversation and the documents in it. If they do not contain the answer, say so.',
  surface: 'The answer is shown in a small side panel. Be brief. Use plain text.',
};

/** The built-in parts: base text, mode, workspace, session and request. */
export function builtInPrompt(hostText: string | undefined): PromptSource {
  return ({ userId, session, promptMode, systemPrompt }) => {
    const parts: PromptPart[] = [{ source: 'hardcoded', name: 'base', text: BASE }];
    if (promptMode !== undefined && promptMode !== 'raw') {
      parts.push({ source: 'hardcoded', name: `mode:${promptMode}`, text: MODE_TEXTS[promptMode] });
    }
    if (hostText !== undefined) {
      parts.push({ source: 'admin', name: 'workspace', text: hostText, isPrivate: true });
    }
    if (session.systemPromptText !== undefined) {
      const isPrivate = session.ownerId !== userId;
      parts.push({ source: 'session', name: 'session', text: session.systemPromptText, isPrivate });
    }
    if (systemPrompt !== undefined)
      parts.push({ source: 'caller', name: 'systemPrompt', text: systemPrompt });
    return parts;
  };
}

export interface SystemPrompt {
  /** The complete prompt: the system text, then the parts for this turn. */
  readonly text: string;
  /** `text` with private parts replaced by their names, for the user of the turn. */
  readonly shownText: string;
  /** The stable prefix of the conversation, equal in every turn. */
  readonly systemText: string;
  /** The parts next to the message. */
  readonly turnText: string;
  /** In the order of the text. The token counts of included parts add up to the estimate of the whole text. */
  readonly details: readonly PromptDetail[];
  readonly tokens: number;
  /** The agents in the prompt. */
  readonly agents: readonly AgentCard[];
  /** The quoted sources. */
  readonly citations: readonly Citation[];
}

/** Builds the prompt of one turn from all sources. */
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
  const inOrder = parts.filter(({ text }) => text.trim() !== '').sort((a, b) => getPlace(a) - getPlace(b));
  return joinParts(inOrder, exclusions(inOrder, context.promptMode, tokenLimit));
}

/** Places the parts for one turn last. */
function getPlace({ source, perTurn }: PromptPart): number {
  return ORDER.indexOf(source) + (perTurn === true ? ORDER.length : 0);
}

/**
 * Decides which parts are omitted, with the reason. Parts for one turn are omitted first, parts of the request last.
 */
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
  let shownText = '';
  let characters = 0;
  let tokens = 0;
  const details = parts.map((part): PromptDetail => {
    const exclusionReason = excluded.get(part);
    const size = countCharacters(part.text);
    const { source, name } = part;
    const withheld = part.isPrivate === true ? ({ withheld: true } as const) : {};
    if (exclusionReason !== undefined) {
      const tokenCount = estimateTokens(size);
      return { source, name, tokenCount, wasIncluded: false, exclusionReason, ...withheld };
    }
    characters += size + (text === '' ? 0 : SEPARATOR.length);
    const separator = text === '' ? '' : SEPARATOR;
    text += separator + part.text;
    shownText += separator + (part.isPrivate === true ? `[not shown: ${name}]` : part.text);
    // The growth of the total, so that the parts add up to it despite rounding.
    const tokenCount = estimateTokens(characters) - tokens;
    tokens += tokenCount;
    return { source, name, tokenCount, wasIncluded: true, ...withheld };
  });
  const included = parts.filter((part) => !excluded.has(part));
  const agents = included.map(({ agent }) => agent).filter((agent) => agent !== undefined);
  const citations = included.map(({ citation }) => citation).filter((citation) => citation !== undefined);
  const joined = (isPerTurn: boolean): string =>
    included
      .filter(({ perTurn }) => (perTurn === true) === isPerTurn)
      .map((part) => part.text)
      .join(SEPARATOR);
  return {
    text,
    shownText,
    systemText: joined(false),
    turnText: joined(true),
    details,
    tokens,
    agents,
    citations,
  };
}
