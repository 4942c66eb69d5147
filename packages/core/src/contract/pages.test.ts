import { describe, expect, it } from 'vitest';
import { bracketQuery, getRange, toBracketPage } from './bracket-pages.ts';
import { badCursor, decodeCursor, encodeCursor, pageQuery, toPage } from './cursor.ts';
import { numberedQuery, toPagination } from './pages.ts';

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

describe('numbered page', () => {
  it.each([
    [1, 10, 0, { pages: 0, hasNext: false, hasPrev: false }],
    [1, 10, 10, { pages: 1, hasNext: false, hasPrev: false }],
    [1, 10, 11, { pages: 2, hasNext: true, hasPrev: false }],
    [2, 10, 11, { pages: 2, hasNext: false, hasPrev: true }],
    [3, 10, 11, { pages: 2, hasNext: false, hasPrev: true }],
  ])('says where it lies: page %i of %i, %i in all', (page, limit, total, place) => {
    expect(toPagination({ page, limit }, total)).toEqual({
      page,
      limit,
      total,
      ...place,
      totalPages: place.pages,
    });
  });

  it('has a number from 1 and a limit up to 100, with defaults', () => {
    const query = numberedQuery(7);
    expect(query.parse({})).toEqual({ page: 1, limit: 7 });
    expect(numberedQuery().parse({ page: '10000000', limit: '100', order: 'asc' })).toEqual({
      ...{ page: 10_000_000, limit: 100, order: 'asc' },
    });
    for (const refused of [
      { page: '0' },
      { page: '10000001' },
      { limit: '101' },
      { limit: '1.5' },
      { order: 'up' },
    ])
      expect([refused, query.safeParse(refused).success]).toEqual([refused, false]);
  });
});

describe('bracket page', () => {
  it.each([
    [{}, 0, 21],
    [{ 'pagination[page]': '3', 'pagination[limit]': '5' }, 10, 6],
  ])('reads one row more than it shows: %j', (query, offset, limit) => {
    expect(getRange(bracketQuery.parse(query))).toEqual({ offset, limit });
  });

  it.each([
    [4, 4, false],
    [5, 5, false],
    [6, 5, true],
  ])('of 5 has of %i rows %i, and another page: %s', (rows, shown, hasMore) => {
    const query = bracketQuery.parse({ 'pagination[limit]': '5' });
    const page = toBracketPage(numbers(rows), query, String);
    expect(page).toEqual({ data: numbers(shown).map(String), hasMore });
  });

  it('refuses numbers out of bounds and long texts', () => {
    for (const query of [
      { 'pagination[page]': '0' },
      { 'pagination[limit]': '101' },
      { search: 'x'.repeat(201) },
    ])
      expect([query, bracketQuery.safeParse(query).success]).toEqual([query, false]);
    expect(bracketQuery.safeParse({ search: 'x'.repeat(200), 'pagination[limit]': '100' }).success).toBe(
      true,
    );
  });
});

describe('cursor page', () => {
  const place = { value: -5, id: 'a' };

  it('goes on at the place of its last row', () => {
    const at = (row: number) => `at ${row}`;
    expect(toPage(numbers(3), 2, String, at)).toEqual({ data: ['0', '1'], next_cursor: 'at 1' });
    expect(toPage(numbers(2), 2, String, at)).toEqual({ data: ['0', '1'], next_cursor: null });
    expect(toPage(numbers(0), 2, String, at)).toEqual({ data: [], next_cursor: null });
  });

  it('finds its place again, for the same list and owner only', () => {
    const cursor = encodeCursor('files', 'u', place);
    expect(decodeCursor('files', 'u', cursor)).toEqual(place);
    expect(decodeCursor('files', 'u', undefined)).toBeUndefined();
    for (const [list, owner] of [
      ['files', 'v'],
      ['sessions', 'u'],
      ['filesu', ''],
    ] as const)
      expect(() => decodeCursor(list, owner, cursor)).toThrow(badCursor().message);
  });

  it('is stored by clients, so its form stays', () => {
    const [mark] = JSON.parse(
      Buffer.from(encodeCursor('files', 'u', place), 'base64url').toString(),
    ) as string[];
    expect(mark).toMatch(/^.{12}$/);
  });

  it('refuses what it has not written', () => {
    const [mark] = JSON.parse(
      Buffer.from(encodeCursor('files', 'u', place), 'base64url').toString(),
    ) as unknown[];
    const contents = [
      [mark, 1],
      [mark, 1, 'a', 'b'],
      ['other', 1, 'a'],
      [mark, 1.5, 'a'],
      [mark, '1', 'a'],
      [mark, 1, 2],
      [mark, 1, 'a\u0000'],
      [mark, 1, '\ud800'],
      { length: 3 },
      null,
    ];
    const texts = [...contents.map((content) => JSON.stringify(content)), 'no json'];
    for (const text of texts) {
      const cursor = Buffer.from(text).toString('base64url');
      expect(() => decodeCursor('files', 'u', cursor)).toThrow(badCursor().message);
    }
    expect(badCursor()).toMatchObject({
      status: 422,
      details: [{ path: 'cursor', message: expect.any(String) }],
    });
  });

  it('has a limit of 1 to 100, 25 by default', () => {
    expect(pageQuery.parse({})).toEqual({ limit: 25 });
    expect(pageQuery.parse({ limit: '100', cursor: 'x' })).toEqual({ limit: 100, cursor: 'x' });
    for (const query of [
      { limit: '0' },
      { limit: '101' },
      { limit: '01' },
      { cursor: '' },
      { cursor: 'x'.repeat(1025) },
    ])
      expect([query, pageQuery.safeParse(query).success]).toEqual([query, false]);
    expect(pageQuery.safeParse({ cursor: 'x'.repeat(1024) }).success).toBe(true);
  });
});
