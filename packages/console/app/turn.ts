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
    ...(withTools && { toolMode: 'smart' }),
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

/** Polls a quest until it finishes and reports each update. Polls more often while the quest changes. */
export async function follow(
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
