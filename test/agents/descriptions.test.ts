import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';

const GRACE = 'a'.repeat(24);
const DEAR: ModelInfo = { ...SCRIPTED_MODEL, id: 'dear', prices: { input: 1000, output: 1000 } };
const PAINTER: ModelInfo = { ...SCRIPTED_MODEL, id: 'painter', type: 'image', prices: { image: 1 } };

const PUBLIC = {
  name: 'Grace',
  description: 'Counts things.',
  personality: {
    majorMotivation: 'Order.',
    minorMotivation: 'Tea.',
    characterFlaw: 'Hurry.',
    uniqueQuirk: 'Rhymes.',
    responseStyle: 'Short.',
  },
  capabilities: ['Sums', 'Lists'],
  triggerWords: ['@grace', 'count'],
};

async function describeAgent(
  more: { preferredModel?: string } = {},
  admin: object = { DefaultAPIModel: 'scripted' },
  models: readonly ModelInfo[] = [DEAR, SCRIPTED_MODEL, PAINTER],
) {
  const model = createScriptedProvider(sayAtOnce(' Grace counts. \n'), models);
  const app = await createChatApp({ model, settings: { admin } });
  await addAgent(app, {
    id: GRACE,
    ...PUBLIC,
    systemPrompt: 'The secret prompt.',
    deniedTools: ['dice_roll'],
    ...more,
  });
  const credential = await app.token();
  const { status, body } = await app.json('POST', `/api/agents/${GRACE}/generate-description`, {
    credential,
  });
  return { app, status, body, request: app.calls[0]?.request };
}

describe('generated description of an agent', () => {
  it('is asked for with what users see of the agent, and never with its prompt', async () => {
    const { status, body, request } = await describeAgent();
    expect([status, body.description]).toEqual([200, 'Grace counts.']);
    const [system, user] = request?.messages ?? [];
    expect([system?.role, user?.role, request?.messages.length]).toEqual(['system', 'user', 2]);
    const [part] = user?.content ?? [];
    expect(JSON.parse(part?.type === 'text' ? part.text : '')).toEqual(PUBLIC);
    expect(JSON.stringify(request)).not.toContain('secret prompt');
    expect(request?.maxTokens).toBeLessThanOrEqual(400);
  });

  it.each([
    ['that of the agent', { preferredModel: 'dear' }, { DefaultAPIModel: 'scripted' }, 'dear'],
    ['the default model', {}, { DefaultAPIModel: 'dear' }, 'dear'],
    [
      'the default model for an agent with an unknown one',
      { preferredModel: 'gone' },
      { DefaultAPIModel: 'dear' },
      'dear',
    ],
    [
      'the default model for an agent with one of images',
      { preferredModel: 'painter' },
      { DefaultAPIModel: 'dear' },
      'dear',
    ],
    ['the cheapest one without a default', {}, {}, 'scripted'],
    ['that of the agent without a default', { preferredModel: 'dear' }, {}, 'dear'],
  ])('comes from a model: %s', async (_name, agent, admin, expected) => {
    const { status, request } = await describeAgent(agent, admin);
    expect([status, request?.model]).toEqual([200, expected]);
  });

  it('is refused free of charge without a text model', async () => {
    const { app, status } = await describeAgent({}, {}, [PAINTER]);
    expect([status, app.calls.length]).toEqual([422, 0]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });
});
