import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/json-rpc.ts';
import { listResources, readResource } from '../src/resources.ts';
import { type OperationInput, OperationRefused, type Runner } from '../src/runner.ts';

const ID = '0123456789abcdef01234567';

function create(
  answer: JsonObject | Error,
): Runner & { readonly asked: [string, OperationInput | undefined][] } {
  const asked: [string, OperationInput | undefined][] = [];
  return {
    asked,
    isRepeatable: false,
    hasRun: () => false,
    headers: () => ({}),
    async run(id, input) {
      asked.push([id, input]);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

describe('the list of resources', () => {
  it('has the files of a page', async () => {
    const file = { id: ID, file_name: 'a.txt', mime_type: 'text/plain', file_size: 3, owner: 'u' };
    const runner = create({ data: [file, 'x', null], next_cursor: 'next' });
    expect(await listResources({}, runner, 'legacy')).toEqual({
      resources: [{ uri: `questline://files/${ID}`, name: 'a.txt', mimeType: 'text/plain', size: 3 }],
      nextCursor: 'next',
    });
    await listResources({ cursor: 'next' }, runner, 'legacy');
    expect(runner.asked).toEqual([
      ['listFiles', { query: {} }],
      ['listFiles', { query: { cursor: 'next' } }],
    ]);
  });

  it('has no cursor after the last page', async () => {
    for (const next of [null, undefined])
      expect(await listResources({}, create({ data: [], next_cursor: next }), 'legacy')).toEqual({
        resources: [],
      });
    expect(await listResources({}, create({ data: 'x' }), 'legacy')).toEqual({ resources: [] });
  });

  it('refuses a cursor that is no text', async () => {
    const runner = create({});
    for (const cursor of [1, null, {}])
      await expect(listResources({ cursor }, runner, 'legacy')).rejects.toMatchObject({
        code: -32602,
        message: 'cursor: expected text',
      });
    expect(runner.asked).toEqual([]);
  });

  it('is not found where the host does not offer files', async () => {
    const refusal = new OperationRefused(404, 'This server does not offer it', undefined);
    await expect(listResources({}, create(refusal), 'legacy')).rejects.toMatchObject({
      code: -32002,
      message: 'Resource not found: This server does not offer it',
      data: undefined,
    });
  });
});

describe('a resource', () => {
  it('is the text of a file', async () => {
    const runner = create({ text: 'hello', file_name: 'a.txt' });
    const uri = `questline://files/${ID}`;
    expect(await readResource({ uri }, runner, 'legacy')).toEqual({
      contents: [{ uri, mimeType: 'text/plain', text: 'hello' }],
    });
    expect(runner.asked).toEqual([['readFileText', { params: { id: ID } }]]);
  });

  it('is the last 100 messages of a session, oldest first', async () => {
    const runner = create({ data: [{ id: 2 }, { id: 1 }] });
    const uri = `questline://sessions/${ID}`;
    expect(await readResource({ uri }, runner, 'legacy')).toEqual({
      contents: [{ uri, mimeType: 'application/json', text: '[{"id":1},{"id":2}]' }],
    });
    expect(runner.asked).toEqual([
      ['listSessionMessages', { params: { id: ID }, query: { limit: '100', order: 'desc' } }],
    ]);
    expect(await readResource({ uri }, create({}), 'legacy')).toEqual({
      contents: [{ uri, mimeType: 'application/json', text: '[]' }],
    });
  });

  it('with an address of another form is not found, and nothing is asked', async () => {
    const runner = create({});
    for (const uri of [
      '',
      `questline://files/${ID}0`,
      `xquestline://files/${ID}`,
      `questline://files/${ID.toUpperCase()}`,
      `questline://sessions/${ID}0`,
      `xquestline://sessions/${ID}`,
      `questline://lakes/${ID}`,
    ])
      await expect(readResource({ uri }, runner, 'legacy')).rejects.toMatchObject({
        code: -32002,
        message: `Resource not found: ${uri}`,
        data: { uri },
      });
    await expect(readResource({ uri: 7 }, runner, 'legacy')).rejects.toMatchObject({
      code: -32602,
      message: 'uri: expected text',
    });
    expect(runner.asked).toEqual([]);
  });

  it('that is unknown has the code of the revision', async () => {
    const refusal = new OperationRefused(404, 'File not found', undefined);
    for (const [era, code] of [
      ['legacy', -32002],
      ['modern', -32602],
    ] as const)
      for (const uri of [`questline://files/${ID}`, `questline://sessions/${ID}`, 'skill://no-such/SKILL.md'])
        await expect(readResource({ uri }, create(refusal), era)).rejects.toMatchObject({
          code,
          message: 'Resource not found: File not found',
          data: { uri },
        });
  });
});
