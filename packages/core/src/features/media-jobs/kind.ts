import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { AudioResult, DurationChoice, Media, MediaJobs } from '../../ports/media.ts';
import type { GenerateOptions, ModelProvider } from '../../ports/models.ts';
import type { CommonJob, GenerationOperations } from './contract.ts';
import type { GenerationRecord, MediaInput } from './records.ts';

/**
 * How a provider does one piece of work: as a job that is polled, or as one long call.
 */
export type Making =
  | {
      readonly jobs: Pick<MediaJobs<never>, 'poll' | 'cancel' | 'fetch'>;
      submit(image: Media | undefined, options: GenerateOptions): Promise<string>;
    }
  | { readonly jobs?: undefined; once(options: GenerateOptions): Promise<AudioResult> };

/** The work part of a kind: video or music. */
export interface GenerationWork {
  readonly kind: GenerationRecord['kind'];
  /** The job kind of the engine. */
  readonly job: string;
  /** The operation that requests it, as named in charges and incidents. */
  readonly operation: string;
  /** @returns undefined when the provider does not support this kind. */
  making(
    provider: ModelProvider,
    record: Pick<GenerationRecord, 'providerModel' | 'input'>,
  ): Making | undefined;
  /** The media type of the result's file. @param contentType the provider's content type. */
  getMimeType(input: MediaInput, contentType: string): string;
}

/** The request and response part of a kind. */
export interface GenerationKind<Body> extends GenerationWork {
  readonly operations: GenerationOperations<Body>;
  /** Whether the model is of this kind, and its provider supports it. */
  serves(entry: CatalogueEntry): boolean;
  /**
   * Fills in the defaults of a request.
   * @throws ApiError 422 with a code for options that the model does not support.
   */
  choose(entry: CatalogueEntry, body: Body): MediaInput;
  toWireModel(entry: CatalogueEntry): object;
  toWire(common: CommonJob, input: MediaInput): object;
}

/** Tolerance for the comparison with a step: a decimal such as 0.1 is inexact in binary. */
const GRACE = 1e-6;

/** Whether a model supports this duration. */
export function hasDuration(choice: DurationChoice, seconds: number): boolean {
  if (choice.kind === 'discrete') return choice.values.includes(seconds);
  const { min, max, step } = choice;
  if (seconds < min || seconds > max) return false;
  const steps = (seconds - min) / step;
  return step <= 0 || Math.abs(steps - Math.round(steps)) < GRACE;
}

/** Describes the supported durations. */
export function describeDurations(choice: DurationChoice): string {
  return choice.kind === 'discrete'
    ? `${choice.values.join(', ')} seconds`
    : `${choice.min} to ${choice.max} seconds in steps of ${choice.step}`;
}

/** A mutable copy, as the contract's types require. */
export function toWireDuration(
  choice: DurationChoice,
): { kind: 'range'; min: number; max: number; step: number } | { kind: 'discrete'; values: number[] } {
  return choice.kind === 'discrete' ? { kind: 'discrete', values: [...choice.values] } : { ...choice };
}
