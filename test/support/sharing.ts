import type { UserRecord } from '@questline/core';
import type { AnswerBody } from './answers.ts';
import type { TestApp } from './test-app.ts';

export interface CallAnswer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

/** Sends a request of a signed-in user. */
export async function callAs<const Method extends string, const Path extends string>(
  app: TestApp,
  who: UserRecord,
  method: Method,
  path: Path,
  body?: object,
): Promise<CallAnswer<AnswerBody<Method, Path>>> {
  const credential = await app.token(who);
  const answer = await app.ask(method, path, { credential, ...(body !== undefined && { body }) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Reads the entries of a list. @param field the field of the answer that has them. */
export async function readList(app: TestApp, who: UserRecord, path: string, field: string) {
  const body = (await callAs(app, who, 'GET', path)).body as Readonly<Record<string, unknown>>;
  return body[field] as readonly { readonly id: string; readonly permission?: string }[];
}

/** The path of the invites of a resource. All kinds of resources have the same answers. */
export const toInvites = (resource: string) => `/api/${resource}/invites` as `/api/session/${string}/invites`;

/** The owner invites a user, who accepts. @returns the answer to the acceptance. */
export async function shareWith(
  app: TestApp,
  owner: UserRecord,
  resource: string,
  who: UserRecord,
  permission: 'read' | 'write' = 'read',
): Promise<CallAnswer<AnswerBody<'POST', `/api/invites/${string}/accept`>>> {
  const offer = await callAs(app, owner, 'POST', toInvites(resource), {
    email: who.email,
    permission,
  });
  if (offer.status !== 201) throw new Error(`the invite was answered with ${offer.status}`);
  return callAs(app, who, 'POST', `/api/invites/${offer.body._id}/accept`);
}
