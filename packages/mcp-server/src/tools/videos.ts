import * as z from 'zod';
import type { JsonObject } from '../json-rpc.ts';
import { failed, structured } from '../results.ts';
import { getFields, type McpTool, type Routes } from './tool.ts';
import { waitForGeneration } from './wait.ts';
import { readTool, startTool, type Work } from './work.ts';

const ENDED: readonly unknown[] = ['succeeded', 'failed', 'blocked'];

export const VIDEOS: Work = {
  kind: 'video',
  read: 'getVideoGeneration',
  cancel: 'cancelVideoGeneration',
  wait: waitForGeneration,
  getStatus({ state }) {
    if (state === 'cancelled') return 'cancelled';
    return ENDED.includes(state) ? 'completed' : 'working';
  },
  hasFailed: ({ state }) => state === 'failed' || state === 'blocked',
  toResult({ id, state, progress, output, error }) {
    const shown = { generation_id: id, state, progress, output, error };
    if (state === 'failed' || state === 'blocked' || state === 'cancelled') {
      const { message = `The generation is ${String(state)}.` } = (error ?? {}) as JsonObject;
      return { ...failed(String(message)), structuredContent: shown };
    }
    const url = String(((output ?? {}) as JsonObject).url);
    return structured(shown, URL.canParse(url) ? [{ type: 'resource_link', uri: url, name: 'video' }] : []);
  },
};

export function generateVideoTool(routes: Routes): McpTool {
  const body = routes.get('createVideoGeneration')?.operation.input.body;
  return startTool({
    name: 'generate_video',
    title: 'Generate a video',
    description:
      'Starts to generate a video, which takes minutes, and returns its `generation_id`; read it with `get_video`. ' +
      '`list_video_models` has the models and their values.',
    operations: ['createVideoGeneration', 'getVideoGeneration', 'listVideoModels'],
    work: VIDEOS,
    waits: false,
    fields: getFields(body instanceof z.ZodObject ? body : undefined),
    async start(args, { runner }) {
      const { id } = await runner.run('createVideoGeneration', { body: args, isRepeatable: true });
      return String(id);
    },
  });
}

export const getVideoTool = readTool({
  name: 'get_video',
  title: 'Get a generated video',
  description: 'Returns the state of a video, and its address when it is ready.',
  operations: ['getVideoGeneration'],
  work: VIDEOS,
  waits: false,
  idName: 'generation_id',
  idDescription: 'The id that `generate_video` returned.',
});
