import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { listWhatsNew, type WhatsNewEntry } from './contract.ts';

const MAX_ENTRIES = 100;

interface WhatsNewServices extends PipelineServices {
  /** Absent: the host has no news, and the path belongs to it. */
  readonly whatsNew: (() => Promise<readonly WhatsNewEntry[]>) | undefined;
}

export const whatsNew = {
  name: 'whats-new',
  routes: (services: WhatsNewServices): Route[] => {
    const read = services.whatsNew;
    if (read === undefined) return [];
    return [
      defineRoute(listWhatsNew, services, async () => {
        const entries = [...(await read())];
        entries.sort((a, b) => Date.parse(b.published_at) - Date.parse(a.published_at));
        return { data: entries.slice(0, MAX_ENTRIES) };
      }),
    ];
  },
};
