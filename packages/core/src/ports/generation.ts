import type { Usage } from './ledger.ts';
import type { ModelMessage, ThinkingBlock, ToolSchema } from './model-messages.ts';
import type { CallOptions } from './options.ts';

/**
 * Whether the model may (`auto`), must (`required`) or must not (`none`) call a tool. `{name}`: it must call this
 * tool.
 */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** Reasoning effort. A provider maps an unsupported level to the nearest supported one. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

/** Hints for a provider's prompt cache. A provider without one ignores them. */
export interface PromptCacheHints {
  /** `off`: the provider sets no cache breakpoints and no cache key. */
  readonly mode: 'auto' | 'off';
  /** Lifetime of cache entries, if the provider offers a choice. */
  readonly ttl?: '5m' | '1h';
  /** Calls with the same key share a prompt prefix. At most 64 characters; never a secret or a plain user id. */
  readonly key?: string;
}

/** A call of a text model. */
export interface GenerateRequest {
  /** The provider's name for the model. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSchema[];
  /**
   * Default `auto`. `none` forbids tool calls but keeps the tools in the request, because a history with tool calls
   * needs them.
   */
  readonly toolChoice?: ToolChoice;
  /** Default: the provider's default. */
  readonly parallelToolCalls?: boolean;
  /** Whole, 1 or more. */
  readonly maxTokens: number;
  readonly temperature?: number;
  /** 0 to 1. */
  readonly topP?: number;
  /** Whole, 1 or more. */
  readonly topK?: number;
  /** Stop sequences. The provider may support fewer than given. */
  readonly stop?: readonly string[];
  /** Whole. */
  readonly seed?: number;
  readonly thinking?: { readonly budgetTokens: number };
  readonly reasoningEffort?: ReasoningEffort;
  /** Default: `auto`. */
  readonly promptCache?: PromptCacheHints;
  /** `json`: any JSON object; `schema`: JSON that follows the schema. */
  readonly responseFormat?:
    | { readonly type: 'json' }
    | {
        readonly type: 'schema';
        readonly name: string;
        readonly schema: Readonly<Record<string, unknown>>;
        readonly strict?: boolean;
      };
}

/** A field that a vendor or a model may have no place for. */
export type IgnorableField =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'stop'
  | 'seed'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'reasoningEffort'
  | 'thinking'
  | 'responseFormat';

/** Options of one provider call. */
export interface GenerateOptions extends CallOptions {
  /** The user's own provider key; replaces the key of the host. */
  readonly apiKey?: string;
}

/** Why an answer ended. `max_tokens`: it reached the output cap. */
export type FinishReason = 'stop' | 'max_tokens' | 'tool_use' | 'content_filter' | 'other';

/** One event of a streamed answer. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  /** Reasoning progress, for token counts and liveness. The complete block follows as `thinking`. */
  | { readonly type: 'thinking_delta'; readonly text: string }
  | { readonly type: 'thinking'; readonly block: ThinkingBlock }
  /**
   * Tool call progress: the next fragment of its JSON arguments. `index` numbers the calls of this answer from 0;
   * only the first fragment has `id` and `name`. The complete call follows as `tool_use`.
   */
  | {
      readonly type: 'tool_use_delta';
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments: string;
    }
  /** A complete tool call. `arguments` is JSON text. */
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly arguments: string }
  /** Cumulative tokens of this call, in classes that do not overlap. The last report counts. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /**
   * The end of the answer. `model`: the provider's name of the model that answered; `stopSequence`: the stop sequence that
   * ended it. Both only if reported.
   */
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly model?: string;
      readonly stopSequence?: string;
    };

/** A provider may yield all parts of one network read as one array, to reduce iterations and writes. */
export type ModelChunk = ModelPart | readonly ModelPart[];

/** What a tool of the server has found: a page, or a passage of a file. */
export type AnswerSource =
  | { readonly type: 'page'; readonly url: string; readonly title: string }
  | {
      readonly type: 'file';
      readonly fileId: string;
      readonly name: string;
      /** 0 to 1. */
      readonly score: number;
      readonly text: string;
    };

/** The tool of a tool server that a call is for. */
export interface ToolServerTarget {
  readonly server: string;
  /** The name that the server has for the tool. */
  readonly tool: string;
  /** The request for approval that the user has granted. Absent: the call needed none. */
  readonly approvalId?: string;
}

/** Why a call of a tool server failed outside of the tool. */
export interface ToolServerFailure {
  /** `protocol`: the server refused the call. `http`: it could not be reached, or did not answer. */
  readonly type: 'protocol' | 'http';
  /** The number of the error in the protocol, or the status. */
  readonly code: number;
}

interface CallOfServerTool {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** A tool call that the server runs within an answer. Added by the server: no provider yields it. */
export type ServerToolPart =
  /** The call begins. */
  | (CallOfServerTool & { readonly type: 'server_tool_call'; readonly target?: ToolServerTarget })
  /** The call has ended. `content`: the text for the model. */
  | (CallOfServerTool & {
      readonly type: 'server_tool_result';
      readonly target?: ToolServerTarget;
      readonly content: string;
      readonly isError: boolean;
      readonly failure?: ToolServerFailure;
      readonly sources: readonly AnswerSource[];
    })
  /** The call waits for the approval of the user, and the answer ends. */
  | (CallOfServerTool & { readonly type: 'server_tool_approval'; readonly target: ToolServerTarget })
  /** The tools of a tool server. */
  | {
      readonly type: 'server_tool_list';
      readonly server: string;
      readonly tools: readonly ListedServerTool[];
      /** Why there are none. */
      readonly error?: string;
    };

/** A tool of a tool server, as clients see it. */
export interface ListedServerTool {
  /** The name that the server has for the tool. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
}

/** One event of an answer whose tools the server may run. */
export type AnswerPart = ModelPart | ServerToolPart;

/** The parts that arrive together. */
export type AnswerChunk = AnswerPart | readonly AnswerPart[];

/** Texts to embed. */
export interface EmbedRequest {
  readonly model: string;
  readonly inputs: readonly string[];
  readonly dimensions?: number;
}

/** The embeddings of the texts. */
export interface EmbedResult {
  /** One vector per input, in the same order. */
  readonly embeddings: readonly (readonly number[])[];
  readonly tokens: number;
  /** The provider's name of the model that answered, if reported. */
  readonly model?: string;
}
