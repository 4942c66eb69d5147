import { DELEGATE_TO_AGENT } from '../agents/delegation.ts';
import { agentsThink } from '../agents/events.ts';
import { fitConversation, inputLimit } from '../chat/conversation.ts';
import { type Answering, askModels } from '../models/answering.ts';
import { type Candidates, fallbackOf } from '../models/candidates.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest, ModelMessage, ToolSchema } from '../ports/models.ts';
import type { Desk } from '../quests/desk.ts';
import type { PaidCall } from '../quests/model-call.ts';
import type { Consultation, ToolContext, ToolOffer, ToolResult, ToolScope } from '../tools/registry.ts';
import { consultWithin } from './consult.ts';
import type { DialogueRequest, DialogueServices } from './scene.ts';

/** The talk of one quest with its model and its tools, paid for and written down as it goes. */
export interface Talk {
  /** What the model is offered now. */
  readonly tools: readonly ToolSchema[];
  /** Asks the model, and answers once it has begun. @param mostTokens of the answer; at most as many as were asked for. */
  ask(
    messages: readonly ModelMessage[],
    tools: readonly ToolSchema[],
    mostTokens?: number,
  ): Promise<Answering<PaidCall>>;
  /** A round has come to its end and is paid for; tools come next. */
  roundEnded(call: PaidCall): Promise<void>;
  /** Runs one call of a tool. Never rejects. `place`: which call of the quest it is, the same after a restart. */
  runTool(name: string, input: unknown, place: string): Promise<ToolResult>;
}

export function createTalk(
  services: DialogueServices,
  desk: Desk,
  terms: {
    readonly request: DialogueRequest;
    readonly candidates: Candidates;
    /** Whose tools they are. */
    readonly scope: ToolScope;
    readonly offers: readonly ToolOffer[];
    /** Of the tools a result has unlocked, those that may be offered here. */
    unlock(ids: readonly string[]): Promise<readonly ToolOffer[]>;
    /** Which rounds leave out the oldest messages when the model cannot hold them all. */
    readonly trimmed: 'first-round' | 'every-round';
  },
): Talk {
  const { quest, journal, watch, signal } = desk;
  const { request, candidates } = terms;
  const offers = [...terms.offers];
  const { requestId } = request;
  const { operation } = desk;
  let answering: CatalogueEntry | undefined;

  const unlock = async (ids: readonly string[]): Promise<void> => {
    const known = new Set(offers.map(({ id }) => id));
    const more = ids.filter((id) => !known.has(id));
    if (more.length > 0) offers.push(...(await terms.unlock(more)));
  };

  /** Has an agent do something, and tells who looks that it does. */
  const consult = (consultation: Consultation, place: string): Promise<string> => {
    const { agent, mayUse } = consultation;
    const { agents = [] } = desk.progress();
    const others = agents.filter(({ id }) => id !== agent.id);
    desk.tell({ ...agentsThink(services.agentEvents, quest.sessionId, [agent]), agents: [...others, agent] });
    const allowed = () => offers.filter(({ id }) => id !== DELEGATE_TO_AGENT && mayUse(id));
    return consultWithin(desk, talk, consultation, allowed, (name, input, nested) =>
      runTool(name, input, `${place}:${nested}`, allowed(), false),
    );
  };

  const runTool = async (
    name: string,
    input: unknown,
    place: string,
    among: readonly ToolOffer[],
    mayConsult: boolean,
  ): Promise<ToolResult> => {
    const offer = among.find(({ schema }) => schema.name === name);
    if (offer === undefined) return { content: `There is no tool ${name}.`, isError: true };
    const context: ToolContext = {
      ...terms.scope,
      callKey: `${quest.id}:${place}`,
      requestId,
      signal,
      ...(mayConsult && { consult: (consultation) => consult(consultation, place) }),
    };
    try {
      const result = await services.toolRegistry.run({ tool: offer.id, input }, context);
      if (result.payload !== undefined) journal.show(result.payload);
      if (result.unlocks !== undefined) await unlock(result.unlocks);
      return result;
    } catch (error) {
      if (!signal.aborted) services.onError({ operation: `tool:${offer.id}`, requestId, error });
      return { content: `The tool ${name} failed.`, isError: true };
    }
  };

  const talk: Talk = {
    get tools() {
      return offers.map(({ schema }) => schema);
    },

    async ask(messages, tools, mostTokens = request.maxTokens) {
      watch.phase('model');
      const trims = answering === undefined || terms.trimmed === 'every-round';
      const answered = await askModels(services, {
        // Once a model has spoken the quest is its own.
        candidates: answering === undefined ? candidates : [answering],
        requestFor: (entry) => {
          const maxTokens = Math.min(mostTokens, request.maxTokens);
          return requestFor(entry, { ...request, maxTokens }, messages, tools, trims);
        },
        pay: desk.pay,
        operation,
        requestId,
        signal,
      });
      if (answering === undefined) desk.tell(fallbackOf(services.catalogue, request.model, answered));
      answering = answered.entry;
      return answered;
    },

    async roundEnded(call) {
      watch.phase('store');
      await desk.stepEnded(call, true);
      watch.phase('tools');
    },

    runTool: (name, input, place) => runTool(name, input, place, offers, true),
  };
  return talk;
}

function requestFor(
  { info, providerModel }: CatalogueEntry,
  { maxTokens, temperature, thinkingBudget }: DialogueRequest,
  messages: readonly ModelMessage[],
  tools: readonly ToolSchema[],
  trims: boolean,
): GenerateRequest {
  return {
    model: providerModel,
    messages: trims ? fitConversation(messages, inputLimit(info, maxTokens)) : messages,
    maxTokens: Math.min(maxTokens, info.maxOutputTokens),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingBudget !== undefined &&
      info.supportsThinking === true && { thinking: { budgetTokens: thinkingBudget } }),
    ...(tools.length > 0 && info.supportsTools === true && { tools }),
  };
}
