import { describe, expect, it } from 'vitest';
import { MAKERS } from '../support/owned-resources.ts';
import { FIELDS, FREE, inFields, inPaths } from './id-places.ts';
import { describeForeignIds, LATER, STATUS } from './walk.ts';

/*
 * Answers never reveal that a resource of another user exists. The test walks every operation: each ID in a
 * path and each ID field of a body or query is sent with the ID of another user's record and with an unknown
 * ID. An operation that is not covered fails here.
 */

describe('ids that operations take', () => {
  it('are all tested, including a newly added path or field', () => {
    expect(inPaths.filter(([, , { noun }]) => MAKERS[noun] === undefined).map(([title]) => title)).toEqual(
      [],
    );
    const unknown = inFields.filter(
      ([title, , , { path }]) => FREE[title] === undefined && MAKERS[FIELDS[path] ?? ''] === undefined,
    );
    expect(unknown.map(([title]) => title)).toEqual([]);
    // The lists contain no removed fields or paths.
    const titles: readonly string[] = [...inFields, ...inPaths].map(([title]) => title);
    expect(
      [...Object.keys(FREE), ...Object.keys(STATUS), ...LATER].filter((title) => !titles.includes(title)),
    ).toEqual([]);
  });
});

describeForeignIds();
