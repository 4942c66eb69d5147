/** What the clients received, for the audits. */
export interface Memory {
  /** Quests that were acknowledged, with the Idempotency-Key of the request. */
  readonly quests: Map<string, string | undefined>;
  /** The quests reported for each Idempotency-Key. */
  readonly keys: Map<string, Set<string>>;
  /** Micro-credits reported for each complete streamed answer, by request id. */
  readonly reported: Map<string, number>;
  /** Answers that began and broke off. */
  cut: number;
  /** Responses by operation and status; `reset` without one. */
  readonly statuses: Map<string, number>;
  /** Responses with status 500. */
  readonly faults: string[];
}

export function createMemory(): Memory {
  return {
    quests: new Map(),
    keys: new Map(),
    reported: new Map(),
    cut: 0,
    statuses: new Map(),
    faults: [],
  };
}

export function rememberQuest(memory: Memory, id: string, key?: string): void {
  memory.quests.set(id, key);
  if (key === undefined) return;
  const known = memory.keys.get(key) ?? new Set();
  memory.keys.set(key, known.add(id));
}
