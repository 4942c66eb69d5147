import type { LakeRecord } from '../src/features/data-lakes/records.ts';
import { distinctWords } from '../src/features/data-lakes/words.ts';
import { LAKE, type LakeOptions, makeLakeFile, openLakes, toId, VECTORS } from './lakes.ts';

const OTHER = { ...VECTORS, id: 'other' };
export const PAYER = { account: 'user:ada', userId: 'ada' };
/** Lakes with a file of one passage each, whose vectors differ. */
export async function openSources(records: readonly Partial<LakeRecord>[], options: LakeOptions = {}) {
  const keys: string[] = [];
  const opened = await openLakes({
    models: [VECTORS, OTHER],
    embed: async () => ({ embeddings: [[1, 0]], tokens: 1 }),
    change: ({ ledger }) => ({
      ledger: {
        ...ledger,
        hold(request) {
          keys.push(request.key);
          return ledger.hold(request);
        },
      },
    }),
    ...options,
  });
  const { add, vectors, services } = opened;
  await add.file();
  for (const [at, record] of records.entries()) {
    const lakeId = record.id ?? LAKE;
    await add.lake({ slug: lakeId, embeddingModel: 'vectors', ...record });
    const { id } = makeLakeFile({ id: toId(100 + at) });
    await add.lakeFile({ id, lakeId });
    const text = `passage of ${Number(lakeId)}`;
    const chunk = { id: `${id}:0`, lakeId, fileId: id, place: 0, text, tags: [`t${Number(lakeId)}`] };
    await vectors.upsert([{ ...chunk, words: distinctWords(text), vector: [1, at / 10] }]);
  }
  const lakes = () => opened.lakes.find({}, { order: { field: 'createdAt', direction: 'asc' } });
  return { ...opened, keys, listLakes: lakes, services };
}
