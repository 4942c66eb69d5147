import {
  createRoundPlan,
  type RoundPlan,
  type RunCall,
} from '../src/features/completions/server-tools/plan.ts';
import type { ServerTools, ServerToolUse } from '../src/features/completions/server-tools/tools.ts';
import type { GenerateRequest, ModelPart, ServerToolPart } from '../src/ports/models.ts';

export const TARGET = { server: 'notes', tool: 'write' };
export const WEB = { type: 'web_search', count: 5 } as const;
export const WRITE = { type: 'mcp', id: 'notes__write', target: TARGET, needsApproval: false } as const;
export const offer = (name: string) => ({ name, description: name, parameters: { type: 'object' } });
export const call = (id: string, name: string): ModelPart => ({
  type: 'tool_use',
  id,
  name,
  arguments: '{}',
});
/** A request with two tools of the server and one of the client. */
export const FIRST: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  maxTokens: 100,
  promptCache: { mode: 'off' },
  toolChoice: 'required',
  tools: [offer('web_search'), offer('notes__write'), offer('weather')],
};

/** A plan whose calls return at once. By default three calls are allowed. */
export function openPlan(
  more: Partial<ServerTools> = {},
  request: Partial<GenerateRequest> = {},
  isCapNamed = false,
) {
  const plan = createRoundPlan(
    { ...FIRST, ...request },
    { tools: [WEB, WRITE], maxCalls: 3, ...more },
    isCapNamed,
  );
  const calls: (readonly [id: string, number: number])[] = [];
  const runCall: RunCall = async (_tool, { id }: ServerToolUse, number) => {
    calls.push([id, number]);
    return { content: `result of ${id}`, isError: false, sources: [] };
  };
  const read = async (parts: AsyncIterable<ServerToolPart>) => {
    const all: ServerToolPart[] = [];
    for await (const part of parts) all.push(part);
    return all;
  };
  const take = (...parts: readonly ModelPart[]) => {
    const round = plan.begin();
    const kept = parts.map((part) => round.take(part));
    return { round, kept };
  };
  return {
    plan,
    calls,
    take,
    runApproved: () => read(plan.runApproved(runCall)),
    run: (round: ReturnType<RoundPlan['begin']>) => read(plan.run(round, runCall)),
  };
}
