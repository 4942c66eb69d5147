import type { JobHandler } from '../../jobs/handler.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { FollowUp } from '../../runs/quest-task.ts';
import type { RunningQuests } from '../../runs/running.ts';
import {
  type BackgroundRequest,
  type BackgroundServices,
  backgroundQuest,
  createBackgroundHandler,
} from '../conversation/task.ts';
import type { DialogueRequest } from '../conversation/turn-input.ts';
import { buildExtraction, mementosIn } from './extract.ts';
import { keepMementos } from './keep.ts';

const KIND = 'mementos';
const OPERATION = 'keepMementos';
const MAX_TOKENS = 1000;

interface MementosRequest extends BackgroundRequest {
  readonly message: string;
}

/** Extracts mementos of the user from a completed turn. */
export function rememberAfterwards(services: { readonly clock: Clock; readonly ids: Ids }): FollowUp {
  return {
    applies({ type, request }) {
      const { remembers, message } = request as DialogueRequest;
      return remembers === true && type === 'message' && message.trim() !== '';
    },
    async create(_store, quest) {
      const { message, model, payer, requestId } = quest.request as DialogueRequest;
      const request: MementosRequest = { message, model, payer, requestId };
      return backgroundQuest(services.ids.next(), KIND, quest, request, services.clock.now());
    },
  };
}

export function createMementosHandler(
  services: BackgroundServices & { readonly ids: Ids },
  runningQuests: RunningQuests,
): JobHandler {
  return createBackgroundHandler(services, runningQuests, {
    kind: KIND,
    operation: OPERATION,
    maxTokens: MAX_TOKENS,
    question: async ({ request }) => buildExtraction((request as MementosRequest).message),
    async keep(store, { ownerId, sessionId }, said) {
      await keepMementos(
        services,
        store,
        { ownerId, sessionId, now: services.clock.now() },
        mementosIn(said),
      );
    },
  });
}
