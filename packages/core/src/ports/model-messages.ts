/** One part of a message. `data` of media is base64 without a data-URL prefix. */
export type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'document'; readonly mediaType: string; readonly data: string; readonly name: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'tool_result';
      readonly toolUseId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError: boolean;
    }
  /** A reasoning block of the provider, to be sent back unchanged. */
  | { readonly type: 'thinking'; readonly block: ThinkingBlock };

/**
 * A reasoning block in the provider's own format, stored unchanged (e.g. `{type: 'thinking', thinking, signature}`).
 */
export type ThinkingBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One message of a conversation with a model. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: readonly ModelContent[];
  /**
   * Marks the end of a prompt prefix to cache. A provider with explicit cache breakpoints sets one after this
   * message.
   */
  readonly cacheBreakpoint?: boolean;
}

/** A tool as a model sees it: name, description and parameters. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
