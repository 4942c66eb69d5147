import type { BinaryAnswer, Exchange } from './protocol.ts';

/** Video endpoints of the xAI upstream. Undefined for any other path. */
export function xaiVideos(path: string, _body: unknown, { videos, script, origin }: Exchange): unknown {
  if (path.endsWith('/videos/generations')) return { request_id: videos.order(script.video) };
  const kept = /^\/kept\/([^/?]+)\.mp4$/.exec(path)?.[1];
  if (kept !== undefined) {
    return { contentType: 'video/mp4', data: videos.data(kept) ?? Buffer.alloc(0) } satisfies BinaryAnswer;
  }
  const id = /\/videos\/([^/?]+)$/.exec(path)?.[1];
  if (id === undefined) return undefined;
  const look = videos.look(id);
  if (look === undefined) return { status: 404, body: { code: 'not-found', error: 'no such request' } };
  const progress = Math.round(look.progress * 100);
  switch (look.state) {
    case 'waiting':
    case 'running':
      return { status: 202, body: { status: 'pending', progress } };
    case 'failed':
      return { status: 'failed', error: { code: 'internal_error', message: 'words of the provider' } };
    case 'blocked':
      return { status: 'done', video: { url: '', duration: 4, respect_moderation: false } };
    case 'done': {
      const url = look.script.address ?? `${origin}/kept/${id}.mp4`;
      return { status: 'done', progress, video: { url, duration: 4, respect_moderation: true } };
    }
  }
}
