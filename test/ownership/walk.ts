import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { MAKERS } from '../support/owned-resources.ts';
import type { TestApp, TestAppOptions } from '../support/test-app.ts';
import type { Answer, Asked } from '../support/wire.ts';
import {
  FIELDS,
  FREE,
  getPlaces,
  inFields,
  inPaths,
  type Place,
  withBody,
  withPath,
  withQuery,
} from './id-places.ts';
import { CALLER_KINDS, type CallerKind, defaultCall } from './usual.ts';

const UNKNOWN = 'f'.repeat(24);

/**
 * Expected status where it is not 404, by operation and field; `*` applies to all of them. The texts are
 * equal anyway.
 */
export const STATUS: Readonly<Record<string, number>> = {
  'transferOrganization userId': 409,
  'createProject session_ids': 400,
  'createProject file_ids': 400,
  'updateProject session_ids': 400,
  'updateProject file_ids': 400,
  // The caller does not administer it, whatever its owner.
  'createApiKey organizationId': 403,
  // Sent by an administrator, who sees only submitted agents.
  'approveAgent id': 404,
  'refuseAgent id': 404,
  // A filter that matches no user.
  'listUsers organizationId': 200,
  // Any text is the id of a chat; one that is not the caller's has no running answer.
  'resumeUiChat id': 204,
  'stopUiChat id': 204,
  // The id of a scope without the scope.
  'listBudgets scopeId': 422,
};

/**
 * Fields of work that is accepted first: unreadable IDs fail the quest later, with a text that names nothing.
 */
export const LATER: readonly string[] = ['generateImage', 'editImage'].flatMap((id) =>
  ['projectId', 'fileIds', 'referenceImageFileIds'].map((field) => `${id} ${field}`),
);

/** Paths that answer 200 in both cases: deletion is idempotent. */
const GONE: readonly string[] = ['removeDataLakeFile file_id'];

/** Sends the ID of another user's record and an unknown one. @returns both answers. */
async function compare(
  more: TestAppOptions,
  callers: CallerKind,
  operation: Operation,
  noun: string,
  put: (asked: Asked, id: string, app: TestApp) => Promise<Asked> | Asked,
): Promise<readonly [foreign: Answer, unknown: Answer]> {
  const { wire, asked } = await defaultCall(operation, more, callers);
  const stranger = await wire.app.addUser('stranger@example.com');
  const id = await MAKERS[noun]?.(wire.app, stranger);
  if (id === undefined || id === '') throw new Error(`there is no id of ${noun}`);
  const answers: Answer[] = [];
  for (const one of [id, UNKNOWN]) {
    const answer = await wire.send(await put(asked, one, wire.app));
    // An error may contain the ID that was sent.
    answers.push({ ...answer, body: withoutId(answer.body, one) });
  }
  await wire.app.api.close();
  const [foreign, unknown] = answers as [Answer, Answer];
  return [foreign, unknown];
}

function expectAlike(foreign: Answer, unknown: Answer, status: number): void {
  expect({ status: foreign.status, body: foreign.body }).toEqual({
    status: unknown.status,
    body: unknown.body,
  });
  expect(foreign.status).toBe(status);
}

/** @param getOptions of the apps that are asked: for each test anew. */
export function describeForeignIds(getOptions: () => Promise<TestAppOptions> = async () => ({})): void {
  describe.each(CALLER_KINDS)(
    'an ID of another user in a path is answered like an unknown one, with %s',
    (callers) => {
      it.each(inPaths.filter(([title]) => FREE[title] === undefined))(
        '%s',
        async (title, operation, place) => {
          const put = (asked: Asked, id: string, app: TestApp) => putInPath(operation, place, asked, id, app);
          const [foreign, unknown] = await compare(await getOptions(), callers, operation, place.noun, put);
          if (GONE.includes(title)) return expectAlike(withoutIds(foreign), withoutIds(unknown), 200);
          expectAlike(foreign, unknown, STATUS[title] ?? (operation.owner === 'admin' ? 403 : 404));
        },
      );
    },
  );

  describe.each(CALLER_KINDS)(
    'an ID of another user in a field is answered like an unknown one, with %s',
    (callers) => {
      const walked = inFields.filter(([title]) => FREE[title] === undefined);

      it.each(walked)('%s', async (title, operation, part, field) => {
        const put = (asked: Asked, id: string) =>
          part === 'body' ? withBody(asked, field, id) : withQuery(asked, field, id);
        const noun = FIELDS[field.path] ?? '';
        const [foreign, unknown] = await compare(await getOptions(), callers, operation, noun, put);
        if (LATER.includes(title)) return expectAlike(withoutIds(foreign), withoutIds(unknown), 200);
        expectAlike(foreign, unknown, STATUS[title] ?? 404);
      });
    },
  );
}

/** The path with an ID, and with own IDs before it. */
function putInPath(
  operation: Operation,
  { name }: Place,
  asked: Asked,
  id: string,
  app: TestApp,
): Promise<Asked> {
  const places = getPlaces(operation).map((place) => place.name);
  return withPath(asked, operation, async (place) => {
    // IDs after the tested one are not evaluated.
    if (places.indexOf(place.name) > places.indexOf(name)) return UNKNOWN;
    return place.name === name ? id : ((await MAKERS[place.noun]?.(app, app.user)) ?? '');
  });
}

function withoutId(body: unknown, id: string): unknown {
  return body === '' ? body : (JSON.parse(JSON.stringify(body).replaceAll(id, 'id')) as unknown);
}

/** Accepted work has new IDs each time. */
function withoutIds(answer: Answer): Answer {
  // The second call continues the session of the first.
  const text = answer.text.replace('"intent":"continuation"', '"intent":"fresh"');
  return { ...answer, body: JSON.parse(text.replaceAll(/[0-9a-f]{24}/g, 'id')) as unknown };
}
