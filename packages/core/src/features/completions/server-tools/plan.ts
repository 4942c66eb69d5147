import type {
  AnswerChunk,
  AnswerPart,
  GenerateRequest,
  ModelChunk,
  ModelContent,
  ModelPart,
  ServerToolPart,
} from '../../../ports/models.ts';
import {
  getToolName,
  type ServerTool,
  type ServerToolResult,
  type ServerTools,
  type ServerToolUse,
} from './tools.ts';

/*
 * An answer with tools that the server runs takes several calls of a model: rounds. They end when the model answers, when it
 * calls a tool of the client or one that needs approval, or at a limit.
 */

const NO_MORE_CALLS: ServerToolResult = {
  content: 'No more calls of this tool are allowed in this answer. Answer with what you have.',
  isError: true,
  sources: [],
};

/** @param number of the call within the answer. */
export type RunCall = (tool: ServerTool, use: ServerToolUse, number: number) => Promise<ServerToolResult>;

/** The output of one call of the model. */
export interface Round {
  /** Reads a part. @returns false for a call of a server tool, which does not belong to the answer. */
  take(part: ModelPart): boolean;
  /** Removes calls of server tools from a chunk. @param onRemoved called with each. */
  filter(chunk: ModelChunk, onRemoved: (part: ModelPart) => void): AnswerChunk;
  readonly uses: readonly ServerToolUse[];
  /** In the order of arrival: providers reject reordered reasoning. */
  readonly content: readonly ModelContent[];
  /** Whether the model calls a tool of the client: then the answer ends with this round. */
  callsClient(): boolean;
}

export interface RoundPlan {
  /** The call of the model for the next round. Its model is that of the first. */
  request(): GenerateRequest;
  /** Calls that the user has approved run before the first round. */
  readonly hasApproved: boolean;
  /** Runs the approved calls, and puts their results into the request. */
  runApproved(runCall: RunCall): AsyncGenerator<ServerToolPart, void>;
  begin(): Round;
  /** Whether calls of the round are to be run. False: the answer ends. */
  hasWork(round: Round, finishReason: string | undefined): boolean;
  /** Runs the calls of a round, at the same time, and yields their parts in order. */
  run(round: Round, runCall: RunCall): AsyncGenerator<ServerToolPart, void>;
  /** Prepares the next round. @param outputTokens of this one. @returns false if the answer ends. */
  advance(round: Round, outputTokens: number): boolean;
  /** The answer ends at a limit. */
  isCut(): boolean;
}

