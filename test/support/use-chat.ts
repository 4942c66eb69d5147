import * as v7 from 'ai';
import * as v5 from 'ai5';
import * as v6 from 'ai6';
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
  resume(): Promise<void>;
  stop(): Promise<void>;
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
  options: { readonly id?: string; readonly credential?: string; readonly messages?: Message[] } = {},
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
  const transport = new sdk.DefaultChatTransport<Message>({ fetch: fetchFrom(app, options.credential) });
  const chat = new Chat({ ...(options.id !== undefined && { id: options.id }), state, transport });
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
    resume: () => chat.resumeStream(),
    stop: () => chat.stop(),
  };
}

/** The joined text of a message. */
export function getMessageText(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
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
