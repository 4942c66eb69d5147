import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';

export interface DeletionServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** Removes references to a deleted record. Runs after the deletion, at least once, so it must be idempotent. */
export type DeletionHook = (services: DeletionServices, id: string) => Promise<void>;

/** The clean-up of one feature after records of other features are deleted. */
export interface DeletionHooks {
  readonly artifact?: DeletionHook;
  /** Runs after `session` for a session that is a conversation of a wire. */
  readonly conversation?: DeletionHook;
  readonly dataLake?: DeletionHook;
  readonly file?: DeletionHook;
  readonly organization?: DeletionHook;
  readonly project?: DeletionHook;
  readonly session?: DeletionHook;
}

/** Runs the clean-up hooks of all features in sequence. */
export interface DeletionCleanup {
  artifact(id: string): Promise<void>;
  conversation(id: string): Promise<void>;
  dataLake(id: string): Promise<void>;
  file(id: string): Promise<void>;
  organization(id: string): Promise<void>;
  project(id: string): Promise<void>;
  session(id: string): Promise<void>;
}

export function createDeletionCleanup(
  services: DeletionServices,
  hooks: readonly DeletionHooks[],
): DeletionCleanup {
  const cleanUp = (kind: keyof DeletionHooks) => async (id: string) => {
    for (const one of hooks) await one[kind]?.(services, id);
  };
  return {
    artifact: cleanUp('artifact'),
    conversation: cleanUp('conversation'),
    dataLake: cleanUp('dataLake'),
    file: cleanUp('file'),
    organization: cleanUp('organization'),
    project: cleanUp('project'),
    session: cleanUp('session'),
  };
}
