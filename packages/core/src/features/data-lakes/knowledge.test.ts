import { describe, expect, it } from 'vitest';
import { openKnowledge, QUOTED } from '../../../test/lake-knowledge.ts';
import { FILE, LAKE, makeLakeFile, toId } from '../../../test/lakes.ts';
import { ProviderError } from '../../ports/models.ts';
import { quotePassage } from './knowledge.ts';

const FORCED = { forceKnowledgeRetrieval: true, dataLakeId: LAKE };
const NOT_SEARCHED = 'The documents of this session could not be searched just now.';
const part = (text: string, more: object = {}) => ({
  source: 'session',
  name: 'knowledge',
  text,
  perTurn: true,
  ...more,
});

describe('the knowledge of a turn', () => {
  it('has the passages of its lakes, with what they come from', async () => {
    const { services, read, money } = await openKnowledge();
    const [preface, passage, ...others] = await read(FORCED);
    expect(preface).toEqual(part(expect.stringContaining('Passages from documents') as unknown as string));
    const citation = {
      file_id: FILE,
      lake_id: LAKE,
      chunk_id: `${makeLakeFile().id}:4`,
      score: 1,
      file_name: 'a.txt',
    };
    expect(passage).toEqual(part(QUOTED, { name: 'knowledge:a.txt#5', citation }));
    expect(others).toEqual([]);
    expect(await money()).toEqual({ charged: 100, held: 0 });
    const charges = await services.ledger.charges({ account: 'user:ada' }, 9);
    expect(charges).toMatchObject([{ operation: 'sendChatMessage', requestId: 'r' }]);
  });

  it('is charged once for each turn', async () => {
    const keys: string[] = [];
    const { read } = await openKnowledge({
      change: ({ ledger }) => ({
        ledger: {
          ...ledger,
          hold(request) {
            keys.push(request.key);
            return ledger.hold(request);
          },
        },
      }),
    });
    await read(FORCED);
    expect(keys).toEqual(['turn:knowledge:vectors']);
  });

  it.each([
    ['without a lake', { forceKnowledgeRetrieval: true }, {}],
    ['without being forced', { dataLakeId: LAKE }, {}],
    ['without a turn to charge', FORCED, { turn: undefined }],
    ['in a session of no lake and no file', {}, { promptMode: 'grounded' }],
    ['without files', { knowledgeIds: [] }, {}],
  ])('is empty %s', async (_, session, more) => {
    const { read, requests, asked } = await openKnowledge();
    expect(await read(session, more)).toEqual([]);
    expect([requests, asked]).toEqual([[], []]);
  });

  it('is searched if the request asks for it, in own lakes, too', async () => {
    const { read } = await openKnowledge();
    expect(await read({ dataLakeId: LAKE }, { promptMode: 'grounded' })).toHaveLength(2);
    const own = await openKnowledge();
    expect(await own.read({ forceKnowledgeRetrieval: true, includeLibraryFiles: true })).toHaveLength(2);
  });

  it('says that nothing was found, or searched', async () => {
    const nothing =
      'The documents of this session were searched for this question, and nothing was found in them.';
    expect(await (await openKnowledge({ hasPassage: false })).read(FORCED)).toEqual([part(nothing)]);
    const { read } = await openKnowledge();
    expect(await read({ ...FORCED, retrievalTags: ['b'] })).toEqual([part(nothing)]);
    expect(await read({ ...FORCED, retrievalTags: ['a'] })).toHaveLength(2);
    const off = await openKnowledge({ admin: { EnableDataLakes: false } });
    expect(await off.read(FORCED)).toEqual([part(NOT_SEARCHED, { leftOut: 'disabled' })]);
    expect(await read({ ...FORCED, dataLakeId: toId(9) })).toEqual([
      part(NOT_SEARCHED, { leftOut: 'disabled' }),
    ]);
    const none = { forceKnowledgeRetrieval: true, includeLibraryFiles: true };
    expect(await read(none, { userId: 'bob' })).toEqual([]);
  });

  it('is left out of a raw request, without a charge', async () => {
    const { read, requests, asked } = await openKnowledge();
    expect(await read({ dataLakeId: LAKE }, { promptMode: 'raw' })).toEqual([]);
    const [one, ...others] = await read({ ...FORCED, knowledgeIds: [FILE] }, { promptMode: 'raw' });
    expect(one).toMatchObject({ leftOut: 'disabled' });
    expect([others, requests, asked]).toEqual([[], [], []]);
  });

  it('has the files of its session before its lakes', async () => {
    const attached = {
      chosen: [{ fileId: FILE, fileName: 'b"<>\n\r.txt', place: 0, text: 'one </ SOURCE >' }],
      left: [{ fileName: 'c.txt', text: 'rest' }],
    };
    const { read, asked } = await openKnowledge({ attached });
    const parts = await read({ ...FORCED, knowledgeIds: [FILE] });
    expect(asked).toEqual([['ada', [FILE], 'red']]);
    expect(parts.map(({ name }) => name)).toEqual([
      'knowledge',
      'knowledge:b"<>\n\r.txt#1',
      'knowledge:c.txt (rest)',
      'knowledge:a.txt#5',
    ]);
    expect(parts[1]).toMatchObject({ text: '<source name="b     .txt">\none < / SOURCE >\n</source>' });
    expect(parts[1]?.citation).toEqual({ file_id: FILE, file_name: 'b"<>\n\r.txt' });
    const rest = part('rest', { name: 'knowledge:c.txt (rest)', leftOut: 'token_limit' });
    expect(parts[2]).toEqual(rest);
    const unforced = await openKnowledge({ attached });
    await unforced.read({ dataLakeId: LAKE, knowledgeIds: [FILE] });
    expect(unforced.requests).toEqual([]);
    const left = await openKnowledge({ attached: { chosen: [], left: attached.left } });
    expect(await left.read({ knowledgeIds: [FILE] })).toEqual([rest]);
  });

  it('goes on without a search that fails', async () => {
    const error = new ProviderError('failed', 'why');
    const { read, incidents } = await openKnowledge({ embed: () => Promise.reject(error) });
    expect(await read(FORCED)).toEqual([part(NOT_SEARCHED)]);
    expect(incidents).toContainEqual({ operation: 'knowledge', requestId: 'r', error });
    const poor = await openKnowledge({ credit: 0 });
    expect(await poor.read(FORCED)).toEqual([part(NOT_SEARCHED)]);
    expect(poor.incidents).toEqual([]);
  });

  it('fails if the index is away', async () => {
    const away = () => Promise.reject(new Error('away'));
    const { read } = await openKnowledge({
      change: ({ vectors }) => ({ vectors: { ...vectors, nearest: away } }),
    });
    await expect(read(FORCED)).rejects.toThrow('away');
  });
});

it('keeps a document from ending its quotation', () => {
  expect(quotePassage('a', 'x < / source> <SOURCE y')).toBe(
    '<source name="a">\nx <  / source> < SOURCE y\n</source>',
  );
});
