import type { SecretBox } from '../../models/secret-box.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { getWithMatch } from '../../ports/get-with-match.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { showPrompt } from '../../prompts/sealed-texts.ts';
import { type LiveReaderServices, replyWithEvents, toLiveView } from '../../runs/live-reader.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { createStopQuest, type StopServices } from '../../runs/stop.ts';
import { withProgress } from '../../runs/text-pieces.ts';
import { notFound } from '../../shared/errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { cancelQuest, getQuest, getQuestEvents, type WireQuest } from './contract.ts';
import { getFiles } from './files.ts';
import { readableBy, toPendingApprovals, toWireQuest } from './wire.ts';

/** The services of `createQuestPoller`; `Services` satisfies it. */
export interface QuestServices extends PipelineServices {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly questEvents: QuestEvents;
  readonly runningQuests: RunningQuests;
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
    shown(
      services,
      await find(params.id, canReadSession(caller.userId), caller.userId),
      caller.userId,
      mountPath,
    ),
  );
}

/** `GET /api/v1/quests/{id}/events` */
export function createQuestEventsHandler(services: QuestServices & LiveReaderServices): Route {
  const find = questFinder(services.store);
  return defineRoute(getQuestEvents, services, ({ params, query }, call) => {
    const { caller, mountPath } = call;
    return replyWithEvents(services, call, query.after, {
      stream: params.id,
      async load() {
        const quest = await withProgress(services, await find(params.id, canReadSession(caller.userId)));
        return toLiveView(quest, await showQuest(services, quest, caller.userId, mountPath));
      },
    });
  });
}

/** `POST /api/v1/quests/{id}/cancel` */
export function createCancelQuestHandler(services: QuestServices & StopServices): Route {
  const stop = createStopQuest(services);
  const find = questFinder(services.store);
  return defineRoute(cancelQuest, services, async ({ params }, { caller, mountPath }) => {
    const mayCancel = canEditSession(caller.userId);
    await find(params.id, mayCancel, caller.userId);
    const quest = (await stop(params.id, CANCELLED)) ?? (await find(params.id, mayCancel, caller.userId));
    return shown(services, quest, caller.userId, mountPath);
  });
}

/** A quest with its progress, as a user sees it. */
export function shown(
  services: QuestServices,
  quest: QuestRecord,
  userId: string,
  mountPath: string,
): WireQuest | Promise<WireQuest> {
  const current = withProgress(services, quest);
  return current instanceof Promise
    ? current.then((loaded) => showQuest(services, loaded, userId, mountPath))
    : showQuest(services, current, userId, mountPath);
}

/** A quest without files, the common case, needs no lookup. */
function showQuest(
  { library, textBox }: QuestServices,
  quest: QuestRecord,
  userId: string,
  mountPath: string,
): WireQuest | Promise<WireQuest> {
  const own = { ...showPrompt(textBox, quest, userId), ...toPendingApprovals(quest, userId) };
  const shownQuest = readableBy(quest, userId);
  if (quest.files === undefined) return Object.assign(toWireQuest(shownQuest), own);
  return getFiles(library, quest, mountPath).then((files) =>
    Object.assign(toWireQuest(shownQuest, files), own),
  );
}

/**
 * Access to a quest follows from its session. A quest without one, such as a stored response, is its own session.
 * @param ownerId the user who may use such a quest. Default: no user.
 */
export function questFinder(
  store: Store,
): (id: string, mayUse: Filter<SessionRecord>, ownerId?: string) => Promise<QuestRecord> {
  return async (id, mayUse, ownerId) => {
    const session = { field: 'sessionId', collection: SESSIONS, filter: mayUse } as const;
    const found = await getWithMatch(store, QUESTS, id, session);
    if (found === undefined) throw notFound('Quest');
    const { record: quest, matches } = found;
    const isItsOwnSession = quest.sessionId === id && quest.ownerId === ownerId;
    if (!matches && !isItsOwnSession) throw notFound('Quest');
    return quest;
  };
}
