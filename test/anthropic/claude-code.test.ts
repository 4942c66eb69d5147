import { fromCredits } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { useTools } from '../support/vendor-wire.ts';
import { createAnthropicApp, createThinker, readEvents } from './support.ts';

/* Requests in the shapes of Claude Code 2.1, by its gateway protocol reference and by requests in public issues. */

const HEADERS = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,' +
    'mid-conversation-system-2026-04-07,effort-2025-11-24',
  'anthropic-dangerous-direct-browser-access': 'true',
  'User-Agent': 'claude-cli/2.1.263 (external, cli)',
  'x-app': 'cli',
  'X-Claude-Code-Session-Id': '0b2f7c0e-8b42-4a8e-9c6a-0d7e9d0f3b61',
};

const MARKED = { cache_control: { type: 'ephemeral' } };

const SYSTEM = [
  { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.263.0d9; cc_entrypoint=cli; cch=fa690;' },
  { type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude.", ...MARKED },
  { type: 'text', text: 'You help with software.', ...MARKED },
];

const TOOLS = [
  {
    name: 'Bash',
    description: 'Runs a command',
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
      additionalProperties: false,
    },
  },
  {
    name: 'Read',
    description: 'Reads a file',
    input_schema: { type: 'object' },
    eager_input_streaming: true,
  },
];

const BODY = {
  model: 'scripted',
  max_tokens: 5000,
  stream: true,
  system: SYSTEM,
  tools: TOOLS,
  metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>Today is Monday.</system-reminder>' },
        { type: 'text', text: 'Fix the bug', ...MARKED },
      ],
    },
  ],
};

/** As `ANTHROPIC_AUTH_TOKEN` is sent. */
const asBearer = (key: string) => ({ ...HEADERS, 'x-api-key': '', Authorization: `Bearer ${key}` });

describe('requests of Claude Code', () => {
  it('are answered with their beta headers, reasoning options, marks and metadata', async () => {
    const app = await createAnthropicApp({ model: createThinker(sayAtOnce('Done.')) });
    const response = await app.send('POST', '/messages?beta=true', BODY, asBearer(app.key));
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ignored-fields')).toBe('context_management, metadata');
    const events = readEvents(await response.text());
    expect(events.at(-1)?.type).toBe('message_stop');
    expect(app.calls[0]?.request).toMatchObject({
      maxTokens: 5000,
      thinking: { budgetTokens: 16_384 },
      reasoningEffort: 'high',
      tools: [{ name: 'Bash' }, { name: 'Read' }],
    });
  });

  it('keep their prompt the same for a cache: without the line for billing', async () => {
    const app = await createAnthropicApp();
    const other = structuredClone(BODY);
    const [line] = other.system;
    if (line !== undefined) line.text = line.text.replace('fa690', '11111');
    for (const body of [BODY, other]) await (await app.send('POST', '/messages', body, HEADERS)).text();
    const [first, second] = app.calls.map(({ request }) => request.messages);
    expect(first).toEqual(second);
    expect(first?.[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude." },
        { type: 'text', text: 'You help with software.' },
      ],
      cacheBreakpoint: true,
    });
    expect(first?.[1]).toMatchObject({ role: 'user', cacheBreakpoint: true });
  });

  it('run a tool, with instructions between the turns behind its result', async () => {
    const app = await createAnthropicApp({ onCall: useTools });
    const messages = [
      ...BODY.messages,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }],
      },
      { role: 'system', content: [], output_config: { effort: 'low' } },
      { role: 'system', content: [{ type: 'text', text: 'The file changed.' }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a.ts', is_error: false, ...MARKED }],
      },
    ];
    const response = await app.send('POST', '/messages?beta=true', { ...BODY, messages }, HEADERS);
    const events = readEvents(await response.text());
    expect(events.at(-1)?.type).toBe('message_stop');
    expect(app.calls[0]?.request.messages.slice(3)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 't1', toolName: 'Bash', content: 'a.ts', isError: false },
        ],
        cacheBreakpoint: true,
      },
      {
        role: 'user',
        content: [{ type: 'text', text: '<system-reminder>\nThe file changed.\n</system-reminder>' }],
      },
    ]);
  });

  it('count tokens, ask for a title and check the key', async () => {
    const app = await createAnthropicApp({ onCall: sayAtOnce('{"title":"Bug"}') });
    const { model, messages, system, tools } = BODY;
    const counted = await app.send(
      'POST',
      '/messages/count_tokens?beta=true',
      { model, messages, system, tools, thinking: BODY.thinking },
      { ...HEADERS, 'anthropic-beta': 'token-counting-2024-11-01' },
    );
    expect(await counted.json()).toMatchObject({ input_tokens: expect.any(Number) });
    const title = await app.send('POST', '/messages?beta=true', {
      ...BODY,
      tools: [],
      thinking: { type: 'disabled' },
      temperature: 1,
      output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {} } } },
    });
    expect(title.status).toBe(200);
    await title.text();
    const quota = await app.send('POST', '/messages?beta=true', {
      model,
      max_tokens: 1,
      messages: [{ role: 'user', content: 'quota' }],
      metadata: BODY.metadata,
    });
    expect(quota.status).toBe(200);
  });

  it('meet the spend cap of a key with one message, which forbids a retry', async () => {
    const app = await createAnthropicApp({
      credits: 1000,
      onCall(call) {
        call.say({ type: 'text', text: 'Done.' }, { type: 'usage', usage: { input: 100, output: 400 } });
        call.end();
      },
    });
    const spendCap = { amount: fromCredits(60), period: 'month' } as const;
    const { key } = await app.issue({ scopes: ['ai:chat'], spendCap });
    const ask = () => app.send('POST', '/messages?beta=true', BODY, asBearer(key));
    let answered = 0;
    let response = await ask();
    while (response.status === 200) {
      await response.text();
      answered += 1;
      response = await ask();
    }
    expect(answered).toBe(2);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([402, 'false']);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe('billing_error');
    expect(error.message).toMatch(/spend cap|cap/i);
  });
});
