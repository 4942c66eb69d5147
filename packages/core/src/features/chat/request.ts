import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { findDefaultChatModel, NO_CHAT_MODEL } from '../../models/default-model.ts';
import { defaultOutputCap, withinModel } from '../../models/output-cap.ts';
import { describeRetired } from '../../models/retired.ts';
import type { AdminSettings } from '../../operations/admin-settings.ts';
import type { ToolSchema } from '../../ports/models.ts';
import type { PromptMode } from '../../prompts/contract.ts';
import type { ChatFeatures } from '../../prompts/prompt.ts';
import type { ShownPrompt } from '../../prompts/sealed-texts.ts';
import { countCharacters } from '../../shared/characters.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ToolLimits } from '../agents/options.ts';
import type { DialogueRequest } from '../conversation/turn-input.ts';
import type { ChatBody } from './contract.ts';

/** An accepted turn: the input of its worker. Plain JSON. Excludes the system prompt of the request, which travels encrypted with the job. */
export interface ChatRequest extends DialogueRequest {
  /** The id that the page of the user gave to the message. */
  readonly pageId?: string;
  /** The message is stored already, and gets another answer. */
  readonly isRepeated?: true;
  /** Absent: a number that suits the provider's cache. */
  readonly historyCount?: number;
  /** Ids of the offered tools. */
  readonly tools?: readonly string[];
  readonly maxToolCalls?: number;
  /** Calls of gated tools wait for the user. */
  readonly approvals?: true;
  /** Tools whose calls the client answers. */
  readonly clientTools?: readonly ToolSchema[];
  /** Tool limits of the agents in the turn; they apply to tools that are unlocked later, too. */
  readonly toolLimits?: ToolLimits;
  readonly promptMode?: PromptMode;
  readonly features?: ChatFeatures;
  /** A system prompt was sent and travels with the job. */
  readonly hasSystemPrompt?: true;
  /** The part of the prompt that the quest keeps for its user. */
  readonly showsPrompt?: ShownPrompt;
}

/**
 * Returns the named model, else the default: the setting, else the cheapest model with tools.
 * @throws ApiError 400 for a model that is unknown, retired, disabled or no chat model, and when no model is configured.
 */
export function chatModel(
  catalogue: ModelCatalogue,
  wanted: string | undefined,
  { DefaultAPIModel, enforceCredits }: Pick<AdminSettings, 'DefaultAPIModel' | 'enforceCredits'>,
): CatalogueEntry {
  // A default that the lists of the caller leave out is replaced by one that they contain.
  const usual = DefaultAPIModel !== null && catalogue.isAllowed(DefaultAPIModel) ? DefaultAPIModel : null;
  const id = wanted ?? usual;
  const entry = id === null ? findDefaultChatModel(catalogue, enforceCredits) : catalogue.find(id);
  if (entry?.info.type === 'text') return entry;
  if (id === null || findDefaultChatModel(catalogue, false) === undefined) {
    throw new ApiError(400, NO_CHAT_MODEL);
  }
  const retired = describeRetired(catalogue, id);
  if (wanted !== undefined) throw new ApiError(400, retired ?? `Model info not found for '${id}'`);
  const why = retired === undefined ? '' : `: ${retired}`;
  throw new ApiError(400, `model: required, because the default model is not usable${why}`);
}

/** The preferred model of an agent, if it is usable: the request did not name it, so it causes no error. */
export function agentModel(catalogue: ModelCatalogue, id: string | undefined): string | undefined {
  return id !== undefined && catalogue.isAllowed(id) && catalogue.find(id)?.info.type === 'text'
    ? id
    : undefined;
}

/** Returns the output cap of the request: the first of three spellings. */
export function namedCap(body: ChatBody): number | undefined {
  return body.max_tokens ?? body.maxTokens ?? body.maxOutputTokens;
}

/** Returns the output cap: the requested one, else `usual`, else the model's default; rounded down, within the model's maximum. */
export function outputCap(body: ChatBody, { info }: CatalogueEntry, usual: number | undefined): number {
  const named = namedCap(body) ?? usual;
  return named === undefined ? defaultOutputCap(info) : withinModel(info, named);
}

/** Shorter messages rarely hold several tasks: no model plans them, unless the request asks for it. */
const WORTH_PLANNING = 200;

/** Shorter messages rarely state lasting facts: no model extracts mementos from them, unless the request asks for it. */
const WORTH_READING = 40;

/** Whether mementos are extracted from a message. */
export function remembers(body: ChatBody): boolean {
  return body.enableMementos ?? (isUsual(body) && countCharacters(body.message) >= WORTH_READING);
}

/** Without a mode, `enableTools` enables the features that the request does not name. */
export function getFeatures(body: ChatBody): ChatFeatures | undefined {
  const usual = isUsual(body);
  const features = {
    // The tasks of a plan run side by side and cannot wait.
    questMaster:
      body.enableQuestMaster ?? (usual && body.approvals !== true && isWorthPlanning(body.message)),
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
