import type { KeyChanged } from '../../events/event.ts';
import { defineEventSource } from '../../events/source.ts';
import { API_KEYS, type ApiKeyRecord } from '../../identity/records.ts';

export const apiKeyEvents = defineEventSource<ApiKeyRecord>({
  collection: API_KEYS,
  inserts: true,
  matches: ({ status }) => status === 'disabled',
  toEvents({ before, after }) {
    if (before === undefined) return [{ type: 'key.created', data: toData(after) }];
    if (before.status === 'disabled' || after.status !== 'disabled') return [];
    return [{ type: 'key.revoked', data: toData(after) }];
  },
});

function toData({ id, userId, organizationId }: ApiKeyRecord): KeyChanged {
  return { id, userId, ...(organizationId !== null && { organizationId }) };
}
