import { type ApiHeaders, header } from '@questline/core/internal';
import { INVALID_PARAMS, isObject, type JsonObject, RpcError, type RpcRequest } from './json-rpc.ts';

/** The only revision with tasks that clients ask for. */
export const WITH_TASKS = '2025-11-25';
/** Revisions with a handshake (`initialize`), newest first. */
const LEGACY = [WITH_TASKS, '2025-06-18', '2025-03-26'] as const;
/** The revision without a handshake: each request carries its version. */
const MODERN = '2026-07-28';
export const VERSIONS: readonly string[] = [MODERN, ...LEGACY];

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

/** The parameter that `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
const ENCODED = /^=\?base64\?(.*)\?=$/;

export type Era = 'legacy' | 'modern';

/** The version of the answer to `initialize`: that of the client, or our newest one. */
export function negotiate({ protocolVersion: asked }: JsonObject): string {
  return LEGACY.find((version) => version === asked) ?? LEGACY[0];
}

/** @throws RpcError for an unknown version, and for headers that contradict the body. */
export function readEra(headers: ApiHeaders, { method, params }: RpcRequest): Era {
  const sent = header(headers, 'mcp-protocol-version');
  const { _meta: meta } = params;
  const declared = isObject(meta) ? meta[VERSION_KEY] : undefined;
  if (declared !== undefined && sent !== declared)
    throw mismatch('MCP-Protocol-Version', `_meta["${VERSION_KEY}"]`);
  if (sent !== undefined && !VERSIONS.includes(sent)) throw unsupported(sent);
  if (sent !== MODERN) return 'legacy';
  if (declared === undefined) throw missing(VERSION_KEY, 'the version');
  if (header(headers, 'mcp-method') !== method) throw mismatch('Mcp-Method', 'method');
  const named = NAMED[method];
  if (named !== undefined && decode(header(headers, 'mcp-name')) !== params[named]) {
    throw mismatch('Mcp-Name', `params.${named}`);
  }
  if (!isObject(meta) || !isObject(meta[CAPABILITIES_KEY])) {
    throw missing(CAPABILITIES_KEY, 'an object');
  }
  return 'modern';
}

function decode(value: string | undefined): string | undefined {
  const [, encoded] = ENCODED.exec(value ?? '') ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

function missing(key: string, expected: string): RpcError {
  return new RpcError(INVALID_PARAMS, `_meta["${key}"]: expected ${expected}`, { status: 400 });
}

function mismatch(name: string, field: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `The header ${name} is missing or differs from ${field}`, {
    status: 400,
  });
}

function unsupported(requested: unknown): RpcError {
  return new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', {
    status: 400,
    data: { supported: VERSIONS, requested },
  });
}
