import type { SessionListener } from '../contract/session.ts';
import type { EventListener } from '../events/event.ts';
import type { EventSource } from '../events/source.ts';
import type { PeriodicTask } from '../jobs/engine.ts';
import type { JobHandler } from '../jobs/handler.ts';
import type { AuditSource } from '../operations/audit-source.ts';
import type { DeletionHooks } from '../operations/deletion.ts';
import type { ExamplesFile } from '../operations/feature-parts.ts';
import type { PersonalData } from '../operations/personal-data.ts';
import type { InUse, RetentionRule } from '../operations/retention.ts';
import type { Route } from '../operations/route.ts';
import type { CollectionShape } from '../ports/store.ts';
import type { PromptSource } from '../prompts/prompt.ts';
import type { FollowUp } from '../runs/quest-task.ts';
import type { RunningQuests } from '../runs/running.ts';
import type { ToolRegistry } from '../tools/registry.ts';

/**
 * One capability of the application: one line in `app/features.ts` registers every member of it.
 * `Base` are the services that exist before tools and prompts; `Full` are all services.
 */
export interface Feature<Base, Full> {
  readonly name: string;
  readonly collections?: readonly CollectionShape[];
  readonly routes?: (services: Full) => readonly Route[];
  /** Recorded requests and answers of its operations; `npm run examples:record` writes the file. */
  readonly examples?: () => Promise<ExamplesFile>;
  readonly jobs?: (services: Full, running: RunningQuests) => readonly JobHandler[];
  readonly periodicTasks?: (services: Full) => readonly PeriodicTask[];
  readonly deletion?: DeletionHooks;
  /** Its part in the export and the deletion of a user. */
  readonly personal?: (services: Full) => PersonalData;
  /** Its records that can be deleted by age or number. */
  readonly retention?: (services: Full) => RetentionRule | readonly RetentionRule[];
  /** The records of any feature that it uses now: they are not deleted by age or number. */
  readonly inUse?: InUse;
  readonly tools?: (services: Base) => readonly ToolRegistry[];
  readonly promptSources?: (services: Base) => readonly PromptSource[];
  readonly sessionListeners?: (services: Base) => readonly SessionListener[];
  /** Changes of its records that are events for the host. */
  readonly eventSources?: readonly EventSource[];
  /** Changes of its records that are entries of the audit log. */
  readonly auditSources?: readonly AuditSource[];
  /** Receive every event. */
  readonly eventListeners?: (services: Base) => readonly EventListener[];
  /** Jobs that follow a quest. */
  readonly followUps?: (services: Base) => readonly FollowUp[];
}
