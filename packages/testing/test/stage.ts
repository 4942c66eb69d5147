import { ProviderError } from '@questline/core/ports';
import {
  callTool,
  createScriptedProvider,
  type ModelScenario,
  type ModelStage,
  type ReceivedRequest,
  type ScriptedCall,
  type ScriptedProvider,
} from '@questline/testing';

/** A scripted provider that follows a scenario of the models suite. */
export function getStage(scenario: ModelScenario): ModelStage & { readonly provider: ScriptedProvider } {
  const provider = createScriptedProvider({ answer: (call) => play(call, scenario) });
  const first = provider.nextCall();
  return {
    provider,
    model: 'scripted-1',
    received: () => readRequest(provider.calls.at(-1)),
    calls: () => provider.calls.length,
    called: () => first,
    left: async () => {
      const { how } = await (await first).ended;
      if (how !== 'aborted' && how !== 'returned')
        throw new Error(`the call ended with ${how}, expected an abort`);
    },
  };
}

/** A scripted model supports every field. */
function readRequest(call: ScriptedCall | undefined): ReceivedRequest {
  const {
    tools = [],
    promptCache,
    toolChoice,
    parallelToolCalls,
    topP,
    topK,
    stop,
    seed,
  } = call?.request ?? {};
  const cacheKey = promptCache?.mode === 'auto' ? promptCache.key : undefined;
  const toolNames = tools.map(({ name }) => name);
  return { toolNames, toolChoice, parallelToolCalls, topP, topK, stop, seed, cacheKey };
}

function play(call: ScriptedCall, scenario: ModelScenario): void {
  if (scenario.kind === 'silent') return;
  if (scenario.kind === 'refuse') {
    const { error, retryAfterMs } = scenario;
    call.refuse(new ProviderError(error, 'refused', retryAfterMs === undefined ? {} : { retryAfterMs }));
    return;
  }
  let tools = 0;
  for (const part of scenario.parts) {
    if (part.type === 'tool_use') {
      call.send(...callTool(tools, part, [part.arguments.slice(0, 1), part.arguments.slice(1)]));
      tools += 1;
    } else if (part.type !== 'finish') {
      call.send(part);
    }
  }
  const finish = scenario.parts.find((part) => part.type === 'finish');
  if (scenario.kind === 'break') call.fail(new ProviderError('failed', 'the connection broke'));
  else if (scenario.kind === 'answer') call.finish(finish?.reason);
}
