import { answered, createToolbox, defineTool } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import type { Collection, Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callOnce, createApprovalApp, createMailTools } from '../support/approvals.ts';
import { answerParts, type ChatAppOptions } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import { readFrames } from '../support/live-events.ts';
import type { ModelCall } from '../support/model.ts';

const ADMIN = { DefaultAPIModel: 'scripted' };
const MAIL = { to: 'bob@example.com' };
const ASK = { message: 'Write to Bob', enableTools: true, approvals: true };

const getTools = ({ request }: ModelCall): readonly string[] =>
  (request.tools ?? []).map(({ name }) => name).sort();

/** Begins a turn, up to its wait. */
async function begin(options: ChatAppOptions = {}, body: object = ASK) {
  const app = await createApprovalApp(options);
  const { id } = (await app.chat(body)).body;
  await app.settle();
  expect((await app.poll(id)).status).toBe('waiting');
  return {
    app,
    id,
    async decide(decision: object): Promise<void> {
      expect((await app.decide(id, decision)).status).toBe(200);
      await app.settle();
    },
  };
}

/** Lets the end of the wait be written only after `open`. */
function holdEndOfWait() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const held = (quests: Collection<never>): Collection<never> => ({
    ...quests,
    async update(id, changes, guard) {
      if ('wait' in changes && changes.wait === undefined) await opened;
      return quests.update(id, changes, guard);
    },
  });
  const hold = (store: Store): Store => ({
    ...store,
    collection: (definition) => {
      const found = store.collection(definition);
      return definition.name === QUESTS.name ? (held(found as never) as never) : found;
    },
  });
  return { hold, open: () => open() };
}

describe('a turn that goes on after a wait', () => {
  it('keeps the tools that a result had unlocked, each once', async () => {
    const { tools } = createMailTools();
    const define = (id: string, offered: 'default' | 'requested', unlocks: readonly string[]) =>
      defineTool({
        ...{ id, offered },
        description: 'Opens or cuts.',
        input: z.object({}),
        run: () => ({ ...answered('Done.'), unlocks }),
      });
    const drawer = createToolbox([
      define('open_drawer', 'default', ['scissors', 'look_up']),
      define('scissors', 'requested', []),
    ]);
    let round = 0;
    const { app, decide } = await begin({
      onCall(call) {
        round += 1;
        if (round === 1) return callTool(call, 'open_drawer', {});
        if (round === 2) return callTool(call, 'send_mail', MAIL);
        call.say(...answerParts('Done.'));
        return call.end();
      },
      settings: { admin: ADMIN, tools: [tools, drawer] },
    });
    await decide({ callId: '2.0', decision: 'approve' });
    const [before, unlocked, resumed] = app.calls.map(getTools);
    expect(before).not.toContain('scissors');
    expect(unlocked).toContain('scissors');
    expect(resumed).toEqual(unlocked);
  });

  it('offers a tool of its client once, also where the server has a tool of this name by now', async () => {
    const pick = { name: 'pick_color', description: 'Asks for a color.', parameters: { type: 'object' } };
    const { app, decide } = await begin(
      { onCall: callOnce('pick_color', {}) },
      { message: 'Paint', approvals: true, clientTools: [pick] },
    );
    const { toolRegistry } = app.services;
    const find = toolRegistry.find.bind(toolRegistry);
    const schema = { ...pick, description: 'Picks a color on the server.' };
    toolRegistry.find = (id, scope) =>
      id === pick.name ? { id, schema, offered: 'requested' } : find(id, scope);
    await decide({ callId: '1.0', decision: 'answer', output: { color: 'red' } });
    expect(app.calls.map(({ request }) => request.tools)).toEqual([[pick], [pick]]);
  });

  it('shows readers of its events the decision and the result of the call', async () => {
    const { app, id, decide } = await begin();
    const reading = app.ask('GET', `/api/v1/quests/${id}/events`).then((answer) => readFrames(answer));
    await app.settle();
    await decide({ callId: '1.0', decision: 'approve' });
    await app.clock.advance(1000);
    expect((await reading).map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { type: 'approval-decided', id: '1.0', decision: 'approve' },
        { type: 'tool-result', id: '1.0', name: 'send_mail', isError: false },
      ]),
    );
  });

  it('runs the approved call only after its record says that the wait has ended', async () => {
    const { hold, open } = holdEndOfWait();
    const { app, id, decide } = await begin({ store: hold });
    await decide({ callId: '1.0', decision: 'approve' });
    expect([app.sent, (await app.poll(id)).status]).toEqual([[], 'running']);
    open();
    await app.settle();
    expect([app.sent.length, (await app.poll(id)).status]).toEqual([1, 'done']);
  });
});