/** @param isCapNamed whether the output limit of the request is that of the whole answer. */
export function createRoundPlan(
  first: GenerateRequest,
  { tools, maxCalls, approved = [] }: ServerTools,
  isCapNamed: boolean,
): RoundPlan {
  const byName = new Map(tools.map((tool): [string, ServerTool] => [getToolName(tool), tool]));
  let request = first;
  let used = 0;
  let isCut = false;
  let awaitsApproval = false;
  let results: readonly ServerToolResult[] = [];

  return {
    hasApproved: approved.length > 0,

    async *runApproved(runCall) {
      const outcomes = new Map<string, ServerToolResult>();
      // One after the other, in the order in which the model asked.
      for (const [number, { id, name, arguments: json, target }] of approved.entries()) {
        const tool = byName.get(name);
        if (tool === undefined) continue;
        yield { type: 'server_tool_call', id, name, arguments: json, target };
        const result = await runCall(tool, { id, name, arguments: json }, number);
        outcomes.set(id, result);
        yield { type: 'server_tool_result', id, name, arguments: json, target, ...result };
      }
      request = { ...request, messages: withResults(request.messages, outcomes) };
    },

    request: () => request,
    isCut: () => isCut,
    begin: () => createRound((name) => byName.has(name)),

    hasWork({ uses }, finishReason) {
      if (uses.length === 0) return false;
      // An answer that was cut may have incomplete calls; a model that calls on after the last call would never end.
      isCut = finishReason === 'max_tokens' || used >= maxCalls;
      return !isCut;
    },

    async *run({ uses }, runCall) {
      const from = used;
      used += uses.length;
      const running = uses.map((use, index) => {
        const tool = byName.get(use.name);
        if (tool === undefined || from + index >= maxCalls) return undefined;
        if (tool.type === 'mcp' && tool.needsApproval) return tool;
        const call = runCall(tool, use, approved.length + from + index);
        return { call, ...(tool.type === 'mcp' && { target: tool.target }) };
      });
      const ended: ServerToolResult[] = [];
      results = ended;
      for (const [index, { id, name, arguments: json }] of uses.entries()) {
        const work = running[index];
        if (work === undefined) {
          ended.push(NO_MORE_CALLS);
          continue;
        }
        if ('needsApproval' in work) {
          awaitsApproval = true;
          yield { type: 'server_tool_approval', id, name, arguments: json, target: work.target };
          continue;
        }
        const { call, ...about } = work;
        yield { type: 'server_tool_call', id, name, arguments: json, ...about };
        const result = await call;
        ended.push(result);
        yield { type: 'server_tool_result', id, name, arguments: json, ...about, ...result };
      }
    },

    advance({ content, uses, callsClient }, outputTokens) {
      if (callsClient() || awaitsApproval) return false;
      const maxTokens = isCapNamed ? request.maxTokens - outputTokens : request.maxTokens;
      isCut = maxTokens < 1;
      if (isCut) return false;
      const { toolChoice, tools: offered = [], messages, ...rest } = request;
      const own = offered.filter(({ name }) => !byName.has(name));
      const isSpent = used >= maxCalls;
      const choice = isSpent && own.length === 0 ? 'none' : toolChoice;
      request = {
        ...rest,
        maxTokens,
        messages: [
          ...messages,
          { role: 'assistant', content },
          {
            role: 'user',
            content: uses.map(({ id, name }, index) => {
              const { content: text, isError } = results[index] ?? NO_MORE_CALLS;
              return { type: 'tool_result', toolUseId: id, toolName: name, content: text, isError };
            }),
          },
        ],
        tools: isSpent && own.length > 0 ? own : offered,
        // A choice that forces a call is met by the first round.
        ...(choice === 'none' && { toolChoice: choice }),
      };
      return true;
    },
  };
}

/** Replaces the results of calls that have run since the request was made. */
function withResults(
  messages: GenerateRequest['messages'],
  outcomes: ReadonlyMap<string, ServerToolResult>,
): GenerateRequest['messages'] {
  const replace = (part: ModelContent): ModelContent => {
    const outcome = part.type === 'tool_result' ? outcomes.get(part.toolUseId) : undefined;
    if (part.type !== 'tool_result' || outcome === undefined) return part;
    return { ...part, content: outcome.content, isError: outcome.isError };
  };
  return messages.map((message) => ({ ...message, content: message.content.map(replace) }));
}

function createRound(isServerTool: (name: string) => boolean): Round {
  const content: ModelContent[] = [];
  const uses: ServerToolUse[] = [];
  let callsClient = false;

  const take = (part: ModelPart): boolean => {
    switch (part.type) {
      case 'text':
        addText(content, part.text);
        return true;
      case 'thinking':
        content.push({ type: 'thinking', block: part.block });
        return true;
      case 'tool_use': {
        const { id, name, arguments: json } = part;
        const isOurs = isServerTool(name);
        if (isOurs) uses.push({ id, name, arguments: json });
        else callsClient = true;
        content.push({ type: 'tool_use', id, name, input: parseInput(json) });
        return !isOurs;
      }
      default:
        return true;
    }
  };

  return {
    take,
    uses,
    content,
    callsClient: () => callsClient,
    filter(chunk, onRemoved) {
      const parts = Array.isArray(chunk) ? (chunk as readonly ModelPart[]) : [chunk as ModelPart];
      const removed: ModelPart[] = [];
      const rest: AnswerPart[] = [];
      for (const part of parts) (take(part) ? rest : removed).push(part);
      if (removed.length === 0) return chunk;
      removed.forEach(onRemoved);
      return rest;
    },
  };
}

/** Consecutive pieces of text form one block. */
function addText(content: ModelContent[], piece: string): void {
  if (piece === '') return;
  const last = content.at(-1);
  if (last?.type === 'text') content[content.length - 1] = { type: 'text', text: last.text + piece };
  else content.push({ type: 'text', text: piece });
}

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return {};
  }
}
