import { COLLECTIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';

const tokens = (text: string): number => Math.ceil([...text].length / 2.5);

describe('limits of systemPrompt', () => {
  it('accepts 16000 code points and is never truncated', async () => {
    const app = await createChatApp();
    for (const systemPrompt of ['x'.repeat(16_001), '😀'.repeat(16_001), 7, null]) {
      const { status, body } = await app.chat({ message: 'Hi', systemPrompt });
      expect([status, body.error]).toEqual([422, expect.stringContaining('systemPrompt')]);
    }
    for (const systemPrompt of ['', 'x'.repeat(16_000), '😀'.repeat(16_000)]) {
      const answer = await app.chat({ message: 'Hi', wait: true, systemPrompt });
      expect(answer.body.type).toBe('message');
      const [system] = app.calls.at(-1)?.request.messages ?? [];
      const text = system?.content[0]?.type === 'text' ? system.content[0].text : '';
      expect(text.endsWith(systemPrompt)).toBe(true);
    }
  });

  it('applies to one turn and is not stored', async () => {
    const app = await createChatApp({ started: false });
    const systemPrompt = 'Say it like a pirate.';
    const { body } = await app.chat({ message: 'Hi', systemPrompt });
    await app.api.start();
    await app.settle();
    expect(app.calls[0]?.request.messages[0]?.content[0]).toMatchObject({
      text: expect.stringContaining(systemPrompt),
    });
    await app.chat({ message: 'Again', sessionId: body.sessionId, wait: true });
    expect(JSON.stringify(app.calls[1]?.request)).not.toContain(systemPrompt);
    for (const definition of COLLECTIONS) {
      const records = await app.services.store.collection(definition as never).find({});
      expect([definition.name, JSON.stringify(records).includes(systemPrompt)]).toEqual([
        definition.name,
        false,
      ]);
    }
  });
});

describe('composed system prompt', () => {
  it('is returned with its sources in order and matching counts', async () => {
    const app = await createChatApp({ settings: { systemPrompt: 'This is a library.' } });
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Books', systemPromptText: 'Talk about books.' },
    });
    const { body } = await app.chat({
      message: 'Hi',
      sessionId: session.id,
      wait: true,
      systemPrompt: 'Be brief.',
      includePromptDetails: true,
      includeSystemPrompt: true,
    });
    expect(body.promptDetails).toEqual([
      { source: 'hardcoded', name: 'base', tokenCount: expect.any(Number), wasIncluded: true },
      {
        source: 'admin',
        name: 'workspace',
        tokenCount: expect.any(Number),
        wasIncluded: true,
        withheld: true,
      },
      { source: 'session', name: 'session', tokenCount: expect.any(Number), wasIncluded: true },
      { source: 'caller', name: 'systemPrompt', tokenCount: expect.any(Number), wasIncluded: true },
    ]);
    const sum = body.promptDetails.reduce(
      (total: number, part: { tokenCount: number }) => total + part.tokenCount,
      0,
    );
    // The text of the host is only named in the answer, but sent to the model in full.
    expect(body.promptText).toMatch(/\[not shown: workspace\]\n\nTalk about books\.\n\nBe brief\.$/);
    const text = body.promptText.replace('[not shown: workspace]', 'This is a library.');
    expect(sum).toBe(tokens(text));
    expect(app.calls[0]?.request.messages[0]).toEqual({
      role: 'system',
      content: [{ type: 'text', text }],
    });
  });

  it('is returned only on request, with the requested parts', async () => {
    const app = await createChatApp();
    const keys = async (more: object) =>
      Object.keys((await app.chat({ message: 'Hi', wait: true, ...more })).body).filter((key) =>
        /^prompt/.test(key),
      );
    expect(await keys({})).toEqual([]);
    expect(await keys({ includePromptDetails: true })).toEqual(['promptDetails']);
    expect(await keys({ includeSystemPrompt: true })).toEqual(['promptText']);
  });

  it('gives a reason for every omitted part', async () => {
    const app = await createChatApp({ settings: { systemPrompt: 'Be brief.' } });
    const details = async (more: object) => {
      const { body } = await app.chat({ message: 'Hi', wait: true, includePromptDetails: true, ...more });
      return body.promptDetails.map((part) => [part.name, part.exclusionReason]);
    };
    expect(await details({ systemPrompt: ' Be brief. ' })).toEqual([
      ['base', undefined],
      ['workspace', 'duplicate'],
      ['systemPrompt', undefined],
    ]);
    expect(await details({ promptMode: 'raw', systemPrompt: 'Sing.' })).toEqual([
      ['base', 'disabled'],
      ['workspace', 'disabled'],
      ['systemPrompt', undefined],
    ]);
    expect(await details({ promptMode: 'grounded' })).toEqual([
      ['base', undefined],
      ['mode:grounded', undefined],
      ['workspace', undefined],
    ]);
    const long = await createChatApp({ settings: { systemPrompt: 'x'.repeat(400_000) } });
    const { body } = await long.chat({ message: 'Hi', wait: true, includePromptDetails: true });
    expect(body.promptDetails[1]).toEqual({
      source: 'admin',
      name: 'workspace',
      tokenCount: 160_000,
      wasIncluded: false,
      exclusionReason: 'token_limit',
      withheld: true,
    });
    expect(body.type).toBe('message');
  });

  it('is empty in raw mode without a systemPrompt', async () => {
    const app = await createChatApp();
    await app.chat({ message: 'Hi', wait: true, promptMode: 'raw' });
    expect(app.calls[0]?.request.messages.map(({ role }) => role)).toEqual(['user']);
  });
});
