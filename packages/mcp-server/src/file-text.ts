import { ApiError, defineRoute, type Route, type Services } from '@questline/core';
import type { ModelInfo } from '@questline/core/ports';
import { readFileText } from './operations.ts';

/** About 100,000 characters of text. */
const READER: ModelInfo = {
  id: 'mcp-reader',
  name: 'MCP client',
  type: 'text',
  provider: 'mcp',
  contextWindow: 80_000,
  maxOutputTokens: 0,
};

/** Reads the text of a file that the caller may read and that is clean. */
export function createReadFileTextHandler(services: Services): Route {
  const { files } = services;
  return defineRoute(readFileText, services, async ({ params }, { caller, signal }) => {
    const { userId } = caller;
    const found = await files.find(userId, params.id);
    if (found === undefined) throw new ApiError(404, 'File not found');
    if (!found.isClean) throw unreadable(`${found.name} is not checked yet, or is blocked.`);
    for await (const { content, refusal } of files.contents(userId, [params.id], READER, { signal })) {
      if (refusal !== undefined) throw unreadable(refusal);
      const [part] = content ?? [];
      if (part?.type !== 'document') break;
      const text = Buffer.from(part.data, 'base64').toString('utf8');
      return { id: found.id, file_name: found.name, mime_type: found.mimeType, text };
    }
    throw unreadable(`${found.name} has no text.`);
  });
}

function unreadable(message: string): ApiError {
  return new ApiError(422, message, { code: 'unsupported_input' });
}
