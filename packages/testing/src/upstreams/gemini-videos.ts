import type { BinaryAnswer, Exchange } from './protocol.ts';

const missing = { status: 404, body: { error: { code: 404, message: 'not found', status: 'NOT_FOUND' } } };

/** Video endpoints of the Gemini upstream: operations, interactions and files. Undefined for any other path. */
export function geminiVideos(path: string, _body: unknown, exchange: Exchange): unknown {
  const { videos, script } = exchange;
  const model = /\/models\/([^/:]+):predictLongRunning$/.exec(path)?.[1];
  if (model !== undefined) return { name: `models/${model}/operations/${videos.order(script.video)}` };
  const operation = /\/operations\/([^/?]+)$/.exec(path)?.[1];
  if (operation !== undefined) return getOperation(operation, path, exchange);
  if (/\/interactions$/.test(path)) {
    return { id: videos.order(script.video), object: 'interaction', status: 'in_progress' };
  }
  const [, interaction, verb] = /\/interactions\/([^/?]+)(\/cancel)?$/.exec(path) ?? [];
  if (interaction !== undefined) {
    if (verb === undefined) return getInteraction(interaction, exchange);
    return videos.forget(interaction) ? { id: interaction, status: 'cancelled' } : missing;
  }
  const file = /\/files\/([^/:?]+):download\?alt=media$/.exec(path)?.[1];
  if (file === undefined) return undefined;
  const data = videos.data(file);
  return data === undefined ? missing : ({ contentType: 'video/mp4', data } satisfies BinaryAnswer);
}

function getOperation(id: string, path: string, { videos, origin }: Exchange): unknown {
  const look = videos.look(id);
  if (look === undefined) return missing;
  const name = path.replace(/^\/v1beta\//, '');
  switch (look.state) {
    case 'waiting':
    case 'running':
      return { name };
    case 'failed':
      return { name, done: true, error: { code: 13, message: 'words of the provider' } };
    case 'blocked': {
      const generateVideoResponse = {
        raiMediaFilteredCount: 1,
        raiMediaFilteredReasons: ['words of the provider'],
      };
      return { name, done: true, response: { generateVideoResponse } };
    }
    case 'done': {
      const uri = look.script.address ?? `${origin}/v1beta/files/${id}:download?alt=media`;
      return {
        name,
        done: true,
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
      };
    }
  }
}

function getInteraction(id: string, { videos }: Exchange): unknown {
  const look = videos.look(id);
  if (look === undefined) return missing;
  const common = { id, object: 'interaction' };
  switch (look.state) {
    case 'waiting':
      return { ...common, status: 'queued' };
    case 'running':
      return { ...common, status: 'in_progress' };
    case 'failed':
      return { ...common, status: 'failed', error: { code: 'internal', message: 'words of the provider' } };
    case 'blocked':
      return { ...common, status: 'failed', error: { code: 'safety', message: 'words of the provider' } };
    case 'done': {
      const { address } = look.script;
      const where =
        address === undefined
          ? { data: Buffer.from(videos.data(id) ?? '').toString('base64') }
          : { uri: address };
      const content = [{ type: 'video', mime_type: 'video/mp4', ...where }];
      return {
        ...common,
        status: 'completed',
        steps: [{ type: 'thought' }, { type: 'model_output', content }],
      };
    }
  }
}
