import { COLLECTIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createChatWorld } from '../support/chat.ts';

const tokens = (text: string): number => Math.ceil([...text].length / 2.5);

describe('systemPrompt', () => {
  it('holds 16000 code points, and is never cut', async () => {
    const world = await createChatWorld();
    for (const systemPrompt of ['x'.repeat(16_001), '😀'.repeat(16_001), 7, null]) {
      const { status, body } = await world.chat({ message: 'Hi', systemPrompt });
      expect([status, body.error]).toEqual([422, expect.stringContaining('systemPrompt')]);
    }
    for (const systemPrompt of ['', 'x'.repeat(16_000), '😀'.repeat(16_000)]) {
      const answer = await world.chat({ message: 'Hi', wait: true, systemPrompt });
      expect(answer.body.type).toBe('message');
      const [system] = world.calls.at(-1)?.request.messages ?? [];
      const text = system?.content[0]?.type === 'text' ? system.content[0].text : '';
      expect(text.endsWith(systemPrompt)).toBe(true);
    }
  });

  it('is for one turn: nothing of it is kept', async () => {
    const world = await createChatWorld({ started: false });
    const systemPrompt = 'Say it like a pirate.';
    const { body } = await world.chat({ message: 'Hi', systemPrompt });
    await world.api.start();
    await world.settle();
    expect(world.calls[0]?.request.messages[0]?.content[0]).toMatchObject({
      text: expect.stringContaining(systemPrompt),
    });
    await world.chat({ message: 'Again', sessionId: body.sessionId, wait: true });
    expect(JSON.stringify(world.calls[1]?.request)).not.toContain(systemPrompt);
    for (const definition of COLLECTIONS) {
      const records = await world.services.store.collection(definition as never).find({});
      expect([definition.name, JSON.stringify(records).includes(systemPrompt)]).toEqual([
        definition.name,
        false,
      ]);
    }
  });
});

describe('the system text', () => {
  it('is told with its sources, in order, and counts that add up', async () => {
    const world = await createChatWorld({ settings: { systemPrompt: 'This is a library.' } });
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'Books', systemPromptText: 'Talk about books.' },
    });
    const { body } = await world.chat({
      message: 'Hi',
      sessionId: session.id,
      wait: true,
      systemPrompt: 'Be brief.',
      includePromptDetails: true,
      includeSystemPrompt: true,
    });
    expect(body.promptDetails).toEqual([
      { source: 'hardcoded', name: 'base', tokenCount: expect.any(Number), wasIncluded: true },
      { source: 'admin', name: 'workspace', tokenCount: expect.any(Number), wasIncluded: true },
      { source: 'session', name: 'session', tokenCount: expect.any(Number), wasIncluded: true },
      { source: 'caller', name: 'systemPrompt', tokenCount: expect.any(Number), wasIncluded: true },
    ]);
    const sum = body.promptDetails.reduce(
      (total: number, part: { tokenCount: number }) => total + part.tokenCount,
      0,
    );
    expect(sum).toBe(tokens(body.promptText));
    expect(body.promptText).toMatch(/This is a library\.\n\nTalk about books\.\n\nBe brief\.$/);
    expect(world.calls[0]?.request.messages[0]).toEqual({
      role: 'system',
      content: [{ type: 'text', text: body.promptText }],
    });
  });

  it('is told only to those who ask, and only what they ask for', async () => {
    const world = await createChatWorld();
    const keys = async (more: object) =>
      Object.keys((await world.chat({ message: 'Hi', wait: true, ...more })).body).filter((key) =>
        /^prompt/.test(key),
      );
    expect(await keys({})).toEqual([]);
    expect(await keys({ includePromptDetails: true })).toEqual(['promptDetails']);
    expect(await keys({ includeSystemPrompt: true })).toEqual(['promptText']);
  });

  it('says why a part was left out', async () => {
    const world = await createChatWorld({ settings: { systemPrompt: 'Be brief.' } });
    const details = async (more: object) => {
      const { body } = await world.chat({ message: 'Hi', wait: true, includePromptDetails: true, ...more });
      return body.promptDetails.map((part: { name: string; exclusionReason?: string }) => [
        part.name,
        part.exclusionReason,
      ]);
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
    const long = await createChatWorld({ settings: { systemPrompt: 'x'.repeat(400_000) } });
    const { body } = await long.chat({ message: 'Hi', wait: true, includePromptDetails: true });
    expect(body.promptDetails[1]).toEqual({
      source: 'admin',
      name: 'workspace',
      tokenCount: 160_000,
      wasIncluded: false,
      exclusionReason: 'token_limit',
    });
    expect(body.type).toBe('message');
  });

  it('is nothing at all when it is raw and the request brings none', async () => {
    const world = await createChatWorld();
    await world.chat({ message: 'Hi', wait: true, promptMode: 'raw' });
    expect(world.calls[0]?.request.messages.map(({ role }) => role)).toEqual(['user']);
  });
});
