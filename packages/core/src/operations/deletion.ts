import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { StoreWrite } from '../ports/write-all.ts';

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
  /** Runs before the deletion of quests whose session stays. */
  readonly quests?: (services: DeletionServices, ids: readonly string[]) => Promise<void>;
  readonly session?: DeletionHook;
  /** `session` as writes, which have no effect if there is more to do. */
  readonly toSessionWrites?: (id: string) => readonly StoreWrite[];
}

/** Runs the clean-up hooks of all features in sequence. */
export interface DeletionCleanup {
  artifact(id: string): Promise<void>;
  conversation(id: string): Promise<void>;
  dataLake(id: string): Promise<void>;
  file(id: string): Promise<void>;
  organization(id: string): Promise<void>;
  project(id: string): Promise<void>;
  quests(ids: readonly string[]): Promise<void>;
  session(id: string): Promise<void>;
  /** @returns undefined if a feature has no such writes. */
  toSessionWrites(id: string): readonly StoreWrite[] | undefined;
}

export function createDeletionCleanup(
  services: DeletionServices,
  hooks: readonly DeletionHooks[],
): DeletionCleanup {
  const cleanUp =
    (kind: Exclude<keyof DeletionHooks, 'quests' | 'toSessionWrites'>) => async (id: string) => {
      for (const one of hooks) await one[kind]?.(services, id);
    };
  return {
    artifact: cleanUp('artifact'),
    conversation: cleanUp('conversation'),
    dataLake: cleanUp('dataLake'),
    file: cleanUp('file'),
    organization: cleanUp('organization'),
    project: cleanUp('project'),
    async quests(ids) {
      for (const one of hooks) await one.quests?.(services, ids);
    },
    session: cleanUp('session'),
    toSessionWrites(id) {
      const concerned = hooks.filter(({ session }) => session !== undefined);
      if (concerned.some(({ toSessionWrites }) => toSessionWrites === undefined)) return undefined;
      return concerned.flatMap(({ toSessionWrites }) => toSessionWrites?.(id) ?? []);
    },
  };
}
