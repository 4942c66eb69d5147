import { defineEventSource } from '../../events/source.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';

export const userEvents = defineEventSource<UserRecord>({
  collection: USERS,
  inserts: true,
  matches: () => false,
  toEvents: ({ before, after: { id } }) =>
    before === undefined ? [{ type: 'user.created', data: { id, userId: id } }] : [],
});
