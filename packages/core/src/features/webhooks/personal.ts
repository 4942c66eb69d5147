import { findAll, type PersonalData, type PersonalRecord } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS } from './records.ts';

export function personalWebhooks({ store }: { readonly store: Store }): PersonalData {
  return {
    async *find(userId): AsyncGenerator<PersonalRecord> {
      for await (const webhook of findAll(store, WEBHOOKS, { owner: `user:${userId}` })) {
        for await (const delivery of findAll(store, WEBHOOK_DELIVERIES, { webhookId: webhook.id })) {
          yield { shape: WEBHOOK_DELIVERIES, record: { ...delivery } };
        }
        yield { shape: WEBHOOKS, record: { ...webhook } };
      }
    },
    // Webhooks of organizations stay, without their creator; deliveries name the user whose event they contain.
    async eraseTraces(userId) {
      for await (const { id, createdBy } of findAll(store, WEBHOOKS, {})) {
        if (createdBy === userId) await store.collection(WEBHOOKS).update(id, { createdBy: '' });
      }
      for await (const { id, payload } of findAll(store, WEBHOOK_DELIVERIES, {})) {
        if (payload.includes(userId)) await store.collection(WEBHOOK_DELIVERIES).take(id);
      }
    },
  };
}
