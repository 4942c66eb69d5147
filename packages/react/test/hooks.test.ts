import type { Route } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import type { ModelCall } from '../../../test/support/model.ts';
import { hasBrowser } from '../../server/test/browser.ts';
import { type Host, openProbe, type Probe, startHost } from './host.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

async function start(onCall?: (call: ModelCall) => void): Promise<{ host: Host; probe: Probe }> {
  const host = await startHost(onCall);
  return { host, probe: await openProbe(host) };
}

/** Waits for a call of the model. */
async function getCall({ calls }: Host, index = 0): Promise<ModelCall> {
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(index), { timeout: 60_000, interval: 5 });
  return calls[index] as ModelCall;
}

/** Waits until the page has this many open connections to live events. */
async function untilReaders(host: Host, count: number): Promise<void> {
  await vi.waitFor(() => expect(host.countReaders()).toBe(count), { timeout: 20_000, interval: 5 });
}

function finish(call: ModelCall, output = 2): void {
  call.say({ type: 'usage', usage: { input: 1, output } }, { type: 'finish', reason: 'stop' });
  call.end();
}

const answer =
  (text: string) =>
  (call: ModelCall): void => {
    call.say({ type: 'text', text });
    finish(call);
  };

const READY = `it.status === 'ready'`;

describe.runIf(hasBrowser())('useConversation', () => {
  it('sends once in strict mode, shows the answer while it grows, and continues the session', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    await probe.until('chat', READY);
    const sent = probe.read('chat', `it.send('Name a river.', { tools: ['look_up'] })`);
    const call = await getCall(host);
    expect(await sent).toBe(true);
    expect(await probe.read('chat', `it.send('Another one.')`)).toBe(false);
    call.say({ type: 'thinking_delta', text: 'Rivers.' }, { type: 'text', text: 'The ' });
    await probe.until('chat', `it.messages[1].text === 'The ' && it.status === 'running'`);
    call.say({ type: 'text', text: 'Nile.' });
    await probe.until('chat', `it.messages[1].text === 'The Nile.'`);
    finish(call);
    await probe.until('chat', READY);
    expect(await probe.read('chat', `it.messages.map(({ role, text }) => [role, text])`)).toEqual([
      ['user', 'Name a river.'],
      ['assistant', 'The Nile.'],
    ]);
    expect(await probe.read('chat', `it.messages[1].answer`)).toMatchObject({
      status: 'done',
      reasoning: 'Rivers.',
      quest: { status: 'done', promptMeta: { model: 'scripted' } },
    });
    void probe.read('chat', `it.send('And the second?')`);
    const next = await getCall(host, 1);
    answer('The Amazon.')(next);
    await probe.until('chat', `it.messages.length === 4 && ${READY}`);
    expect(JSON.stringify(next.request.messages)).toContain('The Nile.');
    expect([host.countPosts('/api/chat'), host.calls.length]).toEqual([2, 2]);
    expect(probe.getComplaints()).toEqual([]);
  });

  it('shows the calls of tools and their data', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    void probe.read('chat', `it.send('How long is the Nile?', { tools: ['look_up'] })`);
    const call = await getCall(host);
    call.say(
      { type: 'tool_use', id: 'call-1', name: 'look_up', arguments: '{"name":"Nile"}' },
      { type: 'usage', usage: { input: 1, output: 1 } },
      { type: 'finish', reason: 'tool_use' },
    );
    call.end();
    answer('6,650 km.')(await getCall(host, 1));
    await probe.until('chat', `it.messages[1]?.text === '6,650 km.' && ${READY}`);
    expect(await probe.read('chat', `it.messages[1].answer`)).toMatchObject({
      tools: [{ name: 'look_up', arguments: '{"name":"Nile"}', isError: false }],
      payloads: [{ type: 'river', payload: { name: 'Nile' } }],
    });
  });

  it('shows a call that waits for a decision, and goes on after it', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    void probe.read('chat', `it.send('Write to Bob.', { enableTools: true, approvals: true })`);
    const call = await getCall(host);
    call.say(
      { type: 'tool_use', id: 'call-1', name: 'send_mail', arguments: '{"to":"bob"}' },
      { type: 'usage', usage: { input: 1, output: 1 } },
      { type: 'finish', reason: 'tool_use' },
    );
    call.end();
    await probe.until('chat', `it.messages[1]?.answer.approvals.length === 1`);
    const pending = [
      { callId: expect.any(String), tool: 'send_mail', kind: 'approval', input: { to: 'bob' } },
    ];
    expect(await probe.read('chat', 'it.messages[1].answer.approvals')).toEqual(pending);
    await probe.reload();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    await probe.until('chat', `it.messages[1]?.answer.approvals.length === 1`);
    expect(await probe.read('chat', 'it.messages[1].answer.approvals')).toEqual(pending);
    expect(await probe.read('chat', `it.decide({ callId: 'none', decision: 'approve' })`)).toBe(false);
    await probe.until('chat', 'it.error !== undefined');
    const { callId } = await probe.read<{ callId: string }>('chat', 'it.messages[1].answer.approvals[0]');
    const decision = JSON.stringify({ callId, decision: 'approve' });
    expect(await probe.read('chat', `it.decide(${decision})`)).toBe(true);
    const next = await getCall(host, 1);
    await probe.until('chat', `it.messages[1].answer.approvals.length === 0`);
    expect(JSON.stringify(next.request.messages)).toContain('Sent to bob.');
    answer('Done.')(next);
    await probe.until('chat', `${READY} && it.messages[1].text === 'Done.'`);
  });

  it('continues a running answer after a reload, without a second message or charge', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    call.say({ type: 'text', text: 'The ' });
    await probe.until('chat', `it.messages[1].text === 'The '`);
    await probe.reload();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    await probe.until('chat', `it.status === 'running' && it.messages[1]?.text === 'The '`);
    expect(await probe.read('chat', 'it.messages[0].text')).toBe('Name a river.');
    await untilReaders(host, 1);
    call.say({ type: 'text', text: 'Nile.' });
    finish(call);
    await probe.until('chat', READY);
    const messages = [
      ['user', 'Name a river.'],
      ['assistant', 'The Nile.'],
    ];
    const list = `it.messages.map(({ role, text }) => [role, text])`;
    expect(await probe.read('chat', list)).toEqual(messages);
    // After the end, the messages come from the server.
    await probe.reload();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    await probe.until('chat', READY);
    expect(await probe.read('chat', list)).toEqual(messages);
    expect([host.countPosts('/api/chat'), host.calls.length]).toEqual([1, 1]);
    expect(await host.getBalance()).toMatchObject({ held: 0, posted: 1_000_000_000 - 30_000 });
  });

  it('continues after connections that break off', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    let text = '';
    for (const piece of ['The ', 'Ni', 'le.']) {
      await untilReaders(host, 1);
      call.say({ type: 'text', text: piece });
      text += piece;
      await probe.until('chat', `it.messages[1].text === '${text}'`);
      host.cut();
      await untilReaders(host, 0);
    }
    finish(call);
    await probe.until('chat', READY);
    expect(await probe.read('chat', `[it.messages[1].text, it.error ?? null]`)).toEqual([text, null]);
    expect(host.calls).toHaveLength(1);
  });

  it('shows an answer once that ended between two loads of the page', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    await probe.until('chat', `it.status === 'running'`);
    await probe.page.goto('about:blank');
    answer('The Nile.')(call);
    await vi.waitFor(async () => expect((await host.getBalance()).held).toBe(0), { timeout: 60_000 });
    await probe.page.goto(host.origin);
    await probe.page.waitForFunction('window.mount');
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    await probe.until('chat', `${READY} && it.messages.length > 0`);
    expect(await probe.read('chat', `it.messages.map(({ text }) => text)`)).toEqual([
      'Name a river.',
      'The Nile.',
    ]);
  });

  it('goes on without a reader when the component is unmounted', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    await probe.until('chat', `it.status === 'running'`);
    await untilReaders(host, 1);
    await probe.unmount('chat');
    await untilReaders(host, 0);
    call.say({ type: 'text', text: 'The Nile.' });
    finish(call);
    await vi.waitFor(async () => expect((await host.getBalance()).held).toBe(0), { timeout: 60_000 });
    expect(call.stopped).toBe(false);
    await probe.mount('chat', 'useConversation', { storageKey: 'main' });
    await probe.until('chat', `it.messages.at(-1)?.text === 'The Nile.'`);
  });

  it('cancels an answer, and keeps what there was', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    call.say({ type: 'text', text: 'The ' });
    await probe.until('chat', `it.messages[1].text === 'The '`);
    const id = await probe.read<string>('chat', 'it.messages[1].answer.quest.id');
    await vi.waitFor(async () => expect(await host.getText(id)).toBe('The '), { timeout: 60_000 });
    await probe.read('chat', 'it.cancel()');
    await probe.until('chat', READY);
    await call.whenStopped;
    expect(await probe.read('chat', `[it.messages[1].answer.status, it.messages[1].text]`)).toEqual([
      'stopped',
      'The ',
    ]);
  });

  it('reports a failure as a typed error, and can send again', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    expect(await probe.read('chat', `it.send('Hello', { model: 'none' })`)).toBe(false);
    await probe.until('chat', `${READY} && it.error !== undefined`);
    expect(
      await probe.read('chat', `[it.error.name, it.error.status, it.messages[1].answer.status]`),
    ).toEqual(['QuestlineError', expect.any(Number), 'failed']);
    void probe.read('chat', `it.send('Hello')`);
    answer('Hi.')(await getCall(host));
    await probe.until('chat', `${READY} && it.messages.at(-1).text === 'Hi.'`);
    expect(await probe.read('chat', 'it.error')).toBeUndefined();
  });

  it('keeps the conversation when it gets the id of its session, and begins another one at reset', async () => {
    const { host, probe } = await start(answer('Hi.'));
    await probe.mount('chat', 'useConversation');
    await probe.read('chat', `it.send('Hello')`);
    await probe.until('chat', `${READY} && it.messages.length === 2`);
    const sessionId = await probe.read<string>('chat', 'it.sessionId');
    await probe.mount('chat', 'useConversation', { sessionId });
    expect(await probe.read('chat', `it.messages[1].answer.status`)).toBe('done');
    await probe.mount('copy', 'useConversation', { sessionId });
    await probe.until('copy', `${READY} && it.messages.length === 2`);
    await probe.read('chat', 'it.reset()');
    await probe.until('chat', `${READY} && it.messages.length === 0`);
    await probe.read('chat', `it.send('Hello again')`);
    await probe.until('chat', `${READY} && it.messages.length === 2`);
    expect(await probe.read<string>('chat', 'it.sessionId')).not.toBe(sessionId);
    expect(host.calls).toHaveLength(2);
  });
});

