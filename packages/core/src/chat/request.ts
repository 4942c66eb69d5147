import type { ToolLimits } from '../agents/terms.ts';
import { countCharacters } from '../credits/estimates.ts';
import type { DialogueRequest } from '../dialogues/scene.ts';
import { ApiError } from '../errors.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import type { AdminSettings } from '../settings/admin.ts';
import type { ChatBody } from './contract.ts';

/** A turn as it was accepted: what its worker is given. Plain JSON. The system text of the request is not in it: that is never kept. */
export interface ChatRequest extends DialogueRequest {
  readonly historyCount: number;
  /** Ids of the tools to offer. */
  readonly tools?: readonly string[];
  readonly maxToolCalls?: number;
  /** Those of the agents in it, also for tools that come in later. */
  readonly toolLimits?: ToolLimits;
  readonly promptMode?: PromptMode;
  readonly features?: ChatFeatures;
  /** A system text came with it and travels with the job. */
  readonly hasSystemPrompt?: true;
}

export type PromptMode = NonNullable<ChatBody['promptMode']>;

/** What a turn does beside answering. */
export interface ChatFeatures {
  readonly questMaster: boolean;
  readonly mementos: boolean;
  readonly agents: boolean;
}

const DEFAULT_MAX_TOKENS = 4096;

/** @throws ApiError 400 for a model that is unknown, disabled or no chat model, and when there is no usable default. */
export function chatModel(
  catalogue: ModelCatalogue,
  wanted: string | undefined,
  { DefaultAPIModel }: AdminSettings,
): CatalogueEntry {
  const id = wanted ?? DefaultAPIModel;
  if (id === null) throw new ApiError(400, 'model: name one; there is no default model');
  const entry = catalogue.find(id);
  if (entry?.info.type === 'text') return entry;
  throw new ApiError(
    400,
    wanted === undefined
      ? 'model: name one; the default model cannot be used'
      : `Model info not found for '${id}'`,
  );
}

/** The model an agent prefers, while it can be used: nobody asked for it by name. */
export function agentModel(catalogue: ModelCatalogue, id: string | undefined): string | undefined {
  return id !== undefined && catalogue.find(id)?.info.type === 'text' ? id : undefined;
}

/** The output cap: the first of three spellings, rounded down, within what the model gives. */
export function outputCap(
  body: ChatBody,
  { info }: CatalogueEntry,
  usual: number = DEFAULT_MAX_TOKENS,
): number {
  const wanted = body.max_tokens ?? body.maxTokens ?? body.maxOutputTokens ?? usual;
  return Math.max(1, Math.min(Math.floor(wanted), info.maxOutputTokens));
}

/** Shorter messages hardly hold several tasks: when nobody asked by name, no model is asked to plan them. */
const WORTH_PLANNING = 200;

/** Shorter messages hardly say anything that lasts: when nobody asked by name, no model is asked about them. */
const WORTH_READING = 40;

/** Whether a message is looked through for what is worth remembering. */
export function remembers(body: ChatBody): boolean {
  return body.enableMementos ?? (isUsual(body) && countCharacters(body.message) >= WORTH_READING);
}

/** `enableTools` without a mode brings the features that are not asked for by name. */
export function featuresOf(body: ChatBody): ChatFeatures | undefined {
  const usual = isUsual(body);
  const features = {
    questMaster: body.enableQuestMaster ?? (usual && isWorthPlanning(body.message)),
    mementos: body.enableMementos ?? usual,
    agents: body.enableAgents ?? usual,
  };
  return features.questMaster || features.mementos || features.agents ? features : undefined;
}

function isUsual({ enableTools, toolMode }: ChatBody): boolean {
  return enableTools && toolMode === undefined;
}

function isWorthPlanning(message: string): boolean {
  return countCharacters(message) >= WORTH_PLANNING;
}
