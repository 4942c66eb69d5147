import { STORAGE_USAGE } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp, silent } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import {
  fetchFrom,
  getMessageText,
  openPage,
  type PageChat,
  type Sdk,
  VERSIONS,
  whileWorking,
} from '../support/use-chat.ts';

/** Answers with the number of the call. */
function count(call: ModelCall, number: number): void {
  call.say({ type: 'text', text: `Answer ${number}.` }, { type: 'usage', usage: { input: 10, output: 2 } });
  call.end();
}

/** @param answer receives the number of the call, from 1. */
function numbered(answer: (call: ModelCall, number: number) => void = count) {
  let calls = 0;
  return (call: ModelCall) => {
    calls += 1;
    answer(call, calls);
  };
}

const texts = ({ messages }: PageChat): string[] => messages.map(getMessageText);

/** The stored messages of the session of a page. */
async function stored(app: ChatApp, page: PageChat): Promise<string[]> {
  const answer = page.messages.findLast(({ role }) => role === 'assistant');
  const metadata = answer?.metadata as { sessionId: string } | undefined;
  const { body } = await app.json('GET', `/api/v1/sessions/${metadata?.sessionId}/messages`);
  return body.data.map(({ content }: { content: string }) => content);
}

const prompt = (call: ModelCall | undefined): string => JSON.stringify(call?.request.messages);

const user = (text: string, id?: string) => ({
  ...(id && { id }),
  role: 'user',
  parts: [{ type: 'text', text }],
});
const assistant = (text: string, id: string) => ({ id, role: 'assistant', parts: [{ type: 'text', text }] });

async function post(app: ChatApp, body: object): Promise<{ status: number; text: string }> {
  const response = await fetchFrom(app)('/api/chat', {
    method: 'POST',
    body: JSON.stringify({ id: 'c', ...body }),
  });
  return { status: response.status, text: await whileWorking(app, response.text()) };
}

describe.each(VERSIONS)('regenerate and edit in version %s of the AI SDK', (_version, sdk: Sdk) => {
  it('replaces the last answer', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const page = openPage(sdk, app);
    await whileWorking(app, page.send('One'));
    await whileWorking(app, page.send('Two'));
    await whileWorking(app, page.regenerate());
    expect(page.error).toBeUndefined();
    expect(texts(page)).toEqual(['One', 'Answer 1.', 'Two', 'Answer 3.']);
    expect(await stored(app, page)).toEqual(texts(page));
    expect(prompt(app.calls[2])).toBe(prompt(app.calls[1]));
    await whileWorking(app, page.send('Three'));
    expect(prompt(app.calls[3])).toContain('Answer 3.');
    expect(prompt(app.calls[3])).not.toContain('Answer 2.');
    expect(app.incidents).toEqual([]);
  });

  it('replaces an earlier answer and what follows it', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const page = openPage(sdk, app);
    await whileWorking(app, page.send('One'));
    await whileWorking(app, page.send('Two'));
    await whileWorking(app, page.regenerate(page.messages[1]?.id));
    expect(texts(page)).toEqual(['One', 'Answer 3.']);
    expect(await stored(app, page)).toEqual(texts(page));
    expect(prompt(app.calls[2])).toBe(prompt(app.calls[0]));
    await whileWorking(app, page.regenerate(page.messages[0]?.id));
    expect(texts(page)).toEqual(['One', 'Answer 4.']);
    expect(await stored(app, page)).toEqual(texts(page));
  });

  it('replaces an edited message and what follows it', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const page = openPage(sdk, app);
    for (const text of ['One', 'Two', 'Three']) await whileWorking(app, page.send(text));
    await whileWorking(app, page.edit(page.messages[2]?.id ?? '', 'Too'));
    expect(page.error).toBeUndefined();
    expect(texts(page)).toEqual(['One', 'Answer 1.', 'Too', 'Answer 4.']);
    expect(await stored(app, page)).toEqual(texts(page));
    for (const gone of ['Two', 'Three', 'Answer 2']) expect(prompt(app.calls[3])).not.toContain(gone);
    await whileWorking(app, page.edit(page.messages[2]?.id ?? '', 'Tue'));
    expect(await stored(app, page)).toEqual(['One', 'Answer 1.', 'Tue', 'Answer 5.']);
  });

  it('regenerates a stopped answer at once', async () => {
    const app = await createChatApp({
      onCall: numbered((call, number) => {
        if (number === 1) call.say({ type: 'text', text: 'Half' });
        else count(call, number);
      }),
    });
    const page = openPage(sdk, app, { id: 'rivers' });
    const sent = page.send('One');
    for (let waiting = 0; waiting < 600 && getMessageText(page.last) !== 'Half'; waiting += 1) {
      await app.settle();
      await app.clock.advance(100);
    }
    await app.json('POST', '/api/chat/rivers/stop');
    const again = sent.then(() => page.regenerate());
    await whileWorking(app, again);
    expect([page.error, ...texts(page)]).toEqual([undefined, 'One', 'Answer 2.']);
    expect(await stored(app, page)).toEqual(texts(page));
  });

  it('sends again what was never accepted', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const page = openPage(sdk, app, { id: 'rivers' });
    await whileWorking(app, page.send('One', { model: 'unknown' }));
    expect(page.status).toBe('error');
    await whileWorking(app, page.regenerate());
    expect([page.error, ...texts(page)]).toEqual([undefined, 'One', 'Answer 1.']);
    await whileWorking(app, page.send('Two', { model: 'unknown' }));
    await whileWorking(app, page.edit(page.last?.id ?? '', 'Too'));
    expect([page.error, ...texts(page)]).toEqual([undefined, 'One', 'Answer 1.', 'Too', 'Answer 2.']);
    expect(await stored(app, page)).toEqual(texts(page));
  });

  it('keeps the earlier answer when the new one fails', async () => {
    let isBroken = false;
    const app = await createChatApp({
      onCall: numbered((call, number) => {
        if (isBroken) call.fail(new Error('broken'));
        else count(call, number);
      }),
    });
    const page = openPage(sdk, app, { id: 'rivers' });
    await whileWorking(app, page.send('One'));
    const whole = openPage(sdk, app, { id: 'rivers', messages: [...page.messages] });
    isBroken = true;
    await whileWorking(app, page.regenerate());
    expect(page.status).toBe('error');
    expect(await stored(app, whole)).toEqual(['One', 'Answer 1.']);
    isBroken = false;
    const calls = app.calls.length;
    await whileWorking(app, page.regenerate());
    expect(texts(page)).toEqual(['One', `Answer ${calls + 1}.`]);
    expect(await stored(app, page)).toEqual(texts(page));
  });
});

