import { beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
let token: string;

beforeAll(async () => {
  app = await createTestApp();
  token = await app.token();
});

const infer = async (body: unknown) => {
  const answer = await app.ask('POST', '/api/infer', { credential: token, body });
  const text = await answer.text();
  return { status: answer.status, size: text.length, error: JSON.parse(text).error };
};

/** The error message of a completion with this content. */
const complete = async (content: unknown, more: object = {}): Promise<string> => {
  const body = { model: 'scripted', messages: [{ role: 'user', content }], ...more };
  const answer = await app.ask('POST', '/api/ai/v1/completions', { body });
  expect(answer.status).toBe(422);
  return ((await answer.json()) as { message: string }).message;
};

describe('answer to a body with many issues', () => {
  it('lists a hundred and reports the number of the others', async () => {
    const { status, error } = await infer({ model: 'm', messages: Array(200).fill({ role: 'user' }) });
    expect(status).toBe(422);
    expect(error.message).toBe('messages.0.content: is required (and 199 more)');
    expect(error.details).toHaveLength(101);
    expect(error.details[99]).toEqual({ path: 'messages.99.content', message: 'is required' });
    expect(error.details[100]).toEqual({ path: '', message: '100 more issues are not listed' });
  });

  it('lists all of up to a hundred', async () => {
    const { error } = await infer({ model: 'm', messages: Array(100).fill({ role: 'user' }) });
    expect(error.details).toHaveLength(100);
  });

  it('reports that validation of a large body stopped early', async () => {
    const { status, error, size } = await infer({ model: 'm', messages: Array(9000).fill({ role: 'user' }) });
    expect(status).toBe(422);
    expect(error.message).toBe('messages.0.content: is required (the rest of the body was not checked)');
    expect(error.details.at(-1)).toEqual({ path: '', message: 'the rest of the body was not checked' });
    expect(size).toBeLessThan(1000);
  });

  it('is small for any number and length of unknown fields', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 3000 }, (_, at) => [`${'x'.repeat(200)}${at}`, 1] as const),
    );
    const answer = await app.ask('POST', '/api/v1/projects', {
      credential: token,
      body: { name: 'Engine', description: 'All about it.', ...fields },
    });
    const text = await answer.text();
    expect(answer.status).toBe(422);
    expect(text.length).toBeLessThan(2000);
    expect(text).toContain('and 2990 more');
  });
});

describe('issue in a message part', () => {
  const kinds =
    'one of "text"|"image"|"image_url"|"input_image"|"tool_use"|"tool_result"|"thinking"|"redacted_thinking"';

  it.each([
    [
      'an unknown type',
      [{ type: 'video' }],
      `messages.0.content.0.type: Invalid option: expected ${kinds}, got 5 characters of text`,
    ],
    ['no kind', [{ text: 'Hi' }], `messages.0.content.0.type: is required: ${kinds}`],
    [
      'a part that is not an object',
      ['Hi'],
      'messages.0.content.0: expected object, got 2 characters of text',
    ],
    ['a text part without text', [{ type: 'text' }], 'messages.0.content.0.text: is required'],
    [
      'an image of an unsupported type after a valid part',
      [
        { type: 'text', text: 'Look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } },
      ],
      'messages.0.content.1.source.media_type: Invalid option: expected one of "image/png"|"image/jpeg"|"image/webp"|"image/gif", got 10 characters of text',
    ],
    [
      'an image with a URL',
      [{ type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } }],
      'messages.0.content.0.source.type: Invalid input: expected "base64", got 3 characters of text (and 2 more)',
    ],
    [
      'a result part that is not text',
      [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text' }] }],
      'messages.0.content.0.content.0.text: is required',
    ],
    ['null', null, 'messages.0.content: expected text or a list, got null'],
    ['nothing', undefined, 'messages.0.content: is required'],
    ['a number', 7, 'messages.0.content: expected text or a list, got 7'],
  ])('names the path and the accepted values: %s', async (_title, content, message) => {
    expect(await complete(content)).toBe(message);
  });

  it('is listed beside other issues', async () => {
    expect(await complete([{ type: 'text' }], { model: 7 })).toBe(
      'model: expected string, got 7 (and 1 more)',
    );
  });
});
