import type { GenerateOptions, MediaJobs, VideoRequest } from '@questline/core/ports';
import { outputField } from '../content/video-jobs.ts';
import type { Upstream } from '../http/upstream.ts';
import {
  type Access,
  cancelInteraction,
  fetchInteraction,
  orderInteraction,
  pollInteraction,
} from './interactions.ts';
import { orderOperation, pollOperation } from './operations.ts';

/**
 * Video jobs. Veo uses operations, newer models use interactions. Results are files, requested by
 * name: a URL of a response never receives the key.
 */
export function createVideos(
  upstream: Upstream,
  keyed: (options: GenerateOptions) => Omit<Access, 'signal'>,
): MediaJobs<VideoRequest> {
  const access = (options: GenerateOptions): Access => ({ ...keyed(options), signal: options.signal });
  return {
    submit: async (request, options) =>
      request.model.startsWith('veo')
        ? orderOperation(upstream, request, access(options))
        : orderInteraction(upstream, request, access(options)),

    poll: async (jobId, options) =>
      isOperation(jobId)
        ? pollOperation(upstream, jobId, access(options))
        : pollInteraction(upstream, jobId, access(options)),

    async cancel(jobId, options) {
      // The API cannot cancel an operation.
      if (!isOperation(jobId)) await cancelInteraction(upstream, jobId, access(options));
    },

    async fetch(output, options) {
      if (typeof output === 'object' && output !== null && 'interaction' in output) {
        return fetchInteraction(upstream, outputField(output, 'interaction'), access(options));
      }
      const path = `/files/${outputField(output, 'file')}:download?alt=media`;
      return upstream.download(access(options), path);
    },
  };
}

const isOperation = (jobId: string): boolean => jobId.includes('/operations/');
