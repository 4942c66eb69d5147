import { ProviderError } from '@questline/core';
import {
  createScriptedProvider,
  type ModelScenario,
  type ModelStage,
  type ScriptedCall,
  type ScriptedProvider,
} from '@questline/testing';

/** A scripted provider that follows a scenario of the models suite. */
export function stageOf(scenario: ModelScenario): ModelStage & { readonly provider: ScriptedProvider } {
  const provider = createScriptedProvider({ answer: (call) => play(call, scenario) });
  const first = provider.nextCall();
  return {
    provider,
    model: 'scripted-1',
    calls: () => provider.calls.length,
    called: () => first,
    left: async () => {
      const { how } = await (await first).ended;
      if (how !== 'aborted' && how !== 'returned') throw new Error(`the call was ${how}, not left`);
    },
  };
}

function play(call: ScriptedCall, scenario: ModelScenario): void {
  if (scenario.kind === 'silent') return;
  if (scenario.kind === 'refuse') {
    const { error, retryAfterMs } = scenario;
    call.refuse(new ProviderError(error, 'refused', retryAfterMs === undefined ? {} : { retryAfterMs }));
    return;
  }
  for (const part of scenario.parts) if (part.type !== 'finish') call.send(part);
  const finish = scenario.parts.find((part) => part.type === 'finish');
  if (scenario.kind === 'break') call.fail(new ProviderError('failed', 'the connection broke'));
  else if (scenario.kind === 'answer') call.finish(finish?.reason);
}
