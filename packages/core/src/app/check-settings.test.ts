import { describe, expect, it } from 'vitest';
import { findSettingIssues } from './check-settings.ts';
import type { Settings } from './settings.ts';

const SECRET = 'a'.repeat(64);
const find = (settings: object) => findSettingIssues(settings as Settings);

describe('settings', () => {
  it('are accepted where each option fits', () => {
    expect(find({ jwtSecret: SECRET, creditsPerUsd: 1, rateLimits: {} })).toEqual([]);
  });

  it.each<[object, readonly string[]]>([
    [{ creditsPerUsd: 'many' }, ['settings.creditsPerUsd: expected number, got "many"']],
    [{ creditsPerUsd: 0 }, ['settings.creditsPerUsd: expected number to be >0, got 0']],
    [{ enrichment: null }, ['settings.enrichment: expected boolean, got null']],
    [{ tools: [1] }, ['settings.tools.0: expected a tool registry, as createToolbox() makes it, got 1']],
    [{ fallbacks: { a: [{}] } }, ['settings.fallbacks.a.0: expected string, got another object']],
    [
      { x: 1, y: SECRET, tokenLifetimes: { z: 1 } },
      [
        'settings.tokenLifetimes.z: unknown option',
        'settings.x: unknown option',
        'settings.y: unknown option',
      ],
    ],
  ])('with %j are refused by name, each with its value', (settings, issues) => {
    expect(find({ jwtSecret: SECRET, ...settings })).toEqual(issues);
  });

  it.each([
    [undefined, 'nothing'],
    ['short', '5'],
    [new Uint8Array(7), '7'],
    [7, 'a number'],
    [null, 'null'],
  ])('never show a secret: %j', (jwtSecret, given) => {
    expect(find({ jwtSecret })).toEqual([
      `settings.jwtSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got ${given}`,
    ]);
  });

  it.each([
    ['sessionSecret', 'expected at least 32 bytes, best as 64 hexadecimal characters'],
    ['secretEncryptionKey', 'expected 64 hexadecimal characters'],
    ['setupCode', 'expected string to have >=8 characters'],
  ])('show only the length of %s', (option, wanted) => {
    expect(find({ jwtSecret: SECRET, [option]: 'hush' })).toEqual([`settings.${option}: ${wanted}, got 4`]);
  });
});