describe.runIf(hasBrowser())('useQuest', () => {
  it('follows a quest of any origin, and cancels it', async () => {
    const { host, probe } = await start();
    await probe.mount('chat', 'useConversation');
    void probe.read('chat', `it.send('Name a river.')`);
    const call = await getCall(host);
    await probe.until('chat', `it.messages[1]?.answer.quest !== undefined`);
    const id = await probe.read('chat', 'it.messages[1].answer.quest.id');
    await probe.mount('quest', 'useQuest', id);
    call.say({ type: 'text', text: 'The ' });
    await probe.until('quest', `it.status === 'running' && it.text === 'The '`);
    await probe.read('quest', 'it.cancel()');
    await probe.until('quest', `it.status === 'stopped'`);
    await probe.until('chat', READY);
  });

  it('reports a quest that does not exist', async () => {
    const { probe } = await start();
    await probe.mount('none', 'useQuest');
    expect(await probe.read('none', 'it.status')).toBe('idle');
    await probe.mount('quest', 'useQuest', '6a0000000000000000000000');
    await probe.until('quest', `it.status === 'failed'`);
    expect(await probe.read('quest', 'it.error.status')).toBe(404);
  });
});

describe.runIf(hasBrowser())('useGeneration', () => {
  it('generates an image', async () => {
    const { probe } = await start();
    await probe.mount('image', 'useGeneration', 'image');
    await probe.read('image', `it.start({ model: 'demo-image', prompt: 'A river' })`);
    await probe.until('image', `it.status === 'done'`);
    expect(
      await probe.read('image', `fetch(it.urls[0]).then(({ headers }) => headers.get('content-type'))`),
    ).toBe('image/png');
    await probe.read('image', 'it.reset()');
    await probe.until('image', `it.status === 'idle'`);
  });

  it('generates a video once, and continues after a reload', async () => {
    const { host, probe } = await start();
    await probe.mount('video', 'useGeneration', 'video', { storageKey: 'video' });
    const request = `it.start({ model: 'demo-video', prompt: 'A river', duration_seconds: 2 })`;
    expect(await probe.read('video', `Promise.all([${request}, ${request}])`)).toEqual([true, false]);
    await probe.reload();
    await probe.mount('video', 'useGeneration', 'video', { storageKey: 'video' });
    await probe.until('video', `it.status === 'done'`);
    expect(await probe.read('video', `[it.progress, it.urls.length, it.job.state]`)).toEqual([
      1,
      1,
      'succeeded',
    ]);
    expect(host.countPosts('/api/v1/video-generations')).toBe(1);
  });

  it('reports a request that the server refuses', async () => {
    const { probe } = await start();
    await probe.mount('music', 'useGeneration', 'music');
    expect(await probe.read('music', `it.start({ model: 'none', prompt: 'A song' })`)).toBe(false);
    await probe.until('music', `it.status === 'failed'`);
    expect(await probe.read('music', 'it.error.name')).toBe('QuestlineError');
  });
});

