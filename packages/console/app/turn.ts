import { type Client, follow as followEvents, QuestlineError } from '@questline/client';
import { type GetQuestEventsResponse, getQuestEvents } from '@questline/client/operations';
import type { Call } from './api.ts';
import type { Agent, Quest } from './records.ts';

const SOON_MS = 150;
const LATER_MS = 1000;

/** What the user sends. */
export interface Draft {
  readonly message: string;
  /** Empty: the default model. */
  readonly model: string;
  readonly withTools: boolean;
  readonly fileIds: readonly string[];
  /** Agents that shape the answer. */
  readonly agents: readonly Agent[];
}

interface Accepted {
  readonly id: string;
  readonly sessionId: string;
  readonly model: string;
}

/** Sends a message. A new session is created first when agents must be attached to it. */
export async function send(call: Call, draft: Draft, sessionId: string | undefined): Promise<Accepted> {
  const { message, model, fileIds, withTools, agents } = draft;
  const session = sessionId ?? (agents.length > 0 ? await createSession(call, draft) : undefined);
  return call<Accepted>('POST', '/api/chat', {
    message,
    ...(session === undefined ? { newConversation: true } : { sessionId: session }),
    ...(model !== '' && { model }),
    ...(fileIds.length > 0 && { fileIds }),
    ...(withTools && { toolMode: 'smart', approvals: true }),
    // Mentions of agents count only with this switch.
    ...(message.includes('@') && { enableAgents: true }),
  });
}

async function createSession(call: Call, { message, agents }: Draft): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/api/v1/sessions', {
    name: message.slice(0, 60),
    agentIds: agents.map((agent) => agent.id),
  });
  return id;
}

/** An agent takes part in a turn when the message mentions it: adds the words that the user has not typed. */
export function withMentions(message: string, agents: readonly Agent[]): string {
  const said = new Set(message.toLowerCase().match(/@[\p{L}\p{N}_-]+/gu));
  const missing = agents.flatMap(({ trigger_words: [word, ...others] }) =>
    word === undefined || [word, ...others].some((one) => said.has(one.toLowerCase())) ? [] : [word],
  );
  return [...missing, message].join(' ');
}

/** Follows a quest to its end and reports each change. Polls a server that has no events. */
export async function follow(
  { call, client }: { readonly call: Call; readonly client: Client },
  id: string,
  show: (quest: Quest) => void,
  signal: AbortSignal,
): Promise<Quest> {
  let quest: Quest | undefined;
  try {
    for await (const event of followEvents(client, getQuestEvents, { params: { id } }, { signal })) {
      const next = applyEvent(quest, event);
      if (next === undefined || next === quest) continue;
      quest = next;
      show(quest);
    }
  } catch (error) {
    if (!hasNoEvents(error)) throw error;
    quest = undefined;
  }
  return quest ?? poll(call, id, show, signal);
}

/**
 * Whether the server has no such stream, so that the page has to poll. A rejected session is one, too: the poll signs the
 * user out.
 */
export function hasNoEvents(error: unknown): boolean {
  return error instanceof QuestlineError && [401, 404, 405].includes(error.status ?? 0);
}

function applyEvent(quest: Quest | undefined, event: GetQuestEventsResponse): Quest | undefined {
  if (event.type === 'end') return event.state;
  if (event.type === 'snapshot') {
    const { state, text, payloads } = event;
    // The reply of a running quest can be ahead of the events: those that follow repeat a part of it.
    return { ...state, reply: text || (isOver(state) ? state.reply : null), toolPayloads: payloads };
  }
  if (quest === undefined) return undefined;
  switch (event.type) {
    case 'text':
      return { ...quest, status: 'running', reply: `${quest.reply ?? ''}${event.text}` };
    case 'reset-step':
      return { ...quest, reply: event.text, toolPayloads: [] };
    case 'payload': {
      const toolPayloads = [...quest.toolPayloads];
      toolPayloads[event.index] = event.payload;
      return { ...quest, toolPayloads };
    }
    case 'approval-requested': {
      const { id: callId, tool, kind, input } = event;
      const pendingApprovals = [...(quest.pendingApprovals ?? []), { callId, tool, kind, input }];
      return { ...quest, status: 'waiting', pendingApprovals };
    }
    case 'approval-decided': {
      const { id, decision } = event;
      const pendingApprovals = (quest.pendingApprovals ?? []).map((call) =>
        call.callId === id ? { ...call, decision } : call,
      );
      const isWaiting = pendingApprovals.some((call) => call.decision === undefined);
      return isWaiting
        ? { ...quest, pendingApprovals }
        : { ...quest, status: 'running', pendingApprovals: undefined };
    }
    default:
      return quest;
  }
}

/** Polls more often while the quest changes. */
async function poll(
  call: Call,
  id: string,
  show: (quest: Quest) => void,
  signal: AbortSignal,
): Promise<Quest> {
  let wait = SOON_MS;
  let before = '';
  for (;;) {
    const quest = await call<Quest>('GET', `/api/v1/quests/${id}`, undefined, signal);
    show(quest);
    if (isOver(quest)) return quest;
    const now = `${quest.status} ${quest.reply?.length ?? 0} ${quest.toolPayloads.length}`;
    wait = now === before ? Math.min(wait * 1.5, LATER_MS) : SOON_MS;
    before = now;
    await pause(wait, signal);
  }
}

export function isOver({ status }: Quest): boolean {
  return status === 'done' || status === 'stopped';
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
