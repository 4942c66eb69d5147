import { setTimeout as pause } from 'node:timers/promises';
import { must } from './client.ts';
import { type Errand, endOfQuest, forget, newSession, until } from './errand.ts';
import type { Regular, Town } from './people.ts';

export const COMPLETION = {
  model: 'demo-chat',
  messages: [{ role: 'user', content: 'Tell me about lighthouses in some sentences.' }],
  options: { maxTokens: 200 },
};

async function chat(
  { client }: Town,
  person: Regular,
  body: object,
): Promise<{ id: string; sessionId: string }> {
  const wish = { credential: person.key, body: { message: 'What is a lighthouse?', ...body } };
  return must(await client.ask('POST', '/api/chat', wish));
}

async function run(town: Town, person: Regular, isCancelled: boolean): Promise<string> {
  const { client } = town;
  const credential = person.key;
  const sessionId = await newSession(town, person);
  const body = { session_id: sessionId, message: 'Roll a die and tell me a story.', max_iterations: 3 };
  const started = await client.ask<{ id: string }>('POST', '/api/v1/agent-executions', { credential, body });
  // Three at a time for each person.
  if (started.status === 409) return 'refused';
  const { id } = must(started);
  if (isCancelled)
    must(await client.ask('POST', `/api/v1/agent-executions/${id}/cancel`, { credential, body: {} }));
  const end = await until(async () => {
    const wish = { credential };
    const { status } = must(
      await client.ask<{ status: string }>('GET', `/api/v1/agent-executions/${id}`, wish),
    );
    return ['completed', 'aborted', 'failed'].find((one) => one === status);
  });
  if (end === 'failed') throw new Error('the run failed');
  await forget(town, person, sessionId);
  return end;
}

export const conversations: readonly Errand[] = [
  {
    name: 'completion',
    weight: 12,
    async run({ client }, { key }) {
      const isWhole = await client.listen('/api/ai/v1/completions', { credential: key, body: COMPLETION });
      if (!isWhole) throw new Error('it broke off');
      return 'whole';
    },
  },
  {
    name: 'completion left',
    weight: 12,
    async run({ client }, { key }, random) {
      const after = random.below(400);
      const leave = (text: string): boolean => text.length > after;
      const isWhole = await client.listen(
        '/api/ai/v1/completions',
        { credential: key, body: COMPLETION },
        leave,
      );
      return isWhole ? 'whole' : 'left';
    },
  },
  {
    name: 'chat',
    weight: 14,
    async run(town, person, random) {
      const isLasting = random.chance(0.3);
      const where = isLasting ? { sessionId: person.sessionId } : { newConversation: true };
      const { id, sessionId } = await chat(town, person, where);
      const end = await endOfQuest(town, person, id);
      if (!isLasting) await forget(town, person, sessionId);
      return end;
    },
  },
  {
    name: 'chat cancelled',
    weight: 8,
    async run(town, person, random) {
      const { id, sessionId } = await chat(town, person, { newConversation: true });
      await pause(random.below(300));
      const wish = { credential: person.key, body: {} };
      must(await town.client.ask('POST', `/api/v1/quests/${id}/cancel`, wish));
      const end = await endOfQuest(town, person, id);
      await forget(town, person, sessionId);
      return end;
    },
  },
  {
    name: 'chat deleted',
    weight: 3,
    async run(town, person) {
      const { sessionId } = await chat(town, person, { newConversation: true, enableMementos: true });
      await forget(town, person, sessionId);
      return 'deleted';
    },
  },
  { name: 'run of an agent', weight: 5, run: (town, person) => run(town, person, false) },
  { name: 'run cancelled', weight: 3, run: (town, person) => run(town, person, true) },
];
