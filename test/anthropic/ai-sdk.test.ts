import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, it } from 'vitest';
import { QUESTION, testAiSdkModel } from '../support/ai-sdk-wire.ts';
import { reason } from '../support/vendor-wire.ts';
import { type AnthropicApp, createAnthropicApp, createThinker } from './support.ts';

const connect = ({ baseURL, key }: AnthropicApp) =>
  createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: key })('scripted');

describe('@ai-sdk/anthropic', () => {
  testAiSdkModel(async (options) => connect(await createAnthropicApp(options)));

  it('counts cached tokens, and returns reasoning with its signature', async () => {
    const app = await createAnthropicApp({ model: createThinker(reason) });
    const model = connect(app);
    const first = await model.doGenerate({ prompt: [QUESTION] });
    expect(first.usage.inputTokens).toMatchObject({ total: 45, cacheRead: 30, cacheWrite: 5 });
    const [thought] = first.content;
    if (thought?.type !== 'reasoning') throw new Error('no reasoning');
    await model.doGenerate({
      prompt: [
        QUESTION,
        {
          role: 'assistant',
          content: [
            {
              type: 'reasoning',
              text: thought.text,
              ...(thought.providerMetadata && { providerOptions: thought.providerMetadata }),
            },
            { type: 'text', text: 'Rain.' },
          ],
        },
        QUESTION,
      ],
    });
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });
});
