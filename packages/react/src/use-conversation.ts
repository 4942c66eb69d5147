import { useState } from 'react';
import { useAttached } from './attached.ts';
import {
  type ConversationState,
  type ConversationStore,
  createConversation,
  type MessageOptions,
} from './conversation-store.ts';
import { countEnd, type QuestlineContext, useQuestlineContext } from './provider.ts';
import type { Decision } from './quest-reader.ts';
import { createMemory } from './storage.ts';

export interface ConversationOptions {
  /** The session to continue. Default: a new one with the first message. */
  readonly sessionId?: string | undefined;
  /** A name for the conversation in `sessionStorage`. With it, a reload continues the session and a running answer. */
  readonly storageKey?: string | undefined;
}

export interface Conversation extends ConversationState {
  /**
   * Sends a message. Resolves with true when the server has accepted it; with false when it has not, or while another one
   * is sent or answered. Never rejects: see `error`.
   */
  readonly send: (text: string, options?: MessageOptions) => Promise<boolean>;
  /** Stops the answer. What the model has produced until then is charged. */
  readonly cancel: () => Promise<void>;
  /** Decides about calls in `answer.approvals` of the last message, all or none. Resolves with false if it failed. Never rejects. */
  readonly decide: (...decisions: readonly Decision[]) => Promise<boolean>;
  /** Begins a new session. A running answer goes on without a reader. */
  readonly reset: () => void;
}

interface Held {
  readonly context: QuestlineContext;
  readonly options: ConversationOptions;
  readonly store: ConversationStore;
}

function hold(context: QuestlineContext, options: ConversationOptions, isNew: boolean): Held {
  const { sessionId, storageKey } = options;
  const memory = createMemory<never>(storageKey);
  const store = createConversation(context.client, { sessionId, isNew, memory, onEnd: countEnd(context) });
  return { context, options: { sessionId, storageKey }, store };
}

/**
 * A conversation that the server stores: its messages, and the answer while it is written. Unmounting stops the reading, not
 * the answer.
 */
export function useConversation(options: ConversationOptions = {}): Conversation {
  const { sessionId, storageKey } = options;
  const context = useQuestlineContext();
  const [held, setHeld] = useState(() => hold(context, options, false));
  let current = held;
  if (held.context !== context || held.options.storageKey !== storageKey)
    current = hold(context, options, false);
  else if (held.options.sessionId !== sessionId) {
    // The caller may pass the id that `send` has returned: the same conversation.
    const isSame = sessionId === held.store.state.get().sessionId;
    current = isSame ? { ...held, options: { sessionId, storageKey } } : hold(context, options, true);
  }
  if (current !== held) setHeld(current);
  const { store } = current;
  const reset = (): void => {
    store.close();
    setHeld({ ...hold(context, { storageKey }, true), options: { sessionId, storageKey } });
  };
  return { ...useAttached(store), send: store.send, cancel: store.cancel, decide: store.decide, reset };
}
