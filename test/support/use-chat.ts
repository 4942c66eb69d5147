import * as v7 from 'ai';
import * as v5 from 'ai5';
import * as v6 from 'ai6';
import { expect } from 'vitest';
import type { ChatApp } from './chat.ts';

/** The versions of the AI SDK, as far as tests use them. Their types differ, so that one is named for all. */
export const VERSIONS = [
  ['5', v5 as unknown as typeof v7],
  ['6', v6 as unknown as typeof v7],
  ['7', v7],
] as const;

export type Sdk = typeof v7;
type Message = v7.UIMessage;

/** `useChat()` without React. */
export interface PageChat {
  readonly messages: readonly Message[];
  readonly status: v7.ChatStatus;
  readonly error: Error | undefined;
  readonly last: Message | undefined;
  send(text: string, body?: object): Promise<void>;
  /** Replaces a message of the user and what follows it. */
  edit(messageId: string, text: string): Promise<void>;
  regenerate(messageId?: string): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
  /** Answers a request for approval. With `autoSend` the SDK sends it. */
  approve(id: string, isApproved: boolean, reason?: string): Promise<void>;
  /** Gives the result of a tool of the page. */
  answer(tool: string, toolCallId: string, output: unknown): Promise<void>;
}

/** Sends the requests of the SDK to an app. */
export function fetchFrom(app: ChatApp, credential?: string): typeof fetch {
  return (url, init) =>
    app.ask(init?.method ?? 'GET', String(url), {
      ...(credential !== undefined && { credential }),
      ...(init?.body !== undefined && init.body !== null && { body: String(init.body) }),
      ...(init?.signal !== undefined && init.signal !== null && { signal: init.signal }),
    });
}

export function openPage(
  sdk: Sdk,
  app: ChatApp,
  options: {
    readonly id?: string;
    readonly credential?: string;
    readonly messages?: Message[];
    /** The SDK sends decisions by itself, and `body` with every request. */
    readonly autoSend?: { readonly body: object };
  } = {},
): PageChat {
  const state: v7.ChatState<Message> = {
    status: 'ready',
    error: undefined,
    messages: options.messages ?? [],
    pushMessage(message) {
      state.messages = [...state.messages, message];
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      state.messages = state.messages.with(index, message);
    },
    snapshot: (thing) => structuredClone(thing),
  };
  class Chat extends sdk.AbstractChat<Message> {}
  const { autoSend } = options;
  const transport = new sdk.DefaultChatTransport<Message>({
    fetch: fetchFrom(app, options.credential),
    ...(autoSend !== undefined && { body: autoSend.body }),
  });
  const chat = new Chat({
    ...(options.id !== undefined && { id: options.id }),
    state,
    transport,
    ...(autoSend !== undefined && {
      sendAutomaticallyWhen: ({ messages }: { messages: Message[] }) =>
        sdk.lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
        sdk.lastAssistantMessageIsCompleteWithToolCalls({ messages }),
    }),
  });
  return {
    get messages() {
      return state.messages;
    },
    get status() {
      return state.status;
    },
    get error() {
      return state.error;
    },
    get last() {
      return state.messages.at(-1);
    },
    send: (text, body) => chat.sendMessage({ text }, body === undefined ? undefined : { body }),
    edit: (messageId, text) => chat.sendMessage({ text, messageId }),
    regenerate: (messageId) => chat.regenerate(messageId === undefined ? {} : { messageId }),
    resume: () => chat.resumeStream(),
    stop: () => chat.stop(),
    async approve(id, approved, reason) {
      await chat.addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
    },
    async answer(tool, toolCallId, output) {
      await chat.addToolOutput({ tool: tool as never, toolCallId, output: output as never });
    },
  };
}

interface Part {
  readonly type: string;
  readonly text?: unknown;
}

/** The joined text of a message. */
export function getMessageText(message: { readonly parts: readonly Part[] } | undefined): string {
  return (message?.parts ?? []).map(({ type, text }) => (type === 'text' ? text : '')).join('');
}

/** Lets the app work until a promise settles. */
export async function whileWorking<T>(app: ChatApp, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  promise.then(end, end);
  for (let count = 0; count < 600 && !isOver; count += 1) {
    await app.settle();
    await app.clock.advance(100);
  }
  return promise;
}

/** The chunks of a whole response. */
export async function readChunks(app: ChatApp, response: Response): Promise<Record<string, unknown>[]> {
  const text = await whileWorking(app, response.text());
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  return text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

/** Every chunk passes the schema of the SDK. Pages of `openPage` check it too: an invalid chunk ends their stream. */
export async function checkChunks(sdk: Sdk, chunks: readonly object[]): Promise<void> {
  const { validate } = sdk.asSchema(sdk.uiMessageChunkSchema);
  for (const chunk of chunks)
    expect([chunk, await validate?.(chunk as never)]).toMatchObject([{}, { success: true }]);
}
