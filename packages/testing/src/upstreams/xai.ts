import type { Usage } from '@questline/core';
import { completionFrames, openAIUsage } from './openai.ts';
import { bytesOf, type Script } from './script.ts';
import { type Protocol, startUpstream, type Upstream, type UpstreamOptions } from './server.ts';
import { xaiFilms } from './xai-films.ts';

/** As OpenAI counts, but the completion excludes the reasoning. */
function xaiUsage(usage: Usage): Record<string, unknown> {
  const counted = openAIUsage(usage);
  const total = Number(counted.total_tokens);
  return { ...counted, completion_tokens: usage.output ?? 0, total_tokens: total, num_sources_used: 0 };
}

const frames = (script: Script) =>
  completionFrames(script, {
    usage: xaiUsage,
    error: (message, code) => ({ code, error: message }),
    wholeCalls: true,
  });

const xaiProtocol: Protocol = { basePath: '/v1', frames, answer: xaiFilms };

/** The stream a script makes, as bytes. */
export function xaiStream(script: Script): Buffer {
  return bytesOf(frames(script));
}

/** A local server that speaks chat completions the way xAI does. */
export function createXAIUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(xaiProtocol, options);
}
