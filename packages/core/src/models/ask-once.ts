import { type Call, getPayer } from '../contract/call.ts';
import type { ReservationServices } from '../credits/reservations.ts';
import type { AdminSettingsReader } from '../operations/admin-settings.ts';
import type { AdmissionControl } from '../operations/admission-control.ts';
import type { GenerateRequest, ModelMessage } from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import type { GetCatalogue } from './allowed-models.ts';
import { readAnswer } from './answer-stream.ts';
import { type Answering, type AnsweringServices, generateWithFallback } from './answering.ts';
import { candidatesFor } from './candidates.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { callFailure } from './failures.ts';
import { CAP_SPENT, defaultOutputCap, taskEffort, taskOutputCap } from './output-cap.ts';
import { openPaidTextCall, type PaidTextCall } from './paid-text-call.ts';

export interface AskServices extends AnsweringServices, ReservationServices {
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly admissionControl: AdmissionControl;
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

/** A single request to a model. */
export interface Question {
  readonly messages: readonly ModelMessage[];
  /** Maximum tokens of the answer, without reasoning. Default: the model's default. */
  readonly answerTokens?: number;
}

/**
 * Sends one request and returns the complete answer: hold, call, settle. No charge if the model produced no output.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; the provider's failure in a message for clients.
 */
export async function generateOnce(
  services: AskServices,
  call: Call,
  operation: string,
  model: CatalogueEntry,
  question: Question,
): Promise<string> {
  services.admissionControl.admit();
  const { signal, requestId } = call;
  const { enforceCredits: isMetered } = await services.adminSettings.current();
  let holds = 0;

  const pay = (entry: CatalogueEntry, request: GenerateRequest): Promise<PaidTextCall> => {
    holds += 1;
    // A new hold key per candidate model.
    const key = holds === 1 ? call.id : `${call.id}:${holds}`;
    return openPaidTextCall(
      services,
      { entry, key, payer: getPayer(call.caller), operation, requestId, isMetered },
      request,
    );
  };

  try {
    const catalogue = await services.getCatalogue(call.caller);
    const answering = await generateWithFallback(services, {
      candidates: candidatesFor({ catalogue, fallbacks: services.fallbacks }, model.info.id),
      requestFor: ({ info, providerModel }) => ({
        model: providerModel,
        messages: question.messages,
        promptCache: { mode: 'off' },
        ...(question.answerTokens === undefined
          ? { maxTokens: defaultOutputCap(info) }
          : { maxTokens: taskOutputCap(info, question.answerTokens), ...taskEffort(info) }),
      }),
      pay,
      operation,
      requestId,
      callerId: call.caller.userId,
      signal,
    });
    return await readAll(answering, signal);
  } catch (error) {
    if (signal.aborted) throw new ApiError(400, 'The client disconnected before the answer was complete');
    throw callFailure(error, 'application');
  }
}

async function readAll(answering: Answering<PaidTextCall>, signal: AbortSignal): Promise<string> {
  const { money } = answering;
  let text = '';
  try {
    await readAnswer(answering, signal, (part) => {
      if (part.type === 'text') text += part.text;
    });
    await money.end('finished');
    if (text === '' && money.meter.finishReason === 'max_tokens') throw new ApiError(422, CAP_SPENT);
    return text;
  } catch (error) {
    await money.end(signal.aborted ? 'left' : 'broken');
    throw error;
  }
}
