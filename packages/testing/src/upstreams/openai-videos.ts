import type { BinaryAnswer, Exchange } from './protocol.ts';

/** Video endpoints of the OpenAI upstream. Undefined for any other path. */
export function openAIVideos(path: string, body: unknown, { method, videos, script }: Exchange): unknown {
  const [, id, content] = /\/videos(?:\/([^/?]+)(\/content)?)?$/.exec(path) ?? [undefined];
  if (!path.includes('/videos')) return undefined;
  if (id === undefined) {
    const field = (name: string) => new RegExp(`name="${name}"\r\n\r\n([^\r]*)`).exec(String(body))?.[1];
    return {
      id: videos.order(script.video),
      object: 'video',
      status: 'queued',
      progress: 0,
      seconds: field('seconds'),
    };
  }
  const unknown = { status: 404, body: { error: { message: 'no such video', code: 'not_found' } } };
  if (content !== undefined) {
    const data = videos.data(id);
    return data === undefined ? unknown : ({ contentType: 'video/mp4', data } satisfies BinaryAnswer);
  }
  if (method === 'DELETE') {
    return videos.forget(id) ? { id, object: 'video.deleted', deleted: true } : unknown;
  }
  const look = videos.look(id);
  if (look === undefined) return unknown;
  const { state } = look;
  const code = state === 'blocked' ? 'moderation_blocked' : 'video_generation_failed';
  const hasFailed = state === 'failed' || state === 'blocked';
  const words = { waiting: 'queued', running: 'in_progress', done: 'completed' } as const;
  return {
    id,
    object: 'video',
    status: hasFailed ? 'failed' : words[state as keyof typeof words],
    progress: Math.round(look.progress * 100),
    seconds: '4',
    ...(hasFailed && { error: { code, message: 'words of the provider' } }),
  };
}
