import { INVALID_PARAMS, isObject, type JsonObject, RpcError } from './json-rpc.ts';
import { orRefused } from './refusals.ts';
import type { Runner } from './runner.ts';
import { isSkillUri, readSkillFile } from './skills/extension.ts';
import type { Era } from './versions.ts';

const FILE = /^questline:\/\/files\/([0-9a-f]{24})$/;
const SESSION = /^questline:\/\/sessions\/([0-9a-f]{24})$/;

const NOT_FOUND = -32002;
/** Messages of a session that are read, counted from the newest. */
const MAX_MESSAGES = '100';

export const RESOURCE_TEMPLATES: readonly JsonObject[] = [
  {
    uriTemplate: 'questline://files/{id}',
    name: 'file',
    title: 'The text of a file',
  },
  {
    uriTemplate: 'questline://sessions/{id}',
    name: 'session',
    title: 'The last 100 messages of a session',
    mimeType: 'application/json',
  },
];

/** Lists the files of the caller. @throws RpcError */
export async function listResources({ cursor }: JsonObject, runner: Runner, era: Era): Promise<JsonObject> {
  if (cursor !== undefined && typeof cursor !== 'string') {
    throw new RpcError(INVALID_PARAMS, 'cursor: expected text');
  }
  const page = await ask(runner, { era }, 'listFiles', { query: cursor === undefined ? {} : { cursor } });
  const { data, next_cursor: nextCursor } = page;
  return {
    resources: (Array.isArray(data) ? data : []).filter(isObject).map((file) => ({
      uri: `questline://files/${String(file.id)}`,
      name: file.file_name,
      mimeType: file.mime_type,
      size: file.file_size,
    })),
    ...(typeof nextCursor === 'string' && { nextCursor }),
  };
}

/** Reads a file, a session or a skill. @throws RpcError */
export async function readResource({ uri }: JsonObject, runner: Runner, era: Era): Promise<JsonObject> {
  if (typeof uri !== 'string') throw new RpcError(INVALID_PARAMS, 'uri: expected text');
  if (isSkillUri(uri)) return readSkillFile(uri, runner, (message) => notFound(message, { uri, era }));
  const [, fileId] = FILE.exec(uri) ?? [];
  if (fileId !== undefined) {
    const { text } = await ask(runner, { uri, era }, 'readFileText', { params: { id: fileId } });
    return { contents: [{ uri, mimeType: 'text/plain', text }] };
  }
  const [, sessionId] = SESSION.exec(uri) ?? [];
  if (sessionId === undefined) throw notFound(uri, { uri, era });
  const { data } = await ask(runner, { uri, era }, 'listSessionMessages', {
    params: { id: sessionId },
    query: { limit: MAX_MESSAGES, order: 'desc' },
  });
  const messages = Array.isArray(data) ? data.toReversed() : [];
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(messages) }] };
}

/** What an error says about the resource that was asked for. */
interface Asked {
  readonly uri?: string;
  readonly era: Era;
}

function ask(
  runner: Runner,
  asked: Asked,
  id: string,
  input: Parameters<Runner['run']>[1],
): Promise<JsonObject> {
  return orRefused(
    () => runner.run(id, input),
    (message) => notFound(message, asked),
  );
}

function notFound(what: string, { uri, era }: Asked): RpcError {
  return new RpcError(era === 'modern' ? INVALID_PARAMS : NOT_FOUND, `Resource not found: ${what}`, {
    ...(uri !== undefined && { data: { uri } }),
  });
}
