import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ServicesFor } from '../../operations/feature-parts.ts';
import { writesTo } from '../../ports/write-all.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { createEnrichmentHandler, enrichAfterwards } from './job.ts';
import { ENRICHMENT_SLOTS } from './records.ts';

const deletion: DeletionHooks = {
  async session({ store }, id) {
    await store.collection(ENRICHMENT_SLOTS).take(id);
  },
  toSessionWrites: (id) => [writesTo(ENRICHMENT_SLOTS).removeWhere({ id }, 1)],
};

export const sessionEnrichment = {
  name: 'session-enrichment',
  collections: [ENRICHMENT_SLOTS],
  jobs: (services: ServicesFor<typeof createEnrichmentHandler>, running: RunningQuests) => [
    createEnrichmentHandler(services, running),
  ],
  deletion,
  followUps: (services: ServicesFor<typeof enrichAfterwards> & { readonly enrichment: boolean }) =>
    services.enrichment ? [enrichAfterwards(services)] : [],
};
