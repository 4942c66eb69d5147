import type { ApiHeaders } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/json-rpc.ts';
import { negotiate, readEra } from '../src/versions.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} };
const MODERN = { 'mcp-protocol-version': '2026-07-28' };

const read = (headers: ApiHeaders, method: string, params: JsonObject = {}) =>
  readEra(headers, { kind: 'request', id: 1, method, params });

function refusal(headers: ApiHeaders, method: string, params: JsonObject = {}) {
  try {
    return read(headers, method, params);
  } catch (error) {
    const { code, status, message, data } = error as JsonObject;
    return { code, status, message, data };
  }
}

const differs = (header: string, field: string) => ({
  code: -32020,
  status: 400,
  message: `The header ${header} is missing or differs from ${field}`,
  data: undefined,
});

describe('the version of a client', () => {
  it('is the answer to the handshake if it is known, else the newest one with a handshake', () => {
    for (const protocolVersion of ['2025-11-25', '2025-06-18', '2025-03-26'])
      expect(negotiate({ protocolVersion })).toBe(protocolVersion);
    for (const protocolVersion of ['2026-07-28', '2024-11-05', undefined, 7])
      expect(negotiate({ protocolVersion })).toBe('2025-11-25');
  });

  it('needs no header before the revision without a handshake', () => {
    expect(read({}, 'tools/list')).toBe('legacy');
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26'])
      expect(read({ 'mcp-protocol-version': version }, 'tools/list')).toBe('legacy');
    expect(read({}, 'tools/list', { _meta: {} })).toBe('legacy');
    expect(read({}, 'tools/list', { _meta: 'x' })).toBe('legacy');
    const declared = { _meta: { [VERSION]: '2025-11-25' } };
    expect(read({ 'mcp-protocol-version': '2025-11-25' }, 'tools/list', declared)).toBe('legacy');
  });

  it('is refused if it is unknown', () => {
    const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];
    expect(refusal({ 'mcp-protocol-version': '2024-11-05' }, 'tools/list')).toEqual({
      code: -32022,
      status: 400,
      message: 'Unsupported protocol version',
      data: { supported, requested: '2024-11-05' },
    });
  });

  it('is the same in the header and in the message', () => {
    const field = `_meta["${VERSION}"]`;
    expect(refusal({}, 'tools/list', { _meta: META })).toEqual(differs('MCP-Protocol-Version', field));
    expect(refusal({ 'mcp-protocol-version': '2025-11-25' }, 'tools/list', { _meta: META })).toEqual(
      differs('MCP-Protocol-Version', field),
    );
  });

  it('is declared in each message of the revision without a handshake', () => {
    const headers = { ...MODERN, 'mcp-method': 'tools/list' };
    const lacks = (key: string, expected: string) => ({
      code: -32602,
      status: 400,
      message: `_meta["${key}"]: expected ${expected}`,
      data: undefined,
    });
    expect(read(headers, 'tools/list', { _meta: META })).toBe('modern');
    for (const _meta of [undefined, {}, 'x'])
      expect(refusal(headers, 'tools/list', { _meta })).toEqual(lacks(VERSION, 'the version'));
    for (const capabilities of [undefined, null, [], 'x']) {
      const _meta = { ...META, [CAPABILITIES]: capabilities };
      expect(refusal(headers, 'tools/list', { _meta })).toEqual(lacks(CAPABILITIES, 'an object'));
    }
  });
});

describe('the headers of a message without a handshake', () => {
  it('repeat the method', () => {
    for (const method of [undefined, 'tools/call', 'Tools/list'])
      expect(refusal({ ...MODERN, 'mcp-method': method }, 'tools/list', { _meta: META })).toEqual(
        differs('Mcp-Method', 'method'),
      );
  });

  it.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['tasks/get', 'taskId'],
    ['tasks/update', 'taskId'],
    ['tasks/cancel', 'taskId'],
  ])('repeat what %s names', (method, field) => {
    const params = { _meta: META, [field]: 'Größe' };
    const named = (name: string | undefined) =>
      refusal({ ...MODERN, 'mcp-method': method, 'mcp-name': name }, method, params);
    const encoded = Buffer.from('Größe').toString('base64');
    expect(named('Größe')).toBe('modern');
    expect(named(`=?base64?${encoded}?=`)).toBe('modern');
    for (const wrong of [undefined, '', 'other', `x=?base64?${encoded}?=`, `=?base64?${encoded}?=x`])
      expect(named(wrong)).toEqual(differs('Mcp-Name', `params.${field}`));
  });

  it('name nothing for other methods', () => {
    const headers = { ...MODERN, 'mcp-method': 'tools/list', 'mcp-name': 'unread' };
    expect(read(headers, 'tools/list', { _meta: META })).toBe('modern');
  });
});
