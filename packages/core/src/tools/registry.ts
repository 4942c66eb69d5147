import type { AgentCard } from '../agents/events.ts';
import type { Payer } from '../call.ts';
import type { ToolSchema } from '../ports/models.ts';
import type { Json } from '../ports/store.ts';

/** Who a turn's tools are for. */
export interface ToolScope {
  readonly userId: string;
  readonly sessionId: string;
  /** Who pays for what a tool spends. */
  readonly payer: Payer;
  /** The turn has to do with agents: they may be brought in. */
  readonly agents?: true;
}

/** A tool as a turn may offer it to its model. */
export interface ToolOffer {
  /** What callers name it by. */
  readonly id: string;
  readonly schema: ToolSchema;
  /**
   * `default`: part of the set that `enableTools` brings. `automatic`: the server adds it to a turn with tools by itself,
   * unless that is suppressed. `requested`: only when its id is named.
   */
  readonly offered: 'default' | 'automatic' | 'requested';
  /**
   * It changes something outside this service or spends there, and is used only with approval: of a request that names
   * it, or in a turn of the session that does. An agent's run that needs it unapproved ends.
   */
  readonly gated?: boolean;
}

/** What a model asks for. */
export interface ToolCall {
  /** The tool's id. */
  readonly tool: string;
  /** As the model wrote it; not yet checked against the tool's schema. */
  readonly input: unknown;
}

export interface ToolContext extends ToolScope {
  /** The quest, and the place of the call in it: the same after a restart, so that a tool can tell a repeated call. */
  readonly callKey: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /**
   * Has an agent do something within this turn, by the turn's model, paid for by its quest. Absent where that is not
   * possible: an agent at work asks no other one. Rejects with an `ApiError` when the model or the credit is not there.
   * @returns what the agent said.
   */
  readonly consult?: (consultation: Consultation) => Promise<string>;
}

/** What an agent is given to do. */
export interface Consultation {
  readonly agent: AgentCard;
  /** Who the agent is. */
  readonly system: string;
  readonly task: string;
  /** Of the turn's tools, those the agent may use. */
  mayUse(tool: string): boolean;
}

export interface ToolResult {
  /** What the model is told. */
  readonly content: string;
  /** What the client is shown. */
  readonly payload?: { readonly type: string; readonly payload?: Json };
  readonly isError: boolean;
  /** Ids of tools that this turn may use from now on, beside those it was offered. Never one that needs approval. */
  readonly unlocks?: readonly string[];
}

/** The tools there are. Asked on the way of a request: quick, and without a promise where none is needed. */
export interface ToolRegistry {
  /** All that this caller's turns may be offered. */
  list(scope: ToolScope): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  /** @returns undefined for an id that is unknown to this caller. */
  find(id: string, scope: ToolScope): ToolOffer | undefined | Promise<ToolOffer | undefined>;
  /** `smart`: those of the list that fit what was said. */
  select(message: string, scope: ToolScope): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  /** Runs one call. A failure of the tool is a result with `isError`; rejecting counts as one too. */
  run(call: ToolCall, context: ToolContext): Promise<ToolResult>;
}
