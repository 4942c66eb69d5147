import type { Caller, Services } from '@questline/core';
import { findDefaultImageModel, QUESTS } from '@questline/core/internal';
import * as z from 'zod';
import type { JsonObject } from '../json-rpc.ts';
import { type Content, failed, structured, WrongArgument } from '../results.ts';
import { getFields, type McpTool, type Routes } from './tool.ts';
import { waitForQuest } from './wait.ts';
import { readTool, startTool, type Work } from './work.ts';

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

export const IMAGES: Work = {
  kind: 'quest',
  read: 'getQuest',
  cancel: 'cancelQuest',
  wait: waitForQuest,
  getStatus({ status }) {
    if (status === 'stopped') return 'cancelled';
    return status === 'done' ? 'completed' : 'working';
  },
  hasFailed: ({ type }) => type === 'error',
  async toResult({ id, status, type, reply, files = [] }, { services }) {
    const shown = { quest_id: id, status, files };
    if (type === 'error' || status === 'stopped') {
      return {
        ...failed(typeof reply === 'string' ? reply : 'No image was made.'),
        structuredContent: shown,
      };
    }
    const links = toLinks(files as readonly JsonObject[]);
    return structured(shown, [...links, ...(await loadImages(services, String(id)))]);
  },
};

export function generateImageTool(routes: Routes): McpTool {
  const body = routes.get('generateImage')?.operation.input.body;
  const all = getFields(body instanceof z.ZodObject ? body : undefined, OFFERED);
  return startTool({
    name: 'generate_image',
    title: 'Generate an image',
    description:
      'Generates images and waits for them. Without `model`, the default image model of the server makes them. Work ' +
      'that takes longer returns its `quest_id`; read it with `get_image`.',
    operations: ['generateImage', 'getQuest'],
    work: IMAGES,
    fields: { ...all, required: ['prompt'] },
    async start(args, { runner, services, call }) {
      const model = args.model ?? (await findModel(services, call.caller));
      const { id } = await runner.run('generateImage', { body: { ...args, model }, isRepeatable: true });
      return String(id);
    },
  });
}

export const getImageTool = readTool({
  name: 'get_image',
  title: 'Get a generated image',
  description: 'Waits for the images of `generate_image` that were not ready, and returns them.',
  operations: ['getQuest'],
  work: IMAGES,
  idName: 'quest_id',
  idDescription: 'The id that `generate_image` returned.',
});

async function findModel(services: Services, caller: Caller): Promise<string> {
  const { DefaultImageModel: usual, enforceCredits } = await services.adminSettings.current();
  const catalogue = await services.getCatalogue(caller);
  if (usual !== null && catalogue.isAllowed(usual)) return usual;
  const found = findDefaultImageModel(catalogue, enforceCredits);
  if (found === undefined) throw new WrongArgument('There is no image model on this server.');
  return found.info.id;
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
