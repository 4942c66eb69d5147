import { ApiError, jsonReply, Reply } from '@questline/core';
import {
  type Call,
  CREDITS_HEADER,
  finalizing,
  header,
  IGNORED_HEADER,
  REPLAYED_HEADER,
  type Responses,
  STREAM_HEADERS,
  type StoredResponse,
} from '@questline/core/internal';
import { withoutRetry } from '../errors.ts';
import { createResponse, type ResponseBody } from './contract.ts';
import { toWireResponse } from './stored-view.ts';
import { readWire } from './stored-wire.ts';
import { createStoredWriter } from './stored-writer.ts';

export interface StoredAnswerServices {
  readonly catalogue: { readonly creditsPerUsd: number };
}

/** Answers a request whose response is stored: at once for one in the background, else at its end, or with its events. */
export function createStoredAnswer(
  { catalogue: { creditsPerUsd } }: StoredAnswerServices,
  responses: Responses,
) {
  const { path } = createResponse;

  /** A failure before any output is an error status, and is not stored. */
  const refuseFailed = async (userId: string, response: StoredResponse): Promise<void> => {
    if (response.failure === undefined) return;
    const { parts } = response.output;
    if (parts.length === 0) await responses.remove(userId, response.id);
    const hasCalledServer = parts.some(
      (part) => part.type === 'server_tool_call' && part.target !== undefined,
    );
    throw hasCalledServer ? withoutRetry(response.failure) : response.failure;
  };

  return async (
    call: Call,
    body: ResponseBody,
    getIgnored: () => readonly string[],
    prepare: Parameters<Responses['start']>[1],
  ): Promise<Reply> => {
    const { signal, request } = call;
    const { userId } = call.caller;
    const id = await responses.start({ call, path, body }, prepare);
    const accepted = await responses.find(userId, id);
    if (accepted === undefined) throw deleted();
    const isOurs = accepted.requestId === call.requestId;
    const ignored = getIgnored();
    /** Only its conversation keeps it, unless a repeated request must find it. */
    const isKept = body.store !== false || header(request.headers, 'idempotency-key') !== undefined;
    const forget = async (): Promise<void> => {
      if (!isKept) await responses.remove(userId, id);
    };
    const headers: Record<string, string> = {
      ...(ignored.length > 0 && { [IGNORED_HEADER]: ignored.join(', ') }),
      ...(!isOurs && { [REPLAYED_HEADER]: 'true' }),
    };
    const isForeground = body.background !== true;
    /** The end of the request ends a response that is not in the background. */
    const leave = async (): Promise<void> => {
      if (isForeground && isOurs) await responses.cancel(id);
      await forget();
    };

    if (body.stream === true) {
      if (isForeground) {
        await responses.untilStarted(id, signal);
        if (signal.aborted) await leave();
        const started = await responses.find(userId, id);
        if (started?.status === 'failed' && started.output.parts.length === 0)
          await refuseFailed(userId, started);
      }
      const writer = createStoredWriter(readWire(accepted), { id, creditsPerUsd });
      const frames = finalizing(responses.follow(userId, id, signal, writer), async ({ reason }) => {
        if (reason === 'abandoned' || signal.aborted) await leave();
        else await forget();
      });
      return new Reply(200, { ...STREAM_HEADERS, ...headers }, frames);
    }

    if (!isForeground) return jsonReply(200, toWireResponse(accepted, creditsPerUsd), headers);
    const ended = await responses.untilEnded(userId, id, signal);
    if (ended === undefined) throw deleted();
    const isRunning = ended.status === 'queued' || ended.status === 'in_progress';
    if (isRunning) await leave();
    if (signal.aborted) throw new ApiError(400, 'The client disconnected before the answer began');
    if (isRunning) throw new ApiError(503, 'The service is about to restart. Try again shortly.');
    if (ended.failure === undefined || ended.output.parts.length > 0) await forget();
    await refuseFailed(userId, ended);
    const response = toWireResponse(ended, creditsPerUsd);
    if (response.credits !== undefined) headers[CREDITS_HEADER] = String(response.credits.used);
    return jsonReply(200, response, headers);
  };
}

function deleted(): ApiError {
  return new ApiError(404, 'The response was deleted');
}
