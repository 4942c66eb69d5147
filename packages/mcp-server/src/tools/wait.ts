import { getGenerations, hasGenerationEnded, QUESTS } from '@questline/core/internal';
import type { JsonObject } from '../json-rpc.ts';
import { WrongArgument } from '../results.ts';
import type { Fields, ToolCall } from './tool.ts';

/** The argument of tools that wait. */
export const WAIT: Fields = {
  properties: {
    wait_seconds: {
      type: 'integer',
      minimum: 0,
      description: 'How long to wait for the result. Default: as long as the server allows.',
    },
  },
  required: [],
};

/** The wait of a call, in milliseconds. @throws WrongArgument */
export function readWait({ wait_seconds: seconds }: JsonObject, { maxWaitMs }: ToolCall): number {
  if (seconds === undefined) return maxWaitMs;
  if (typeof seconds !== 'number' || !(seconds >= 0)) {
    throw new WrongArgument('wait_seconds: expected a number of seconds');
  }
  return Math.min(seconds * 1000, maxWaitMs);
}

/** Waits for the end of accepted work, which continues after the wait. Says nothing about the work. */
export async function waitForQuest(
  id: string,
  timeoutMs: number,
  { services, call }: ToolCall,
): Promise<void> {
  if (timeoutMs === 0) return;
  const quests = services.store.collection(QUESTS);
  await services.questEvents.untilEnded(quests, id, { timeoutMs, signal: call.signal });
}

/** The same for a generation, which announces its end like a quest. */
export async function waitForGeneration(
  id: string,
  timeoutMs: number,
  { services, call }: ToolCall,
): Promise<void> {
  if (timeoutMs === 0) return;
  const generations = getGenerations(services.store);
  const states = {
    async get(one: string) {
      const found = await generations.get(one);
      return found && { status: hasGenerationEnded(found) ? ('done' as const) : ('running' as const) };
    },
  };
  await services.questEvents.untilEnded(states, id, { timeoutMs, signal: call.signal });
}
