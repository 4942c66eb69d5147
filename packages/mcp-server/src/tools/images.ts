import type { Caller, Services } from '@questline/core';
import { findDefaultImageModel, QUESTS } from '@questline/core/internal';
import * as z from 'zod';
import type { JsonObject } from '../json-rpc.ts';
import { type Content, failed, structured, type ToolResult, WrongArgument } from '../results.ts';
import {
  checkNames,
  type Fields,
  getFields,
  type McpTool,
  objectSchema,
  pick,
  type Routes,
  requireText,
  type ToolCall,
} from './tool.ts';
import { readWait, WAIT, waitFor } from './wait.ts';

/** Larger images are only linked: clients put the content into the context of a model. */
const MAX_IMAGE_BYTES = 4 * 2 ** 20;

const OFFERED = [
  'prompt',
  'model',
  'n',
  'quality',
  'size',
  'style',
  'background',
  'aspect_ratio',
  'output_format',
];

const QUEST: Fields = {
  properties: { quest_id: { type: 'string', description: 'The id that `generate_image` returned.' } },
  required: ['quest_id'],
};

export function generateImageTool(routes: Routes): McpTool {
  const body = routes.get('generateImage')?.operation.input.body;
  const all = getFields(body instanceof z.ZodObject ? body : undefined, OFFERED);
  const fields = { ...all, required: ['prompt'] };
  return {
    name: 'generate_image',
    title: 'Generate an image',
    description:
      'Generates images and waits for them. Without `model`, the default image model of the server makes them. Work ' +
      'that takes longer returns its `quest_id`; read it with `get_image`.',
    operations: ['generateImage', 'getQuest'],
    inputSchema: objectSchema(fields, WAIT),
    isReadOnly: false,
    async call(args, context) {
      checkNames(args, [fields, WAIT]);
      const timeoutMs = readWait(args, context);
      const asked = pick(args, fields);
      const model = asked.model ?? (await findModel(context.services, context.call.caller));
      const { id } = await context.runner.run('generateImage', {
        body: { ...asked, model },
        isRepeatable: true,
      });
      await waitFor(String(id), timeoutMs, context);
      return readImages(String(id), context);
    },
  };
}

export const getImageTool: McpTool = {
  name: 'get_image',
  title: 'Get a generated image',
  description: 'Waits for the images of `generate_image` that were not ready, and returns them.',
  operations: ['getQuest'],
  inputSchema: objectSchema(QUEST, WAIT),
  isReadOnly: true,
  async call(args, context) {
    checkNames(args, [QUEST, WAIT]);
    const timeoutMs = readWait(args, context);
    const id = requireText(args.quest_id, 'quest_id');
    const { status } = await context.runner.run('getQuest', { params: { id } });
    if (status === 'pending' || status === 'running') await waitFor(id, timeoutMs, context);
    return readImages(id, context);
  },
};

async function findModel(services: Services, caller: Caller): Promise<string> {
  const { DefaultImageModel: usual, enforceCredits } = await services.adminSettings.current();
  const catalogue = await services.getCatalogue(caller);
  if (usual !== null && catalogue.isAllowed(usual)) return usual;
  const found = findDefaultImageModel(catalogue, enforceCredits);
  if (found === undefined) throw new WrongArgument('There is no image model on this server.');
  return found.info.id;
}

async function readImages(id: string, { runner, services }: ToolCall): Promise<ToolResult> {
  const { status, type, reply, files = [] } = await runner.run('getQuest', { params: { id } });
  const shown = { quest_id: id, status, files };
  if (type === 'error' || status === 'stopped') {
    return { ...failed(typeof reply === 'string' ? reply : 'No image was made.'), structuredContent: shown };
  }
  return structured(shown, [...toLinks(files as readonly JsonObject[]), ...(await loadImages(services, id))]);
}

/** A link is a path where the server knows no public address of its own. */
function toLinks(files: readonly JsonObject[]): Content[] {
  return files.flatMap(({ name, url }) =>
    URL.canParse(String(url)) ? [{ type: 'resource_link', uri: String(url), name: String(name) }] : [],
  );
}

/** The images of a quest that the caller has just read: its readers read its files. */
async function loadImages({ store, library }: Services, id: string): Promise<Content[]> {
  const quest = await store.collection(QUESTS).get(id);
  const images: Content[] = [];
  let left = MAX_IMAGE_BYTES;
  for (const { fileId, isImage } of quest?.files ?? []) {
    const file = isImage ? await library.get(quest?.ownerId ?? '', fileId) : undefined;
    const bytes = file && (await library.readFound(file, left));
    if (file === undefined || bytes === undefined) continue;
    left -= bytes.length;
    images.push({ type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: file.mimeType });
  }
  return images;
}