describe.runIf(hasBrowser())('useUpload', () => {
  const FILE = `new File(['x'.repeat(2_000_000)], 'a.txt', { type: 'text/plain' })`;

  it('uploads a file with its progress', async () => {
    const { host, probe } = await start();
    await probe.mount('upload', 'useUpload');
    expect(await probe.read('upload', `it.upload(${FILE})`)).toMatchObject({ file_name: 'a.txt' });
    await probe.until('upload', `it.status === 'done'`);
    expect(await probe.read('upload', '[it.progress, it.file.moderation_status]')).toEqual([
      { loaded: 2_000_000, total: 2_000_000 },
      'clean',
    ]);
    expect(host.countPosts('/api/v1/files')).toBe(1);
  });

  it('is aborted by `cancel` and by unmounting', async () => {
    const { probe } = await start();
    await probe.mount('upload', 'useUpload');
    expect(
      await probe.read(
        'upload',
        `(it.upload(${FILE}).then((file) => window.first = file ?? null), it.cancel())`,
      ),
    );
    await probe.until('upload', `it.status === 'idle' && window.first === null`);
    void probe.read('upload', `(it.upload(${FILE}).then((file) => window.second = file ?? null), null)`);
    await probe.unmount('upload');
    await probe.until('upload', 'window.second === null');
  });

  it('reports a file that the check has blocked', async () => {
    const { probe } = await start();
    await probe.mount('upload', 'useUpload');
    await probe.read('upload', `it.upload(new Blob(['no image'], { type: 'image/png' }), { name: 'a.png' })`);
    await probe.until('upload', `it.status === 'failed'`);
    expect(await probe.read('upload', 'it.error.code')).toBe('file_blocked');
  });
});

