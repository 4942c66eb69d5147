import { describe, expect, it } from 'vitest';
import { AI_SDK } from './matrix/ai-sdk.ts';
import { ANTHROPIC } from './matrix/anthropic-sdk.ts';
import { type MatrixClient, SCENARIOS } from './matrix/client.ts';
import { LANGCHAIN } from './matrix/langchain.ts';
import { OPENAI_CHAT, OPENAI_RESPONSES } from './matrix/openai-sdk.ts';
import { runScenario } from './matrix/scenarios.ts';

const CLIENTS: readonly MatrixClient[] = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, ...AI_SDK, ...LANGCHAIN];

describe.each(CLIENTS.map((client) => [client.name, client] as const))('%s', (_name, client) => {
  it.each(SCENARIOS)('%s', async (scenario) => {
    const reason = client.cannot?.[scenario];
    if (reason === undefined) await runScenario(scenario, client);
    else await expect(runScenario(scenario, client), reason).rejects.toThrow();
  });
});
