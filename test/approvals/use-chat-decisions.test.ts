import { answered, createToolbox, defineTool } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ApprovalApp, createApprovalApp, createMailTools } from '../support/approvals.ts';
import { answerParts } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';
import { readChunks, whileWorking } from '../support/use-chat.ts';

const BODY = { approvals: true, enableTools: true, id: 'mails' };
const user = (text: string) => ({ id: 'm', role: 'user', parts: [{ type: 'text', text }] });

function callMails(call: ModelCall, ...ids: readonly string[]): void {
  call.say({ type: 'text', text: 'First.' });
  for (const id of ids) {
    const input = JSON.stringify({ to: `${id}@example.com` });
    call.say({ type: 'tool_use', id, name: 'send_mail', arguments: input });
  }
  call.say({ type: 'usage', usage: { input: 10, output: 5 } }, { type: 'finish', reason: 'tool_use' });
  call.end();
}

const post = (app: ApprovalApp, message: object): Promise<Response> =>
  app.ask('POST', '/api/chat', { body: { ...BODY, messages: [message] } });

/** The message of a page that decides about a call. */
function toDecision(id: string, call: string, approved: boolean) {
  const part = {
    ...{ type: 'dynamic-tool', toolName: 'send_mail', toolCallId: `${id}.1.${call}`, input: {} },
    ...{ state: 'approval-responded', approval: { id: `${id}.${call}`, approved } },
  };
  return { id, role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'First.' }, part] };
}

/** A page whose turn waits for decisions about its calls. The test answers the second call of the model. */
async function startWaiting(...calls: readonly string[]) {
  const app = await createApprovalApp({
    onCall: (call) => (app.calls.length > 1 ? undefined : callMails(call, ...calls)),
  });
  const chunks = await readChunks(app, await whileWorking(app, post(app, user('Write'))));
  const id = String(chunks[0]?.messageId);
  const decide = (call: string, approved: boolean): Promise<Response> =>
    whileWorking(app, post(app, toDecision(id, call, approved)));
  return { app, id, decide };
}

describe('a page of useChat that decides', () => {
  it('gets the same when it repeats the decision while the turn goes on', async () => {
    const { app, decide } = await startWaiting('bob');
    const first = await decide('1.0', true);
    await app.settle();
    expect(app.calls).toHaveLength(2);
    const again = await decide('1.0', true);
    app.calls[1]?.say(...answerParts('Sent.'));
    app.calls[1]?.end();
    const chunks = await readChunks(app, first);
    expect(chunks.filter(({ type }) => type === 'text-delta')).toMatchObject([{ delta: '\n\nSent.' }]);
    expect(await readChunks(app, again)).toEqual(chunks);
    expect(app.sent).toHaveLength(1);
  });

  it('gets no text twice when it repeats the decision and the worker is lost', async () => {
    const { app, decide, id } = await startWaiting('bob');
    await decide('1.0', true);
    await app.settle();
    app.calls[1]?.say({ type: 'text', text: 'Sent.' });
    await app.settle();
    await app.clock.advance(1000);
    expect((await app.poll(id)).reply).toBe('First.\n\nSent.');
    const again = await decide('1.0', true);
    app.services.queue.renew = async () => false;
    const chunks = await readChunks(app, again);
    expect(chunks.map(({ delta = '' }) => delta).join('')).toBe('\n\nSent.');
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'First.\n\nSent.' });
  });

  it('is refused another decision about a decided call, and a message of the user', async () => {
    const { app, decide, id } = await startWaiting('bob', 'eve');
    expect((await decide('1.0', true)).status).toBe(200);
    expect((await decide('1.0', false)).status).toBe(409);
    expect((await whileWorking(app, post(app, user('And then?')))).status).toBe(409);
    expect([app.sent, (await app.poll(id)).status]).toEqual([[], 'waiting']);
  });

  it('is refused before any call of its turn waits', async () => {
    const app = await createApprovalApp({ onCall: () => undefined });
    const response = await whileWorking(app, post(app, user('Write')));
    const refused = await app.chat({ ...BODY, messages: [{ id: 'x', role: 'assistant', parts: [] }] });
    expect([refused.status, refused.body.error]).toEqual([
      422,
      'messages.0.role: the last message must be of the role `user`',
    ]);
    await response.body?.cancel();
  });

  it('gets a file that the turn made before its wait once, with the end', async () => {
    const { tools } = createMailTools();
    const draw = defineTool({
      id: 'draw',
      description: 'Draws.',
      input: z.object({}),
      offered: 'default',
      async run(_input, { userId }) {
        const made = { name: 'boat.png', mimeType: 'image/png', content: Buffer.from('boat') };
        const { file } = await app.services.library.save(userId, made);
        return answered('Drawn.', { type: 'image', payload: { fileId: file?.id ?? '' } });
      },
    });
    const app = await createApprovalApp({
      onCall(call) {
        if (app.calls.length === 1) return callTool(call, 'draw', {});
        if (app.calls.length === 2) return callTool(call, 'send_mail', { to: 'bob@example.com' });
        call.say(...answerParts('Sent.'));
        return call.end();
      },
      settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [tools, createToolbox([draw])] },
    });
    const waiting = await readChunks(app, await post(app, user('Draw and send')));
    const decision = toDecision(String(waiting[0]?.messageId), '2.0', true);
    const rest = await readChunks(app, await post(app, decision));
    const countFiles = (chunks: typeof rest) => chunks.filter(({ type }) => type === 'file').length;
    expect([countFiles(waiting), countFiles(rest)]).toEqual([0, 1]);
  });
});
