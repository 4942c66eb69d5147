import type { AgentCard } from '../contract/agent-card.ts';
import type { Payer } from '../contract/call.ts';
import type { ToolSchema, ToolServerFailure } from '../ports/models.ts';
import type { Json } from '../ports/store.ts';

/** The user and the session that the tools of a turn are for. */
export interface ToolScope {
  readonly userId: string;
  readonly sessionId: string;
  /** The payer of paid tools. */
  readonly payer: Payer;
  /** True: the turn may consult agents. */
  readonly agents?: true;
}

/** A tool that a turn can offer to its model. */
export interface ToolOffer {
  /** The id that clients use. */
  readonly id: string;
  readonly schema: ToolSchema;
  /**
   * `default`: part of the default set of `enableTools`. `automatic`: added to every turn with tools, unless
   * suppressed. `requested`: only if the request names its id.
   */
  readonly offered: 'default' | 'automatic' | 'requested';
  /**
   * True: the tool has external side effects or costs and needs approval: the request or the session must name it. An
   * agent run that needs it without approval ends.
   */
  readonly gated?: boolean;
}

/** A tool call of a model. */
export interface ToolCall {
  /** The tool's id. */
  readonly tool: string;
  /** The input from the model, before validation. */
  readonly input: unknown;
}

/** What a tool knows about the call: user, session, payer, and when to stop. */
export interface ToolContext extends ToolScope {
  /** The quest and the index of the call: stable after a restart, so a tool can use it as an idempotency key. */
  readonly callKey: string;
  readonly requestId: string;
  /** Aborts when the work stops. */
  readonly signal: AbortSignal;
  /**
   * Consults an agent within this turn, with the turn's model and at the expense of its quest. Absent if not
   * possible: an agent cannot consult another agent. Rejects with an `ApiError` if the model or the credit is
   * missing. @returns the text of the agent.
   */
  readonly consult?: (consultation: Consultation) => Promise<string>;
}

/** The task for an agent. */
export interface Consultation {
  readonly agent: AgentCard;
  /** The description of the agent. */
  readonly system: string;
  readonly task: string;
  /** The tools of the turn that the agent can use. */
  mayUse(tool: string): boolean;
}

/** The result of a tool call. Create it with `answered` or `failed`. */
export interface ToolResult {
  /** The text for the model. */
  readonly content: string;
  /** The content for the client. */
  readonly payload?: { readonly type: string; readonly payload?: Json };
  readonly isError: boolean;
  /** Why the call failed outside of the tool, for tools of tool servers. */
  readonly failure?: ToolServerFailure;
  /** Ids of additional tools for the rest of this turn. Tools that need approval are not allowed. */
  readonly unlocks?: readonly string[];
}

/** The tools of one tool server, for one user. */
export interface ToolServerOffers {
  readonly tools: readonly ToolServerOffer[];
  /** Why there are none, in words for the user. */
  readonly error?: string;
  /** The address of the server, if it has one. */
  readonly url?: string;
}

/** A tool of a tool server. */
export interface ToolServerOffer {
  readonly offer: ToolOffer;
  /** The name that the server has for the tool. */
  readonly name: string;
  /** The server marks the tool as read-only. */
  readonly isReadOnly: boolean;
  /** True: the tool stands for the tools that the user can reach after an authorization, and sends nothing to the server. */
  readonly connects?: true;
}

/** Provides tools. Called during requests: must be fast, and should return synchronously if possible. */
export interface ToolRegistry {
  /** Lists all tools that are available to this caller. */
  list(scope: ToolScope): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  /** Finds a tool by id. @returns undefined for an id that is unknown to this caller. */
  find(id: string, scope: ToolScope): ToolOffer | undefined | Promise<ToolOffer | undefined>;
  /** Smart selection: returns the tools of the list that match the message. */
  select(message: string, scope: ToolScope): readonly ToolOffer[] | Promise<readonly ToolOffer[]>;
  /** Runs one call. Return a failure of the tool as a result with `isError`; a rejection is treated the same. */
  run(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  /**
   * Lists the tools of one tool server. Never rejects because of the server. @returns undefined for an unknown server.
   * Default: there are no tool servers.
   */
  listServer?(serverId: string, scope: ToolScope): Promise<ToolServerOffers | undefined>;
  /**
   * Ends what a user has authorized at a server of tools, and deletes its tokens. Called for each such server when the user
   * is erased. Default: only the tokens are deleted.
   */
  disconnect?(userId: string, serverId: string): Promise<void>;
}