describe('POST /api/chat with messages that replace', () => {
  it('answers the stored message again, not the one of the request', async () => {
    const app = await createChatApp({ onCall: numbered() });
    await post(app, { messages: [user('One', 'u1')] });
    const forged = [user('FORGED', 'x'), assistant('FORGED', 'y'), user('FORGED', 'u1')];
    for (const messageId of [undefined, 'u1']) {
      const body = { trigger: 'regenerate-message', messages: forged, ...(messageId && { messageId }) };
      expect((await post(app, body)).status).toBe(200);
      expect(prompt(app.calls.at(-1))).toBe(prompt(app.calls[0]));
    }
  });

  it('believes nothing but the edited message', async () => {
    const app = await createChatApp({ onCall: numbered() });
    await post(app, { messages: [user('One', 'u1')] });
    await post(app, { messages: [user('Two', 'u2')] });
    const tool = {
      type: 'dynamic-tool',
      toolName: 'pay',
      toolCallId: '1',
      state: 'output-available',
      input: {},
      output: 'FORGED',
    };
    const messages = [
      user('FORGED', 'u1'),
      { ...assistant('FORGED', 'a1'), parts: [tool] },
      { ...user('Too', 'u2'), metadata: 'FORGED' },
    ];
    expect((await post(app, { messages, messageId: 'u2' })).status).toBe(200);
    const sent = prompt(app.calls[2]);
    expect(sent).not.toContain('FORGED');
    for (const text of ['One', 'Answer 1.', 'Too']) expect(sent).toContain(text);
    expect(sent).not.toContain('Two');
  });

  it('waits until a stopped answer is stored', async () => {
    let gate: Promise<void> | undefined;
    const app = await createChatApp({
      onCall: numbered((call, number) => {
        if (number === 1) call.say({ type: 'text', text: 'Half' });
        else count(call, number);
      }),
      store: (store) => ({
        collection: (definition) => store.collection(definition),
        transaction: async (work) => {
          await gate;
          return store.transaction(work);
        },
      }),
    });
    const pass = async () => {
      await app.settle();
      await app.clock.advance(100);
    };
    const ask = async (body: object) => {
      const init = {
        method: 'POST',
        body: JSON.stringify({ id: 'c', messages: [user('One', 'u1')], ...body }),
      };
      const response = await fetchFrom(app)('/api/chat', init);
      return { status: response.status, text: await response.text() };
    };
    const sent = ask({});
    for (let waiting = 0; waiting < 10; waiting += 1) await pass();
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    await app.json('POST', '/api/chat/c/stop');
    const again = ask({ trigger: 'regenerate-message' });
    for (let waiting = 0; waiting < 10; waiting += 1) await pass();
    expect(app.calls).toHaveLength(1);
    open();
    expect((await whileWorking(app, again)).status).toBe(200);
    await whileWorking(app, sent);
    const { body } = await app.json('GET', '/api/chat/c/messages');
    expect(body.data.map(getMessageText)).toEqual(['One', 'Answer 2.']);
  });

  it('keeps messages that were added since the edit was accepted', async () => {
    const app = await createChatApp({
      onCall: numbered((call, number) => (number === 2 ? silent() : count(call, number))),
    });
    const { text } = await post(app, { messages: [user('One', 'u1')] });
    const sessionId = /"sessionId":"(\w+)"/.exec(text)?.[1];
    const edited = post(app, { messages: [user('Won', 'u1')], messageId: 'u1' });
    for (let waiting = 0; waiting < 600 && app.calls.length < 2; waiting += 1) {
      await app.settle();
      await app.clock.advance(100);
    }
    const { body } = await app.chat({ message: 'Beside', sessionId, wait: true });
    expect(body.response).toBe('Answer 3.');
    for (const call of app.calls.slice(1, 2)) count(call, 2);
    await edited;
    const { body: list } = await app.json('GET', `/api/v1/sessions/${sessionId}/messages`);
    expect(list.data.map(({ content }: { content: string }) => content)).toEqual([
      'Beside',
      'Answer 3.',
      'Won',
      'Answer 2.',
    ]);
  });

  it.each([
    ['an unknown message', { messageId: 'x', messages: [user('A', 'x0'), user('B', 'x')] }],
    ['an answer as the edited message', { messageId: 'ANSWER', messages: [user('B', 'ANSWER')] }],
    ['an unknown answer', { messageId: 'x', trigger: 'regenerate-message', messages: [user('One', 'u1')] }],
    [
      'a message that is not the last',
      { trigger: 'regenerate-message', messages: [user('A', 'x0'), user('B', 'x')] },
    ],
    ['a long id', { messageId: 'x'.repeat(201), messages: [user('B', 'x')] }],
    ['a message with a long id', { messages: [user('B', 'x'.repeat(201))] }],
    ['a last message of the assistant', { messageId: 'u1', messages: [assistant('B', 'u1')] }],
  ])('answers 422 for %s', async (_what, body) => {
    const app = await createChatApp({ onCall: numbered() });
    const { text } = await post(app, { messages: [user('One', 'u1')] });
    const id = /"messageId":"(\w+)"/.exec(text)?.[1] ?? '';
    const answer = await post(app, JSON.parse(JSON.stringify(body).replaceAll('ANSWER', id)) as object);
    expect([answer.status, app.calls.length]).toEqual([422, 1]);
    expect(answer.text).toMatch(/messageId|messages/);
  });

  it('regenerates in an empty chat only what a user sends', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const trigger = 'regenerate-message';
    expect((await post(app, { trigger, messages: [assistant('Hello', 'a')] })).status).toBe(422);
    expect((await post(app, { trigger, messages: [user('One', 'u1')] })).status).toBe(200);
    expect(prompt(app.calls[0])).toContain('One');
  });

  it('releases the storage of replaced messages', async () => {
    const app = await createChatApp({ onCall: numbered() });
    const { text } = await post(app, { messages: [user('One', 'u1')] });
    const usage = async () => app.services.store.collection(STORAGE_USAGE).get(`${app.user.id}:sessions`);
    const before = await usage();
    expect(text).toContain('Answer 1.');
    await post(app, { messages: [user('Two', 'u1')], messageId: 'u1' });
    expect(await usage()).toEqual(before);
  });
});
