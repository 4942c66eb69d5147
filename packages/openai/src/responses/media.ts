import type { MediaLoader } from '@questline/core/internal';
import type { ModelContent } from '@questline/core/ports';
import { issue } from '../errors.ts';
import type { InputPart, OutputItem } from './contract-items.ts';
import { toModelNames } from './tools.ts';

/** Converts a part of a message of the user. @throws ApiError 400 that names the path. */
export async function toContent(
  part: InputPart,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  switch (part.type) {
    case 'input_text':
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'input_image':
      if (part.image_url != null) return [await media.image(part.image_url, `${path}.image_url`)];
      if (part.file_id != null) return media.stored(part.file_id, `${path}.file_id`);
      throw issue(path, 'expected image_url or file_id');
    case 'input_file':
      return toFile(part, path, media);
  }
}

async function toFile(
  { file_data: inline, file_id: id, file_url: url, filename }: Extract<InputPart, { type: 'input_file' }>,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  if (inline != null) return [await media.inline(inline, filename ?? 'file', `${path}.file_data`)];
  if (url != null) return [await media.document(url, filename ?? 'file', `${path}.file_url`)];
  if (id != null) return media.stored(id, `${path}.file_id`);
  throw issue(path, 'expected file_data, file_url or file_id');
}

/** The text of a tool's result, and the media that follow it: results of tools are text for most vendors. */
export async function toToolResult(
  item: OutputItem,
  toolName: string,
  path: string,
  media: MediaLoader,
): Promise<{ readonly text: string; readonly attached: readonly ModelContent[] }> {
  if (item.type === 'tool_search_output') {
    const names = toModelNames(item.tools);
    const text =
      names.length === 0 ? 'No tools were found.' : `These tools can be called now: ${names.join(', ')}`;
    return { text, attached: [] };
  }
  const { output } = item;
  if (typeof output === 'string') return { text: output, attached: [] };
  const texts: string[] = [];
  const attached: ModelContent[] = [];
  for (const [index, part] of output.entries()) {
    if (part.type === 'input_text') {
      texts.push(part.text);
      continue;
    }
    const kind = part.type === 'input_image' ? 'image' : 'file';
    const loaded = await toContent(part, `${path}.output.${index}`, media);
    texts.push(`[${kind}: follows the results]`);
    attached.push({ type: 'text', text: `The ${kind} of the result of ${toolName}:` }, ...loaded);
  }
  return { text: texts.join('\n'), attached };
}
