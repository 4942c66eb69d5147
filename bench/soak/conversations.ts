import { setTimeout as pause } from 'node:timers/promises';
import { must } from './client.ts';
import { endOfQuest, forget, newSession, type Scenario, until } from './scenario.ts';
import type { Regular, Workload } from './workload.ts';

export const COMPLETION = {
  model: 'demo-chat',
  messages: [{ role: 'user', content: 'Tell me about lighthouses in some sentences.' }],
  options: { maxTokens: 200 },
};

async function chat(
  { client }: Workload,
  person: Regular,
  body: object,
): Promise<{ id: string; sessionId: string }> {
  const request = { credential: person.key, body: { message: 'What is a lighthouse?', ...body } };
  return must(await client.ask('POST', '/api/chat', request));
}

async function run(workload: Workload, person: Regular, isCancelled: boolean): Promise<string> {
  const { client } = workload;
  const credential = person.key;
  const sessionId = await newSession(workload, person);
  const body = { session_id: sessionId, message: 'Roll a die and tell me a story.', max_iterations: 3 };
  const started = await client.ask<{ id: string }>('POST', '/api/v1/agent-executions', { credential, body });
  // Each user may have three active runs.
  if (started.status === 409) return 'refused';
  const { id } = must(started);
  if (isCancelled)
    must(await client.ask('POST', `/api/v1/agent-executions/${id}/cancel`, { credential, body: {} }));
  const end = await until(async () => {
    const request = { credential };
    const { status } = must(
      await client.ask<{ status: string }>('GET', `/api/v1/agent-executions/${id}`, request),
    );
    return ['completed', 'aborted', 'failed'].find((one) => one === status);
  });
  if (end === 'failed') throw new Error('the run failed');
  await forget(workload, person, sessionId);
  return end;
}

export const conversations: readonly Scenario[] = [
  {
    name: 'completion',
    weight: 12,
    async run({ client }, { key }) {
      const isWhole = await client.listen('/api/ai/v1/completions', { credential: key, body: COMPLETION });
      if (!isWhole) throw new Error('the stream broke off');
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
    async run(workload, person, random) {
      const isLasting = random.chance(0.3);
      const where = isLasting ? { sessionId: person.sessionId } : { newConversation: true };
      const { id, sessionId } = await chat(workload, person, where);
      const end = await endOfQuest(workload, person, id);
      if (!isLasting) await forget(workload, person, sessionId);
      return end;
    },
  },
  {
    name: 'chat cancelled',
    weight: 8,
    async run(workload, person, random) {
      const { id, sessionId } = await chat(workload, person, { newConversation: true });
      await pause(random.below(300));
      const request = { credential: person.key, body: {} };
      must(await workload.client.ask('POST', `/api/v1/quests/${id}/cancel`, request));
      const end = await endOfQuest(workload, person, id);
      await forget(workload, person, sessionId);
      return end;
    },
  },
  {
    name: 'chat deleted',
    weight: 3,
    async run(workload, person) {
      const { sessionId } = await chat(workload, person, { newConversation: true, enableMementos: true });
      await forget(workload, person, sessionId);
      return 'deleted';
    },
  },
  { name: 'agent run', weight: 5, run: (workload, person) => run(workload, person, false) },
  { name: 'run cancelled', weight: 3, run: (workload, person) => run(workload, person, true) },
];
