import * as z from 'zod';
import { type StillPaysServices, stillPays } from '../operations/still-pays.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { ApiError, conflict, invalid, notFound } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import { hashSecret } from '../shared/secrets.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { questJob } from './quest-job.ts';
import { type CallDecision, QUESTS, type QuestRecord, type WaitingCall } from './records.ts';
import { hasEnded } from './states.ts';
import { decideCalls } from './transitions.ts';

export interface DecisionServices extends StillPaysServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly toolRegistry: ToolRegistry;
  readonly onError: (incident: Incident) => void;
}

export interface NewDecision {
  readonly callId: string;
  readonly decision: CallDecision;
}

/**
 * Stores decisions about the waiting calls of a quest, all or none. After the last one the quest goes on. A repetition of
 * a decision changes nothing.
 * @throws ApiError 400 for an unknown call; 409 for a quest that has ended, another decision about a decided call, or a user
 * who has left the organization that pays; 422 for a decision that does not suit the call.
 */
export type DecideQuest = (id: string, decisions: readonly NewDecision[]) => Promise<QuestRecord>;

const MAX_ATTEMPTS = 10;
const LEFT = 'You no longer belong to the organization that pays for this. Cancel it, and ask again.';

export function createDecideQuest(services: DecisionServices): DecideQuest {
  const { queue, clock, onError } = services;
  const quests = services.store.collection(QUESTS);

  return async (id, decisions) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const quest = await quests.get(id);
      if (quest === undefined) throw notFound('Quest');
      if (hasEnded(quest)) throw conflict('The quest has ended: its calls can no longer be decided.');
      const fresh = decisions.filter((one, at) => isNew(quest, one, at));
      const { wait } = quest;
      if (fresh.length === 0 || wait === undefined) return quest;
      if (!(await stillPays(services, quest.request.payer))) throw conflict(LEFT);
      await checkEdits(services.toolRegistry, quest, wait.calls, decisions);
      const calls = wait.calls.map((call) => {
        const decision = fresh.find(({ callId }) => callId === call.id)?.decision;
        return decision === undefined ? call : { ...call, decision };
      });
      const digests = fresh.map(({ callId, decision }) => ({
        id: callId,
        type: decision.type,
        digest: getDigest(decision),
      }));
      const decided = await decideCalls(quests, { ...quest, wait }, calls, digests, clock.now());
      // Decided by another request at the same time.
      if (decided === undefined) continue;
      if (decided.status === 'pending') {
        // The sweep enqueues it otherwise.
        await queue.enqueue(questJob(decided)).catch((error: unknown) => {
          onError({ operation: `job:${decided.kind}`, requestId: '', error });
        });
      }
      return decided;
    }
    throw conflict('Other decisions about this quest arrived at the same time. Send this one again.');
  };
}

/** @throws ApiError for a decision that cannot be taken. @returns false for a repetition. */
function isNew(quest: QuestRecord, { callId, decision }: NewDecision, at: number): boolean {
  const known = quest.decided?.find(({ id }) => id === callId);
  if (known !== undefined) {
    if (known.digest === getDigest(decision)) return false;
    throw conflict(`The call '${callId}' is already decided.`);
  }
  const call = quest.status === 'waiting' ? quest.wait?.calls.find(({ id }) => id === callId) : undefined;
  const path = `decisions.${at}`;
  if (call === undefined) {
    const message = 'no call of this quest waits under this id';
    throw new ApiError(400, `${path}.callId: ${message}`, { details: [{ path: `${path}.callId`, message }] });
  }
  const { type } = decision;
  if (call.kind === 'answer' && (type === 'approve' || type === 'edit')) {
    throw invalid(`${path}.decision`, 'must be `answer` or `reject` for a tool of the client');
  }
  if (call.kind === 'approval' && type === 'answer') {
    throw invalid(`${path}.decision`, 'must be `approve`, `edit` or `reject` for a tool of the server');
  }
  return true;
}

/** Checks changed inputs against the schemas of their tools. */
async function checkEdits(
  registry: ToolRegistry,
  { ownerId: userId, sessionId, request: { payer } }: QuestRecord,
  calls: readonly WaitingCall[],
  decisions: readonly NewDecision[],
): Promise<void> {
  for (const [at, { callId, decision }] of decisions.entries()) {
    const call = calls.find(({ id }) => id === callId);
    if (decision.type !== 'edit' || call === undefined) continue;
    const offer = await registry.find(call.tool, { userId, sessionId, payer });
    if (offer === undefined) throw conflict(`The tool '${call.tool}' is no longer available.`);
    const checked = toSchema(offer.schema.parameters).safeParse(decision.input);
    if (checked.success) continue;
    const [issue] = checked.error.issues;
    const path = ['decisions', at, 'input', ...(issue?.path ?? [])].map(String).join('.');
    throw invalid(path, issue?.message ?? 'does not match the schema of the tool');
  }
}

/** A schema that zod cannot read checks nothing: the tool checks its input itself. */
function toSchema(parameters: Readonly<Record<string, unknown>>): z.ZodType {
  try {
    return z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.unknown();
  }
}

function getDigest(decision: CallDecision): string {
  return hashSecret(JSON.stringify(decision));
}
