import type { Call } from '../call.ts';
import { toCredits, toUsd } from '../credits/amounts.ts';
import { wireUsage } from '../credits/wire-usage.ts';
import type { Intake } from '../engine/intake.ts';
import type { OpenStreams } from '../engine/open-streams.ts';
import { ApiError, isApiError } from '../errors.ts';
import { STREAM_HEADERS } from '../http/sse.ts';
import type { AnsweringServices } from '../models/answering.ts';
import { standInsFor } from '../models/candidates.ts';
import type { ModelCatalogue } from '../models/catalogue.ts';
import { providerFailure } from '../models/failures.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { ModelChunk } from '../ports/models.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { Reply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import { finalizing } from '../streams.ts';
import { askInTurn, askOne, type CompletionAnswer } from './answer.ts';
import { createCompletion } from './contract.ts';
import { firstStep } from './first-step.ts';
import type { CompletionMoneyServices } from './money.ts';
import { toGenerateRequest } from './request.ts';
import { CompletionStream } from './stream.ts';

export interface CompletionsServices extends PipelineServices, CompletionMoneyServices, AnsweringServices {
  readonly catalogue: ModelCatalogue;
  readonly catalogueOf: CatalogueOf;
  /** By model id: which models to ask when it fails, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly intake: Intake;
  readonly completions: CompletionsSettings;
  readonly streams: OpenStreams;
}

export interface CompletionsSettings {
  /** 422 by default; 403 for clients of the older reading. */
  readonly insufficientCreditsStatus: 422 | 403;
  /** Whether a `meta` event with the correlation id opens the stream. Default true. */
  readonly metaEvent: boolean;
}

/** `POST /api/ai/v1/completions`: reserve, ask the model, stream, settle. */
export function createCompletionsHandler(services: CompletionsServices): Route {
  return defineRoute(createCompletion, services, async ({ body }, call) => {
    services.intake.admit();
    const found = services.catalogueOf(call.caller.userId);
    const catalogue = found instanceof Promise ? await found : found;
    const entry = catalogue.find(body.model);
    if (entry?.info.type !== 'text') throw new ApiError(400, `Model info not found for '${body.model}'`);
    const request = toGenerateRequest(body, entry);
    const standIns = standInsFor({ catalogue, fallbacks: services.fallbacks }, entry.info.id);
    let answer: CompletionAnswer | undefined;
    try {
      answer =
        standIns.length === 0
          ? await askOne(services, call, entry, request)
          : askInTurn(services, call, entry, request, standIns);
      const { step } = await firstStep(answer.source, services.clock, call.signal);
      return new Reply(200, STREAM_HEADERS, streamOf(services, call, answer, step));
    } catch (error) {
      // Nothing came out of the model: the call is free.
      await answer?.money?.release();
      throw call.signal.aborted
        ? new ApiError(400, 'The client left before the answer began')
        : failure(error);
    }
  });
}

function streamOf(
  services: CompletionsServices,
  call: Call,
  answer: CompletionAnswer,
  first: Promise<IteratorResult<ModelChunk>>,
): AsyncIterableIterator<string> {
  const { requestId } = call;
  const report = (error: unknown): void => {
    services.onError({ operation: createCompletion.id, requestId, error });
  };
  const frames = new CompletionStream({
    source: answer.source,
    first,
    clock: services.clock,
    see: (part) => answer.money?.meter.see(part),
    requestId: services.completions.metaEvent ? requestId : undefined,
    finish: () => finish(services, answer),
    async fail(error) {
      // A refusal of our own, such as the end of the process, is no incident.
      if (!isApiError(error)) report(error);
      await settleBrokenOff(answer).catch(report);
      const { message, code } = failure(error);
      return { message, requestId, ...(isOfCredits(code) && { code }) };
    },
  });
  services.streams.add(frames);
  return finalizing(frames, async () => {
    try {
      // After `finish` and `fail` it does nothing: a reservation ends once.
      await settleBrokenOff(answer);
    } finally {
      services.streams.remove(frames);
    }
  });
}

/** What stands on the last event of an answer that came to its own end. */
async function finish(
  { catalogue }: CompletionsServices,
  { money }: CompletionAnswer,
): Promise<Readonly<Record<string, unknown>>> {
  if (money === undefined) return {};
  const { meter, reserved } = money;
  const { amount, usage } = meter.read(true);
  const charged = await reserved.settle(amount, usage);
  return {
    usage: wireUsage(usage),
    ...(reserved.metered && {
      credits: { used: toCredits(charged), usdCost: toUsd(charged, catalogue.creditsPerUsd) },
    }),
    ...(meter.finishReason !== undefined && { stopReason: meter.finishReason }),
  };
}

/** Ends the money of an answer that broke off: what came out is paid for. */
async function settleBrokenOff({ money }: CompletionAnswer): Promise<void> {
  if (money === undefined) return;
  if (!money.meter.produced) return money.release();
  const { amount, usage } = money.meter.read(false);
  await money.reserved.settle(amount, usage);
}

function isOfCredits(code: string | undefined): boolean {
  return code === 'insufficient_credits' || code === 'spend_cap_exceeded';
}

function failure(error: unknown): ApiError {
  return isApiError(error) ? error : providerFailure(error, 'completions');
}
