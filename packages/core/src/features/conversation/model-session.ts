import { estimateInput, promptSize } from '../../credits/estimates.ts';
import { generateWithFallback } from '../../models/answering.ts';
import { type Candidates, toFallback } from '../../models/candidates.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { providerFailure } from '../../models/failures.ts';
import { getInputLimit, taskEffort, taskOutputCap, withinModel } from '../../models/output-cap.ts';
import { cacheHints } from '../../models/prompt-cache.ts';
import {
  type GenerateRequest,
  isProviderError,
  type ModelMessage,
  type PromptCacheHints,
  type ToolSchema,
} from '../../ports/models.ts';
import type { WaitingCall } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { Consultation, ToolContext, ToolOffer, ToolResult, ToolScope } from '../../tools/registry.ts';
import { DELEGATE_TO_AGENT } from '../agents/delegation.ts';
import { publishThinking } from '../agents/events.ts';
import { runConsultation } from './consult.ts';
import { fitConversation, markRound } from './conversation.ts';
import type { AskOptions, ModelSession } from './turn.ts';
import type { DialogueRequest, DialogueServices } from './turn-input.ts';

/** Creates the session of one quest with its model and its tools. Charges and persists each call as it happens. */
export function createModelSession(
  services: DialogueServices,
  run: RunContext,
  options: {
    readonly request: DialogueRequest;
    readonly candidates: Candidates;
    /** The user and session that the tools act for. */
    readonly scope: ToolScope;
    readonly offers: readonly ToolOffer[];
    /** Returns what the calls of a tool wait for; undefined: nothing. */
    waitsFor(offer: ToolOffer): WaitingCall['kind'] | undefined;
    /** The first candidate has answered before the quest waited. */
    readonly isResumed: boolean;
    /** Filters the tools that a result has unlocked to those that may be offered here. */
    unlock(ids: readonly string[]): Promise<readonly ToolOffer[]>;
  },
): ModelSession {
  const { quest, writer, stopwatch, signal } = run;
  const { request, candidates } = options;
  // The order does not depend on the request: tools are at the head of the prompt that a provider caches.
  const offers = [...options.offers].sort((a, b) => (a.schema.name < b.schema.name ? -1 : 1));
  const { requestId } = request;
  const { operation } = run;
  let answering: CatalogueEntry | undefined = options.isResumed ? candidates[0] : undefined;

  const unlock = async (ids: readonly string[]): Promise<void> => {
    const known = new Set(offers.map(({ id }) => id));
    const more = ids.filter((id) => !known.has(id));
    if (more.length > 0) offers.push(...(await options.unlock(more)));
  };

  /** Runs a task of an agent, and publishes that the agent works. */
  const consult = async (consultation: Consultation, place: string): Promise<string> => {
    const { agent, mayUse } = consultation;
    const { agents = [] } = run.progress();
    const others = agents.filter(({ id }) => id !== agent.id);
    run.update({
      ...publishThinking(services.agentEvents, quest.sessionId, [agent]),
      agents: [...others, agent],
    });
    const allowed = () => offers.filter(({ id }) => id !== DELEGATE_TO_AGENT && mayUse(id));
    const consulted: ModelSession = {
      ...modelSession,
      tools: () => allowed().map(({ schema }) => schema),
      runTool: (name, input, nested) => runTool(name, input, nested, false, allowed(), false),
    };
    try {
      return await runConsultation(run, consulted, consultation, place);
    } catch (error) {
      if (signal.aborted || !isProviderError(error)) throw error;
      // The provider failed during an answer, so no other model was asked.
      services.onError({ operation, requestId, error });
      throw providerFailure(error, 'public');
    }
  };

  const runTool = async (
    name: string,
    input: unknown,
    place: string,
    isDecided: boolean,
    among: readonly ToolOffer[],
    mayConsult: boolean,
  ): Promise<ToolResult> => {
    const offer = among.find(({ schema }) => schema.name === name);
    if (offer === undefined) return { content: `There is no tool ${name}.`, isError: true };
    if (!isDecided && options.waitsFor(offer) !== undefined) {
      return {
        content: `The tool ${name} needs the approval of the user, and cannot be used here.`,
        isError: true,
      };
    }
    const context: ToolContext = {
      ...options.scope,
      callKey: `${quest.id}:${place}`,
      requestId,
      signal,
      ...(mayConsult && { consult: (consultation) => consult(consultation, place) }),
    };
    try {
      const result = await services.toolRegistry.run({ tool: offer.id, input }, context);
      if (result.payload !== undefined) writer.show(result.payload);
      if (result.unlocks !== undefined) await unlock(result.unlocks);
      return result;
    } catch (error) {
      if (!signal.aborted) services.onError({ operation: `tool:${offer.id}`, requestId, error });
      return { content: `The tool ${name} failed.`, isError: true };
    }
  };

  const modelSession: ModelSession = {
    signal,
    tools: () => offers.map(({ schema }) => schema),

    async ask(messages, tools, asking = {}) {
      stopwatch.phase('model');
      const hints = cacheHints(services.promptCache, 'session', quest.sessionId);
      const answered = await generateWithFallback(services, {
        // After the model's first output the quest is never restarted with another model.
        candidates: answering === undefined ? candidates : [answering],
        requestFor: (entry) => requestFor(entry, request, messages, tools, { ...asking, hints }),
        isCapNamed: request.isCapOurs !== true,
        pay: run.pay,
        operation,
        requestId,
        callerId: quest.ownerId,
        signal,
      });
      if (answering === undefined) run.update(toFallback(services.catalogue, request.model, answered));
      answering = answered.entry;
      return answered;
    },

    async endRound(call) {
      stopwatch.phase('store');
      await run.endStep(call, 'finished');
      stopwatch.phase('tools');
    },

    runTool: (name, input, place, isDecided = false) => runTool(name, input, place, isDecided, offers, true),

    waitsFor(name) {
      const offer = offers.find(({ schema }) => schema.name === name);
      const kind = offer && options.waitsFor(offer);
      return kind && { kind, tool: offer.id };
    },

    getState: () => ({
      model: (answering ?? candidates[0]).info.id,
      tools: offers.map(({ id }) => id),
    }),
  };
  return modelSession;
}

function requestFor(
  { info, providerModel }: CatalogueEntry,
  { maxTokens: asked, temperature, thinkingBudget }: DialogueRequest,
  messages: readonly ModelMessage[],
  tools: readonly ToolSchema[],
  { toolChoice, taskTokens, hints }: AskOptions & { readonly hints: PromptCacheHints },
): GenerateRequest {
  const maxTokens =
    taskTokens === undefined
      ? withinModel(info, asked)
      : Math.min(taskOutputCap(info, taskTokens), withinModel(info, asked));
  const offered = tools.length > 0 && info.supportsTools === true ? tools : undefined;
  const schemas = estimateInput(promptSize({ messages: [], ...(offered && { tools: offered }) }));
  const fitting = fitConversation(messages, getInputLimit(info, maxTokens) - schemas);
  const mayCall = offered !== undefined && toolChoice !== 'none';
  return {
    model: providerModel,
    messages: mayCall ? markRound(fitting) : fitting,
    promptCache: taskTokens === undefined ? hints : { mode: 'off' },
    maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(thinkingBudget !== undefined &&
      info.supportsThinking === true && { thinking: { budgetTokens: thinkingBudget } }),
    ...(taskTokens !== undefined && taskEffort(info)),
    ...(offered !== undefined && { tools: offered, ...(toolChoice !== undefined && { toolChoice }) }),
  };
}
