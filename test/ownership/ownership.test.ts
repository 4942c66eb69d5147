import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { MAKERS } from '../support/possessions.ts';
import type { Answer, Asked } from '../support/wire.ts';
import { createWorld, type World } from '../support/world.ts';
import { type IdField, idFieldsOf } from './fields.ts';
import { usualCall } from './usual.ts';

/*
 * Nobody learns from an answer that somebody else's thing exists. Walks every operation of the api: each id in a path and
 * each field of ids in a body or query is asked with one of a stranger's and with one that nothing has. An operation that is
 * not covered fails here.
 */

const UNKNOWN = 'f'.repeat(24);

/** Parameters of paths that are no ids. */
const NO_IDS: readonly string[] = ['version'];

/** By the name of a field: what its ids are ids of, as a path calls it. */
const FIELDS: Readonly<Record<string, string>> = {
  agentId: 'agents',
  agentIds: 'agents',
  agent_id: 'agents',
  artifactIds: 'artifacts',
  dataLakeId: 'data-lakes',
  fileIds: 'files',
  file_id: 'files',
  file_ids: 'files',
  input_image_file_id: 'files',
  knowledgeIds: 'files',
  organizationId: 'organization',
  organization_id: 'organization',
  projectId: 'projects',
  project_id: 'projects',
  referenceImageFileIds: 'files',
  sessionId: 'sessions',
  session_file_ids: 'files',
  session_id: 'sessions',
  session_ids: 'sessions',
  userId: 'users',
};

/** Fields that no user's thing stands behind, and why. */
const FREE: Readonly<Record<string, string>> = {
  'createCompletion messages.[].content.[].id': 'made by a model for its own call',
  'createCompletion messages.[].content.[].tool_use_id': 'made by a model for its own call',
  'generateMusic modelId': 'names a model, which is of no user',
  'deleteRegistrationInvites ids':
    'for administrators, who see all of them; what is gone already is no fault',
};

/** What is answered, where it is not 404: by operation and field, `*` for all of them. The words are alike all the same. */
const STATUS: Readonly<Record<string, number>> = {
  'createProject session_ids': 400,
  'createProject file_ids': 400,
  // Not administered by the caller, whoever's it is.
  'createApiKey organizationId': 403,
  // A filter that matches nobody.
  'listUsers organizationId': 200,
};

/** Fields of work that is accepted first: what cannot be read there ends the quest, in words that name nothing. */
const LATER: readonly string[] = ['generateImage', 'editImage'].flatMap((id) =>
  ['projectId', 'fileIds', 'referenceImageFileIds'].map((field) => `${id} ${field}`),
);

/** Paths that are answered alike with 200: what is not there is gone already. */
const GONE: readonly string[] = ['removeDataLakeFile file_id'];

const { api } = await createWorld();
const OPERATIONS = api.routes.map(({ operation }) => operation);

interface Place {
  readonly name: string;
  /** What stands there is one of these. */
  readonly noun: string;
}

/** The ids in a path. */
function placesOf({ path }: Operation): readonly Place[] {
  const segments = path.split('/');
  return segments.flatMap((segment, at) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    return name === undefined || NO_IDS.includes(name) ? [] : [{ name, noun: segments[at - 1] ?? '' }];
  });
}

const inPaths = OPERATIONS.flatMap((operation) =>
  placesOf(operation).map((place) => [`${operation.id} ${place.name}`, operation, place] as const),
);

const inFields = OPERATIONS.flatMap((operation) =>
  (['body', 'query'] as const).flatMap((part) =>
    idFieldsOf(operation.input[part]).map(
      (field) => [`${operation.id} ${field.path}`, operation, part, field] as const,
    ),
  ),
);

describe('every id that an operation takes', () => {
  it('is walked: a path or field that nobody has thought of fails here', () => {
    expect(inPaths.filter(([, , { noun }]) => MAKERS[noun] === undefined).map(([title]) => title)).toEqual(
      [],
    );
    const unknown = inFields.filter(
      ([title, , , { path }]) => FREE[title] === undefined && MAKERS[FIELDS[path] ?? ''] === undefined,
    );
    expect(unknown.map(([title]) => title)).toEqual([]);
    // Nothing stands in the lists that is not there any more.
    const titles: readonly string[] = inFields.map(([title]) => title);
    expect(
      [...Object.keys(FREE), ...Object.keys(STATUS), ...LATER].filter((title) => !titles.includes(title)),
    ).toEqual([]);
  });
});

/** Asks with a stranger's and with an unknown one. @returns both answers. */
async function compare(
  operation: Operation,
  noun: string,
  put: (asked: Asked, id: string, world: World) => Promise<Asked> | Asked,
): Promise<readonly [foreign: Answer, unknown: Answer]> {
  const { wire, asked } = await usualCall(operation);
  const stranger = await wire.world.addUser('stranger@example.com');
  const id = await MAKERS[noun]?.(wire.world, stranger);
  if (id === undefined || id === '') throw new Error(`there is no id of ${noun}`);
  const answers: Answer[] = [];
  for (const one of [id, UNKNOWN]) answers.push(await wire.send(await put(asked, one, wire.world)));
  await wire.world.api.close();
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

describe("in a path, a stranger's reads like an unknown one", () => {
  it.each(inPaths)('%s', async (title, operation, { name, noun }) => {
    const [foreign, unknown] = await compare(operation, noun, async (asked, id, world) => {
      let path = operation.path as string;
      for (const place of placesOf(operation)) {
        const own = place.name === name ? id : await MAKERS[place.noun]?.(world, world.user);
        path = path.replace(`{${place.name}}`, own ?? '');
        // What follows the id that is asked about is never looked at.
        if (place.name === name) break;
      }
      path = path.replace(/\{version\}/, '1').replaceAll(/\{[^}]+\}/g, UNKNOWN);
      return { ...asked, path: `${path}${asked.path.match(/\?.*$/)?.[0] ?? ''}` };
    });
    if (GONE.includes(title)) return expectAlike(withoutIds(foreign), withoutIds(unknown), 200);
    expectAlike(foreign, unknown, operation.owner === 'admin' ? 403 : 404);
  });
});

describe("in a field, a stranger's reads like an unknown one", () => {
  const walked = inFields.filter(([title]) => FREE[title] === undefined);

  it.each(walked)('%s', async (title, operation, part, field) => {
    const [foreign, unknown] = await compare(operation, FIELDS[field.path] ?? '', (asked, id) =>
      part === 'body' ? withBody(asked, field, id) : withQuery(asked, field, id),
    );
    if (LATER.includes(title)) return expectAlike(withoutIds(foreign), withoutIds(unknown), 200);
    expectAlike(foreign, unknown, STATUS[title] ?? 404);
  });
});

/** Work that is accepted is something new each time. */
function withoutIds(answer: Answer): Answer {
  return { ...answer, body: JSON.parse(answer.text.replaceAll(/[0-9a-f]{24}/g, 'id')) as unknown };
}

function withBody(asked: Asked, { path, isList }: IdField, id: string): Asked {
  return { ...asked, body: { ...(asked.body as object | undefined), [path]: isList ? [id] : id } };
}

function withQuery(asked: Asked, { path }: IdField, id: string): Asked {
  const [address = '', query = ''] = asked.path.split('?');
  const values = new URLSearchParams(query);
  values.set(path, id);
  return { ...asked, path: `${address}?${values}` };
}
