import type { MediaLoader } from '@questline/core/internal';
import type { ModelContent } from '@questline/core/ports';
import { unsupported } from '../errors.ts';
import type {
  DocumentBlock,
  ImageBlock,
  RequestBlock,
  SearchResultBlock,
  TextBlock,
  ToolResultBlock,
} from './contract-blocks.ts';

type Plain = TextBlock | ImageBlock | DocumentBlock | SearchResultBlock;
type ResultBlock = Exclude<NonNullable<ToolResultBlock['content']>, string>[number];

/** Converts a block that is no call, result or thought. @throws ApiError 400 that names the path. */
export async function toPlainContent(
  block: Plain,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return toImage(block, path, media);
    case 'document':
      return toDocument(block, path, media);
    case 'search_result':
      refuseCitations(block, path);
      return [{ type: 'text', text: describeSearchResult(block) }];
  }
}

async function toImage(
  { source }: ImageBlock,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  switch (source.type) {
    case 'base64':
      return [{ type: 'image', mediaType: source.media_type, data: source.data }];
    case 'url':
      return [await media.image(source.url, `${path}.source.url`)];
    case 'file':
      return media.stored(source.file_id, `${path}.source.file_id`);
  }
}

async function toDocument(
  block: DocumentBlock,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  refuseCitations(block, path);
  const { title, context } = block;
  const content = await readDocument(block, path, media);
  if (!context) return content;
  return [{ type: 'text', text: `About the document ${title ?? ''}: ${context}` }, ...content];
}

async function readDocument(
  { source, title }: DocumentBlock,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  const name = title || 'document';
  switch (source.type) {
    case 'base64':
      return [
        await media.sent({ contentType: source.media_type, data: source.data, name }, `${path}.source`),
      ];
    case 'text':
      return [toTextDocument(source.data, name)];
    case 'content': {
      if (typeof source.content === 'string') return [toTextDocument(source.content, name)];
      const parts = source.content.map((part, index) =>
        toPlainContent(part, `${path}.source.content.${index}`, media),
      );
      return (await Promise.all(parts)).flat();
    }
    case 'url':
      return [await media.document(source.url, name, `${path}.source.url`)];
    case 'file':
      return media.stored(source.file_id, `${path}.source.file_id`);
  }
}

function toTextDocument(text: string, name: string): ModelContent {
  return { type: 'document', mediaType: 'text/plain', data: Buffer.from(text).toString('base64'), name };
}

function refuseCitations({ citations }: DocumentBlock | SearchResultBlock, path: string): void {
  if (citations?.enabled === true) throw unsupported(`${path}.citations`, 'citations');
}

function describeSearchResult({ title, source, content }: SearchResultBlock): string {
  return [`${title} (${source})`, ...content.map(({ text }) => text)].join('\n');
}

/** The text of a tool's result, and the media that follow it: results of tools are text for most vendors. */
export async function toToolResult(
  { content }: ToolResultBlock,
  toolName: string,
  path: string,
  media: MediaLoader,
): Promise<{ readonly text: string; readonly attached: readonly ModelContent[] }> {
  if (content == null || typeof content === 'string') return { text: content ?? '', attached: [] };
  const texts: string[] = [];
  const attached: ModelContent[] = [];
  for (const [index, block] of content.entries()) {
    const inline = toText(block);
    if (inline !== undefined) {
      texts.push(inline);
      continue;
    }
    const loaded = await toPlainContent(
      block as ImageBlock | DocumentBlock,
      `${path}.content.${index}`,
      media,
    );
    texts.push(`[${block.type}: follows the results]`);
    attached.push({ type: 'text', text: `The ${block.type} of the result of ${toolName}:` }, ...loaded);
  }
  return { text: texts.join('\n'), attached };
}

function toText(block: ResultBlock): string | undefined {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'search_result':
      return describeSearchResult(block);
    case 'tool_reference':
      return `The tool ${block.tool_name} can be called.`;
    default:
      return undefined;
  }
}

/** Whether a block ends a prefix that is worth caching. */
export function isMarked(block: RequestBlock): boolean {
  return block.cache_control != null;
}
