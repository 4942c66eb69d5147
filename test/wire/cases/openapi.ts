import { expect } from 'vitest';
import type { Json, WireCase } from './case.ts';

function describedAt(url: string): Json {
  return expect.objectContaining({
    openapi: '3.1.0',
    info: expect.objectContaining({ version: '16.1.0' }),
    servers: [{ url }],
  });
}

const VARIES = { vary: 'Host, X-Forwarded-Proto' };

function servedAt(headers: Readonly<Record<string, string>>, url: string, title: string): WireCase {
  return { title, ask: { headers }, status: 200, headers: VARIES, body: describedAt(url) };
}

export const getDescription: readonly WireCase[] = [
  servedAt({ Host: 'ai.example.com' }, 'http://ai.example.com', 'names the origin of the request'),
  servedAt({ Host: '[::1]:3000' }, 'http://[::1]:3000', 'names an address with a port'),
  servedAt(
    { Host: 'AI.example.com', 'X-Forwarded-Proto': 'https, http' },
    'https://ai.example.com',
    'uses the protocol that a proxy reports',
  ),
  servedAt(
    { Host: 'ai.example.com', 'X-Forwarded-Proto': 'javascript' },
    'http://ai.example.com',
    'ignores other protocols',
  ),
  ...['evil.com/path', 'a b', 'user@host', '', 'host:123456', '<script>', '-host'].map((host) =>
    servedAt({ Host: host }, '/', `ignores an invalid Host header: ${JSON.stringify(host)}`),
  ),
  {
    title: 'contains the public address, whatever the request says',
    app: () => ({ settings: { publicUrl: 'https://ai.example.com/' } }),
    ask: { headers: { Host: 'other.example.com' } },
    status: 200,
    body: describedAt('https://ai.example.com'),
  },
  { title: 'answers HEAD', ask: { method: 'HEAD' }, status: 200, headers: VARIES, body: '' },
  {
    title: 'allows every origin',
    ask: {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' },
    },
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
      'access-control-max-age': '86400',
    },
    body: '',
    everywhere: true,
  },
];

export const getApplicationDescription: readonly WireCase[] = [
  {
    title: 'describes the operations of the application API',
    ask: { headers: { Host: 'ai.example.com' } },
    status: 200,
    headers: VARIES,
    body: expect.objectContaining({
      openapi: '3.1.0',
      info: expect.objectContaining({ title: 'Questline application API' }),
      servers: [{ url: 'http://ai.example.com' }],
      paths: expect.objectContaining({
        '/api/otc/send': expect.anything(),
        '/api/sessions/{id}/messages': expect.anything(),
      }),
    }),
  },
];

const HARDENED = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': expect.stringMatching(/^default-src 'none'; .*style-src 'sha256-[^']+'$/),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export const getReference: readonly WireCase[] = [
  {
    title: 'shows every described operation without JavaScript',
    status: 200,
    headers: HARDENED,
    body: expect.stringMatching(
      /^<!doctype html>(?![\s\S]*(?:<script|src=|https?:))[\s\S]*\/api\/ai\/v1\/completions[\s\S]*createCompletionRequest[\s\S]*<\/html>\n$/,
    ),
    everywhere: true,
  },
];
