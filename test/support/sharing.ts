import type { UserRecord } from '@questline/core';
import type { TestApp } from './test-app.ts';

export interface CallAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at, not trusted.
  readonly body: any;
}

/** Sends a request of a signed-in user. */
export async function callAs(
  app: TestApp,
  who: UserRecord,
  method: string,
  path: string,
  body?: object,
): Promise<CallAnswer> {
  const credential = await app.token(who);
  const answer = await app.ask(method, path, { credential, ...(body !== undefined && { body }) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** The owner invites a user, who accepts. @returns the answer to the acceptance. */
export async function shareWith(
  app: TestApp,
  owner: UserRecord,
  resource: string,
  who: UserRecord,
  permission: 'read' | 'write' = 'read',
): Promise<CallAnswer> {
  const offer = await callAs(app, owner, 'POST', `/api/${resource}/invites`, {
    email: who.email,
    permission,
  });
  if (offer.status !== 201) throw new Error(`the invite was answered with ${offer.status}`);
  return callAs(app, who, 'POST', `/api/invites/${offer.body._id}/accept`);
}