describe.runIf(hasBrowser())('useCredits', () => {
  it('shows the balance, and loads it again when work ends', async () => {
    const { probe } = await start(answer('Hi.'));
    await probe.mount('credits', 'useCredits');
    await probe.until('credits', 'it.balance === 1000');
    await probe.mount('chat', 'useConversation');
    await probe.read('chat', `it.send('Hello')`);
    await probe.until('credits', 'it.balance < 1000');
    expect(await probe.read('credits', 'it.balance')).toBe(999.97);
  });

  const STATE = '[it.balance, it.error?.name ?? null]';

  /** Keeps the requests for the balance until the test answers them. */
  async function holdLoads({ page }: Probe): Promise<(count: number) => Promise<Route>> {
    const held: Route[] = [];
    await page.route('**/api/v1/credits', (route) => void held.push(route));
    return async (count) => {
      await vi.waitFor(() => expect(held).toHaveLength(count), { timeout: 60_000, interval: 5 });
      return held[count - 1] as Route;
    };
  }

  it('shows a failure with the last balance, until the balance is loaded again', async () => {
    const { probe } = await start();
    await probe.mount('credits', 'useCredits');
    await probe.until('credits', 'it.balance === 1000');
    const getLoad = await holdLoads(probe);
    const failed = probe.read('credits', 'it.refresh()');
    await (await getLoad(1)).fulfill({ status: 403, json: { error: 'no' } });
    await failed;
    expect(await probe.read('credits', STATE)).toEqual([1000, 'QuestlineError']);
    expect(await probe.read('credits', 'it.error.status')).toBe(403);
    const loaded = probe.read('credits', 'it.refresh()');
    await (await getLoad(2)).fulfill({ json: { balance: 5 } });
    await loaded;
    expect(await probe.read('credits', STATE)).toEqual([5, null]);
  });

  it.each([
    ['balance', { json: { balance: 7 } }],
    ['failure', { status: 403, json: { error: 'no' } }],
  ])('ignores a %s that arrives after a newer balance', async (_title, late) => {
    const { probe } = await start();
    await probe.mount('credits', 'useCredits');
    await probe.until('credits', 'it.balance === 1000');
    const getLoad = await holdLoads(probe);
    const older = probe.read('credits', 'it.refresh()');
    const first = await getLoad(1);
    const newer = probe.read('credits', 'it.refresh()');
    await (await getLoad(2)).fulfill({ json: { balance: 5 } });
    await newer;
    await first.fulfill(late);
    await older;
    expect(await probe.read('credits', STATE)).toEqual([5, null]);
  });

  it('shows no error for a load that was aborted while the component was hidden', async () => {
    const { probe } = await start();
    await probe.mount('credits', 'useCredits');
    await probe.until('credits', 'it.balance === 1000');
    const getLoad = await holdLoads(probe);
    const aborted = probe.read('credits', 'it.refresh()');
    await getLoad(1);
    await probe.hide('credits', true);
    await aborted;
    await probe.hide('credits', false);
    const next = await getLoad(2);
    expect(await probe.read('credits', STATE)).toEqual([1000, null]);
    await next.fulfill({ json: { balance: 5 } });
    await probe.until('credits', 'it.balance === 5');
  });
});
