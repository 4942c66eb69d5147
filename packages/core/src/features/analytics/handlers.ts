import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { logEvent } from './contract.ts';
import { ANALYTICS_EVENTS } from './records.ts';

export interface AnalyticsServices extends PipelineServices {
  readonly store: Store;
}

/** `POST /api/analytics/log-event` */
export function createLogEventHandler(services: AnalyticsServices): Route {
  const events = services.store.collection(ANALYTICS_EVENTS);
  return defineRoute(logEvent, services, async ({ body: { event, properties } }, { caller }) => {
    const createdAt = services.clock.now();
    await events.insert({ id: services.ids.next(), userId: caller.userId, event, properties, createdAt });
    return undefined;
  });
}
