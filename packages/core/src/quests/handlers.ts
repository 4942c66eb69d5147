import { notFound } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { cancelQuest, getQuest, type WireQuest } from './contract.ts';
import { filesOf } from './files.ts';
import type { QuestNotices } from './notices.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { stopQuest } from './transitions.ts';
import { toWireQuest } from './wire.ts';

export interface QuestServices extends PipelineServices {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly notices: QuestNotices;
}

const CANCELLED = 'This turn was cancelled.';

/** `GET /api/v1/quests/{id}` */
export function createGetQuestHandler(services: QuestServices): Route {
  const find = questFinder(services.store);
  return defineRoute(getQuest, services, async ({ params }, { caller, mountPath }) =>
    shown(services, await find(params.id, canReadSession(caller.userId)), mountPath),
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
    if (stopped === undefined) return shown(services, await find(params.id, mayCancel), mountPath);
    services.notices.stopped(stopped.id);
    return shown(services, stopped, mountPath);
  });
}

/** A poll of a quest without files, which most are, waits for nothing. */
function shown(
  { library }: QuestServices,
  quest: QuestRecord,
  mountPath: string,
): WireQuest | Promise<WireQuest> {
  if (quest.files === undefined || quest.files.length === 0) return toWireQuest(quest);
  return filesOf(library, quest, mountPath).then((files) => toWireQuest(quest, files));
}

/** A quest is its session's: whoever may do something with the session may do it with the quest. */
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
