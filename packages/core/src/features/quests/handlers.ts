import type { SecretBox } from '../../models/secret-box.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { showPrompt } from '../../prompts/sealed-texts.ts';
import { type LiveReaderServices, replyWithEvents } from '../../runs/live-reader.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { hasEnded, stopQuest } from '../../runs/transitions.ts';
import { notFound } from '../../shared/errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { cancelQuest, getQuest, getQuestEvents, type WireQuest } from './contract.ts';
import { getFiles } from './files.ts';
import { toWireQuest } from './wire.ts';

/** The services of `createQuestPoller`; `Services` satisfies it. */
export interface QuestServices extends PipelineServices {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly questEvents: QuestEvents;
  /** Decrypts the prompts that quests keep. */
  readonly textBox: SecretBox;
}

const CANCELLED = 'This turn was cancelled.';

/** `GET /api/v1/quests/{id}`: the state of a quest. At another path, the host's router provides `id`. */
export function createQuestPoller(services: QuestServices): Route {
  return createGetQuestHandler(services, getQuest);
}

/** @param operation `getQuest`, or the same at another path. */
export function createGetQuestHandler(services: QuestServices, operation: typeof getQuest): Route {
  const find = questFinder(services.store);
  return defineRoute(operation, services, async ({ params }, { caller, mountPath }) =>
    shown(services, await find(params.id, canReadSession(caller.userId)), caller.userId, mountPath),
  );
}

/** `GET /api/v1/quests/{id}/events` */
export function createQuestEventsHandler(services: QuestServices & LiveReaderServices): Route {
  const find = questFinder(services.store);
  return defineRoute(getQuestEvents, services, ({ params, query }, { caller, mountPath, request, signal }) =>
    replyWithEvents(
      services,
      { headers: request.headers, after: query.after },
      {
        questId: params.id,
        signal,
        async load() {
          const quest = await find(params.id, canReadSession(caller.userId));
          const view = await shown(services, quest, caller.userId, mountPath);
          return { view, text: quest.text ?? '', isOver: hasEnded(quest) };
        },
      },
    ),
  );
}

/** `POST /api/v1/quests/{id}/cancel` */
export function createCancelQuestHandler(services: QuestServices): Route {
  const quests = services.store.collection(QUESTS);
  const find = questFinder(services.store);
  return defineRoute(cancelQuest, services, async ({ params }, { caller, mountPath }) => {
    const mayCancel = canEditSession(caller.userId);
    await find(params.id, mayCancel);
    const stopped = await stopQuest(quests, params.id, CANCELLED, services.clock.now());
    if (stopped === undefined)
      return shown(services, await find(params.id, mayCancel), caller.userId, mountPath);
    services.questEvents.stopped(stopped.id);
    return shown(services, stopped, caller.userId, mountPath);
  });
}

/** A quest without files, the common case, needs no lookup. */
function shown(
  { library, textBox }: QuestServices,
  quest: QuestRecord,
  userId: string,
  mountPath: string,
): WireQuest | Promise<WireQuest> {
  const prompt = showPrompt(textBox, quest, userId);
  if (quest.files === undefined || quest.files.length === 0) return Object.assign(toWireQuest(quest), prompt);
  return getFiles(library, quest, mountPath).then((files) =>
    Object.assign(toWireQuest(quest, files), prompt),
  );
}

/** Access to a quest follows from its session. */
function questFinder(store: Store): (id: string, mayUse: Filter<SessionRecord>) => Promise<QuestRecord> {
  const quests = store.collection(QUESTS);
  const sessions = store.collection(SESSIONS);
  return async (id, mayUse) => {
    const quest = await quests.get(id);
    const session = quest && (await sessions.get(quest.sessionId, mayUse));
    if (quest === undefined || session === undefined) throw notFound('Quest');
    return quest;
  };
}
