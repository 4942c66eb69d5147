import type { Call } from '../../../contract/call.ts';
import type { FieldIssue } from '../../../contract/data-url.ts';
import { jsonReply, Reply } from '../../../contract/reply.ts';
import { toCredits, toUsd } from '../../../credits/amounts.ts';
import { STREAM_HEADERS } from '../../../http/sse.ts';
import { fallbackModels } from '../../../models/candidates.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../../models/catalogue.ts';
import { cacheHints } from '../../../models/prompt-cache.ts';
import { describeRetired } from '../../../models/retired.ts';
import { REPLAYED_HEADER } from '../../../operations/idempotency.ts';
import type { AnswerPart, GenerateRequest, IgnorableField, PromptCacheHints } from '../../../ports/models.ts';
import type { AskedCompletion } from '../answer.ts';
import type { CompletionEncoder, CompletionEnd } from '../encoder.ts';
import type { CompletionsServices } from '../handlers.ts';
import { readCompletion, streamCompletion } from '../run.ts';
import { streamOnce } from '../stream-once.ts';
import { unknownModel } from './errors.ts';
import { createMediaLoader, type MediaLoader, type MediaServices } from './media.ts';

export interface WireAnswerServices extends CompletionsServices, MediaServices {}

/** The charge of an answer, beside its usage. Not part of the vendors' APIs. */
export interface WireCredits {
  readonly used: number;
  readonly usd_cost: number;
}

/** Collects the parts of an answer that is not streamed. */
export interface AnswerCollector<A> {
  add(part: AnswerPart): void;
  finish(end: CompletionEnd & { readonly entry: CatalogueEntry }): A;
  /** Describes a failure that follows the parts so far. Default: unchanged. */
  toFailure?(error: unknown): unknown;
}

/** One answer on a wire that a vendor defines. */
export interface WireAnswer<A> {
  readonly asked: AskedCompletion;
  /** Names of the fields of the request that have no effect. */
  readonly ignored: readonly string[];
  /** For `Idempotency-Key`: the path of the operation, and the body. */
  readonly path: string;
  readonly body: { readonly stream?: boolean | null | undefined };
  createEncoder(entry: CatalogueEntry): CompletionEncoder;
  createCollector(): AnswerCollector<A>;
}

/** The header with the charged credits of an answer that is not streamed. */
export const CREDITS_HEADER = 'X-Credits-Used';

/** The header with the fields of the request that have no effect. */
export const IGNORED_HEADER = 'X-Ignored-Fields';

/** What the request of a call is made with. */
export interface AskedModel {
  readonly catalogue: ModelCatalogue;
  readonly entry: CatalogueEntry;
  readonly media: MediaLoader;
  readonly promptCache: PromptCacheHints;
}

/** Finds a chat model. @throws ApiError 404 that names the successor of a retired model. */
export function findChatModel(catalogue: ModelCatalogue, id: string): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry === undefined) throw unknownModel(id, describeRetired(catalogue, id));
  if (entry.info.type !== 'text') throw unknownModel(id, `'${entry.info.id}' is not a chat model`);
  return entry;
}

/**
 * @param getId returns the id of the requested model. @param issue creates the error about a field of the request.
 * @throws ApiError as `findChatModel`.
 */
export async function prepareAnswer(
  services: WireAnswerServices,
  { caller, signal }: Call,
  getId: (catalogue: ModelCatalogue) => string,
  issue: FieldIssue,
): Promise<AskedModel> {
  const { userId } = caller;
  const catalogue = await services.getCatalogue(caller);
  const entry = findChatModel(catalogue, getId(catalogue));
  return {
    catalogue,
    entry,
    media: createMediaLoader(services, entry, { userId, signal, issue }),
    promptCache: cacheHints(services.promptCache, 'user', userId),
  };
}

/** @param isCapNamed whether the request has an output limit. */
export function toAskedCompletion(
  services: WireAnswerServices,
  catalogue: ModelCatalogue,
  { operation, entry, request, isCapNamed, serverTools }: Omit<AskedCompletion, 'family' | 'standIns'>,
): AskedCompletion {
  const standIns = fallbackModels({ catalogue, fallbacks: services.fallbacks }, entry.info.id);
  return { operation, family: 'public', entry, request, standIns, isCapNamed, serverTools };
}

/** Asks the model, and answers with a stream or with one object, as the request says. */
export async function answerOverWire<A extends { readonly credits?: WireCredits }>(
  services: WireAnswerServices,
  call: Call,
  { asked, ignored, path, body, createEncoder, createCollector }: WireAnswer<A>,
): Promise<Reply> {
  const headers: Record<string, string> = ignored.length > 0 ? { [IGNORED_HEADER]: ignored.join(', ') } : {};
  if (body.stream === true) {
    const { frames, isRepeated } = await streamOnce(
      services,
      { call, path, body },
      asked,
      ({ entry }) => createEncoder(entry),
      streamCompletion,
    );
    if (isRepeated) headers[REPLAYED_HEADER] = 'true';
    return new Reply(200, { ...STREAM_HEADERS, ...headers }, frames);
  }
  const { answer, isRepeated } = await services.idempotency.once({ call, path, body }, async (onCharge) => {
    const collector = createCollector();
    try {
      const end = await readCompletion(services, call, asked, (part) => collector.add(part), onCharge);
      return collector.finish(end);
    } catch (error) {
      throw collector.toFailure?.(error) ?? error;
    }
  });
  if (isRepeated) headers[REPLAYED_HEADER] = 'true';
  if (answer.credits !== undefined) headers[CREDITS_HEADER] = String(answer.credits.used);
  return jsonReply(200, answer, headers);
}

/** The vendor's names of the fields that the provider has no place for, as far as the request has them. */
export function findIgnoredByProvider(
  { provider }: CatalogueEntry,
  request: GenerateRequest,
  names: Readonly<Partial<Record<IgnorableField, string>>>,
): readonly string[] {
  return (provider.ignores?.(request) ?? []).map((field) => names[field] ?? field);
}

/** @returns undefined while credits are not enforced, and for a charge that is not settled yet. */
export function toWireCredits(
  { cost, isMetered }: CompletionEnd,
  creditsPerUsd: number,
): WireCredits | undefined {
  if (cost?.charged === undefined || !isMetered) return undefined;
  return { used: toCredits(cost.charged), usd_cost: toUsd(cost.charged, creditsPerUsd) };
}
