import { call } from './api.ts';
import type { Quest } from './records.ts';

const SOON_MS = 150;
const LATER_MS = 1000;

/** What is asked of the models. */
export interface Wish {
  readonly message: string;
  readonly sessionId: string | undefined;
  readonly model: string;
  readonly fileIds: readonly string[];
  readonly withTools: boolean;
}

interface Accepted {
  readonly id: string;
  readonly sessionId: string;
}

export function ask({ message, sessionId, model, fileIds, withTools }: Wish): Promise<Accepted> {
  return call('POST', '/api/chat', {
    message,
    ...(sessionId === undefined ? { newConversation: true } : { sessionId }),
    ...(model !== '' && { model }),
    ...(fileIds.length > 0 && { fileIds }),
    ...(withTools && { toolMode: 'smart' }),
  });
}

/** Follows a quest to its end, and shows it as it grows. Looks often while something happens, less often when not. */
export async function follow(id: string, show: (quest: Quest) => void, signal: AbortSignal): Promise<Quest> {
  let wait = SOON_MS;
  let before = '';
  for (;;) {
    const quest = await call<Quest>('GET', `/api/v1/quests/${id}`, undefined, signal);
    show(quest);
    if (quest.status === 'done' || quest.status === 'stopped') return quest;
    const now = `${quest.status} ${quest.reply?.length ?? 0} ${quest.toolPayloads.length}`;
    wait = now === before ? Math.min(wait * 1.5, LATER_MS) : SOON_MS;
    before = now;
    await pause(wait, signal);
  }
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
