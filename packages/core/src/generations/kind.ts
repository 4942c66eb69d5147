import type { CatalogueEntry } from '../models/catalogue.ts';
import type { AudioResult, DurationChoice, Media, MediaJobs } from '../ports/media.ts';
import type { GenerateOptions, ModelProvider } from '../ports/models.ts';
import type { CommonJob, GenerationOperations } from './contract.ts';
import type { GenerationRecord, Wish } from './records.ts';

/**
 * How a provider does one piece of work: as a job of its own that is asked about, or as one call that takes as long as
 * it takes.
 */
export type Making =
  | {
      readonly jobs: Pick<MediaJobs<never>, 'poll' | 'cancel' | 'fetch'>;
      submit(image: Media | undefined, options: GenerateOptions): Promise<string>;
    }
  | { readonly jobs?: undefined; once(options: GenerateOptions): Promise<AudioResult> };

/** What is special about the work of making films, or music. */
export interface GenerationWork {
  readonly kind: GenerationRecord['kind'];
  /** The kind of the engine's jobs. */
  readonly job: string;
  /** The operation that asks for it: what charges and incidents name. */
  readonly operation: string;
  /** @returns undefined when the provider does no such thing. */
  making(
    provider: ModelProvider,
    record: Pick<GenerationRecord, 'providerModel' | 'wish'>,
  ): Making | undefined;
  /** The type of the result's file. @param told what the provider calls it. */
  mimeTypeOf(wish: Wish, told: string): string;
}

/** What is special about asking for it, and about what is told. */
export interface GenerationKind<Body> extends GenerationWork {
  readonly operations: GenerationOperations<Body>;
  /** Whether the model is of this kind, and its provider can do the work. */
  serves(entry: CatalogueEntry): boolean;
  /**
   * Makes every choice that was left open.
   * @throws ApiError 422 with a code for what the model cannot do.
   */
  choose(entry: CatalogueEntry, body: Body): Wish;
  toWireModel(entry: CatalogueEntry): object;
  toWire(common: CommonJob, wish: Wish): object;
}

/** Steps are compared with some grace: a tenth is no exact number. */
const GRACE = 1e-6;

/** Whether a model makes something of this length. */
export function hasDuration(choice: DurationChoice, seconds: number): boolean {
  if (choice.kind === 'discrete') return choice.values.includes(seconds);
  const { min, max, step } = choice;
  if (seconds < min || seconds > max) return false;
  const steps = (seconds - min) / step;
  return step <= 0 || Math.abs(steps - Math.round(steps)) < GRACE;
}

/** The lengths there are, in words. */
export function durationsOf(choice: DurationChoice): string {
  return choice.kind === 'discrete'
    ? `${choice.values.join(', ')} seconds`
    : `${choice.min} to ${choice.max} seconds in steps of ${choice.step}`;
}

/** As contracts have it: a list that may be written to. */
export function toWireDuration(
  choice: DurationChoice,
): { kind: 'range'; min: number; max: number; step: number } | { kind: 'discrete'; values: number[] } {
  return choice.kind === 'discrete' ? { kind: 'discrete', values: [...choice.values] } : { ...choice };
}
