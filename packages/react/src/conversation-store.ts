import { type Client, chat, type QuestlineError } from '@questline/client';
import {
  cancelQuest,
  decideQuestCalls,
  listSessionMessages,
  type SendChatMessageRequest,
} from '@questline/client/operations';
import { attempt, isNotFound, toError } from './error.ts';
import { type Decision, readQuest } from './quest-reader.ts';
import { type QuestState, RUNNING } from './quest-state.ts';
import { type Attachable, createState } from './state.ts';
import type { Memory } from './storage.ts';

/** The fields of a message beside its text: `model`, `tools`, `fileIds` and others of `POST /api/chat`. */
export type MessageOptions = Omit<
  SendChatMessageRequest,
  'message' | 'wait' | 'sessionId' | 'newConversation' | 'stream'
>;

export interface ConversationMessage {
  /** Unique in the conversation, and the same until the page is loaded again. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** The state of an answer that this component has followed: tools, reasoning, files, credits. */
  readonly answer?: QuestState;
}

export interface ConversationState {
  /** Oldest first: the newest 100 of the session, and all that were sent since. The last one grows while the model writes. */
  readonly messages: readonly ConversationMessage[];
  /** `loading`: the session. `sending`: a message is not accepted yet. `running`: the answer is being written. */
  readonly status: 'loading' | 'ready' | 'sending' | 'running';
  /** Undefined before the first message of a new session. */
  readonly sessionId: string | undefined;
  /** The failure of the latest message, or of loading the session. */
  readonly error: QuestlineError | undefined;
}

/** What a reload needs to continue. */
export interface StoredConversation {
  readonly sessionId: string;
  /** The running turn. */
  readonly turn?: { readonly id: string; readonly text: string };
}

export interface ConversationStore extends Attachable<ConversationState> {
  send(text: string, options?: MessageOptions): Promise<boolean>;
  cancel(): Promise<void>;
  decide(...decisions: readonly Decision[]): Promise<boolean>;
  /** Forgets the conversation. A running turn goes on without a reader. */
  close(): void;
}

export interface ConversationStoreOptions {
  /** Default: that of `memory`, else a new session. */
  readonly sessionId: string | undefined;
  /** Ignores what `memory` contains. */
  readonly isNew?: boolean;
  readonly memory: Memory<StoredConversation>;
  readonly onEnd: () => void;
}

const MAX_LOADED = 100;

export function createConversation(
  client: Client,
  { sessionId, isNew = false, memory, onEnd }: ConversationStoreOptions,
): ConversationStore {
  const state = createState<ConversationState>({
    messages: [],
    status: 'loading',
    sessionId,
    error: undefined,
  });
  let attached = AbortSignal.abort();
  let loading: Promise<void> | undefined;
  let turn: StoredConversation['turn'];
  let isLoaded = false;
  let isCancelled = false;
  let isClosed = false;
  let count = 0;

  const addTurn = (text: string): void => {
    count += 1;
    const question = { id: `new-${count}-user`, role: 'user', text } as const;
    const answer = { id: `new-${count}-assistant`, role: 'assistant', text: '', answer: RUNNING } as const;
    state.update({ messages: [...state.get().messages, question, answer] });
  };
  const showAnswer = (answer: QuestState): void => {
    const { messages } = state.get();
    const last = messages.at(-1);
    if (last !== undefined)
      state.update({ messages: [...messages.slice(0, -1), { ...last, text: answer.text, answer }] });
  };
  const remember = (): void => {
    const { sessionId: id } = state.get();
    if (!isClosed && id !== undefined) memory.save({ sessionId: id, ...(turn !== undefined && { turn }) });
  };

  const load = async (signal: AbortSignal): Promise<void> => {
    const stored = isNew ? undefined : memory.load();
    const id = sessionId ?? stored?.sessionId;
    if (id === undefined) return;
    try {
      const query = { order: 'desc', limit: MAX_LOADED } as const;
      const { data } = await client.call(listSessionMessages, { params: { id }, query }, { signal });
      const messages = data.reverse().map(({ id: key, role, content }) => ({ id: key, role, text: content }));
      state.update({ messages, sessionId: id });
      const running = stored?.sessionId === id ? stored.turn : undefined;
      if (running === undefined || data.some(({ questId }) => questId === running.id)) return;
      turn = running;
      addTurn(running.text);
    } catch (error) {
      // The stored session was deleted: a new one begins.
      if (sessionId !== undefined || !isNotFound(error)) throw error;
      memory.save(undefined);
    }
  };

  /** Follows the running turn, if there is one, while a component is attached. */
  const followTurn = async (signal: AbortSignal): Promise<void> => {
    if (turn === undefined || signal.aborted) return;
    state.update({ status: 'running' });
    let answer = RUNNING;
    try {
      for await (answer of readQuest(client, turn.id, signal)) showAnswer(answer);
      turn = undefined;
      onEnd();
    } catch (error) {
      if (signal.aborted) return;
      answer = { ...answer, status: 'failed', error: toError(error) };
      showAnswer(answer);
      // After an outage, a reload continues.
      if (isNotFound(error)) turn = undefined;
    }
    remember();
    state.update({ status: 'ready', error: answer.error });
  };

  const start = async (signal: AbortSignal): Promise<void> => {
    let error: QuestlineError | undefined;
    try {
      if (!isLoaded) await load(signal);
      isLoaded = true;
    } catch (failure) {
      error = toError(failure);
    }
    if (signal.aborted) return;
    if (state.get().status === 'loading') state.update({ status: 'ready', error });
    void followTurn(signal);
  };

  const report = (error: QuestlineError): void => state.update({ error });
  const cancel = async (): Promise<void> => {
    if (state.get().status === 'sending') isCancelled = true;
    if (turn === undefined) return;
    await attempt(client.call(cancelQuest, { params: { id: turn.id } }), report);
  };

  return {
    state,
    cancel,
    attach() {
      const controller = new AbortController();
      attached = controller.signal;
      loading = start(attached);
      return () => controller.abort();
    },
    async send(text, options = {}) {
      await loading;
      const { status, sessionId: id } = state.get();
      if (status !== 'ready') return false;
      state.update({ status: 'sending', error: undefined });
      isCancelled = false;
      addTurn(text);
      const session = id === undefined ? { newConversation: true } : { sessionId: id };
      try {
        const accepted = await chat(client, { ...options, ...session, message: text });
        turn = { id: accepted.id, text };
        state.update({ status: 'running', sessionId: accepted.sessionId });
      } catch (failure) {
        const error = toError(failure);
        showAnswer({ ...RUNNING, status: 'failed', error });
        state.update({ status: 'ready', error });
        return false;
      }
      remember();
      if (isCancelled) await cancel();
      void followTurn(attached);
      return true;
    },
    async decide(...decisions) {
      if (turn === undefined) return false;
      const input = { params: { id: turn.id }, body: { decisions } };
      return attempt(client.call(decideQuestCalls, input), report);
    },
    close() {
      isClosed = true;
      memory.save(undefined);
    },
  };
}
