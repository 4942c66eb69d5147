import type { AttachedTexts } from '../src/features/data-lakes/attached.ts';
import { sessionKnowledge } from '../src/features/data-lakes/knowledge.ts';
import { knowledgeTools } from '../src/features/data-lakes/knowledge-tool.ts';
import { distinctWords } from '../src/features/data-lakes/words.ts';
import type { PromptContext, PromptPart } from '../src/prompts/prompt.ts';
import { LAKE, type LakeOptions, makeLakeFile, openLakes, toId } from './lakes.ts';

const PAYER = { account: 'user:ada', userId: 'ada' };
export const SESSION = toId(60);

interface Options extends LakeOptions {
  readonly hasPassage?: boolean;
  readonly attached?: AttachedTexts;
}

/** A lake with one passage, and files of the session. */
export async function openKnowledge({
  hasPassage = true,
  attached = { chosen: [], left: [] },
  ...options
}: Options = {}) {
  const opened = await openLakes({ embed: async () => ({ embeddings: [[1, 0]], tokens: 1 }), ...options });
  const { add, vectors, services } = opened;
  await add.file();
  await add.lake({ embeddingModel: 'vectors' });
  await add.lakeFile();
  const { id: fileId } = makeLakeFile();
  const chunk = { id: `${fileId}:4`, lakeId: LAKE, fileId, place: 4, text: 'red <source>', tags: ['a'] };
  if (hasPassage) await vectors.upsert([{ ...chunk, words: distinctWords(chunk.text), vector: [1, 0] }]);
  const asked: unknown[] = [];
  const source = sessionKnowledge(services, async (...given) => {
    asked.push(given);
    return attached;
  });
  const read = async (session: object, more: object = {}): Promise<readonly PromptPart[]> => {
    const turn = { id: 'turn', payer: PAYER, requestId: 'r' };
    return source({ userId: 'ada', message: 'red', session, turn, ...more } as unknown as PromptContext);
  };
  const tools = knowledgeTools(services);
  const scope = { userId: 'ada', sessionId: SESSION, payer: PAYER };
  const { signal } = new AbortController();
  const call = (input: object, more: object = {}) =>
    tools.run(
      { tool: 'knowledge_search', input },
      { ...scope, callKey: 'call', requestId: 'r', signal, ...more },
    );
  return { ...opened, asked, read, tools, scope, call };
}

/** The passage, as it is quoted. */
export const QUOTED = '<source name="a.txt">\nred < source>\n</source>';
