import { describe, expect, it } from 'vitest';
import type { ModelInfo, ModelProvider } from '../ports/models.ts';
import type { Incident } from '../shared/incident.ts';
import { checkModelNames } from './check-models.ts';
import { findArchiveIssues, findPortIssues } from './check-ports.ts';
import { ConfigurationError, getKind, shown } from './configuration-error.ts';
import type { Ports } from './ports.ts';
import { quietly } from './report.ts';
import { deriveTextKey, secretBytes } from './secrets.ts';
import type { Settings } from './settings.ts';

function toProvider(models: Readonly<Record<string, ModelInfo['type']>>, more: object = {}): ModelProvider {
  const list = Object.entries(models).map(([id, type]) => ({ id, type }));
  return { id: 'p', models: () => list, generate: () => undefined, ...more } as unknown as ModelProvider;
}

describe('names of models in the settings', () => {
  const PROVIDERS = [toProvider({ t1: 'text', t2: 'text' }), toProvider({ i1: 'image', i2: 'image' })];
  const check = (settings: unknown, providers: readonly ModelProvider[] = PROVIDERS): readonly string[] => {
    try {
      checkModelNames(settings as Settings, providers);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      const { issues } = error as ConfigurationError;
      expect(issues).not.toEqual([]);
      return issues;
    }
  };
  const issue = (option: string, type: string, id: string, possible: string) =>
    `settings.${option}: expected the id of a model of the type ${type}, got "${id}". Possible: ${possible}`;

  it.each<[unknown, readonly string[]]>([
    [{}, []],
    [{ admin: { DefaultAPIModel: 't1', DefaultImageModel: 'i2' } }, []],
    [{ admin: { DefaultAPIModel: null, DefaultImageModel: null } }, []],
    [{ admin: { DefaultAPIModel: 'x' } }, [issue('admin.DefaultAPIModel', 'text', 'x', 't1, t2')]],
    [{ admin: { DefaultAPIModel: 'i1' } }, [issue('admin.DefaultAPIModel', 'text', 'i1', 't1, t2')]],
    [{ admin: { DefaultImageModel: 't1' } }, [issue('admin.DefaultImageModel', 'image', 't1', 'i1, i2')]],
    [{ fallbacks: { t1: ['t2'] } }, []],
    [
      { fallbacks: { x: ['t1', 'y'], t2: [] } },
      [issue('fallbacks.x', 'text', 'x', 't1, t2'), issue('fallbacks.x', 'text', 'y', 't1, t2')],
    ],
    [{ admin: { DefaultAPIModel: 'own' }, models: { own: {} } }, []],
    [
      { admin: { DefaultAPIModel: 'i1' }, models: { i1: {} } },
      [issue('admin.DefaultAPIModel', 'text', 'i1', 't1, t2')],
    ],
  ])('are those of the providers, or of the settings: %j', (settings, issues) => {
    expect(check(settings)).toEqual(issues);
  });

  it('are accepted where they may be offered later', () => {
    const settings = { admin: { DefaultAPIModel: 'x', DefaultImageModel: 'x' } };
    expect(check(settings, [])).toEqual([]);
    expect(check(settings, [...PROVIDERS, toProvider({}, { refreshModels: () => undefined })])).toEqual([]);
  });

  it('are accepted without a provider of such models, and refused with their type without one', () => {
    const texts = [toProvider({ t1: 'text' })];
    expect(check({ admin: { DefaultImageModel: 'x' } }, texts)).toEqual([]);
    expect(check({ admin: { DefaultImageModel: 't1' } }, texts)).toEqual([
      issue('admin.DefaultImageModel', 'image', 't1', 'none'),
    ]);
  });
});

describe('ports', () => {
  it.each<[object, readonly string[]]>([
    [{ extractors: [] }, []],
    [{ extractors: {} }, ['ports.extractors: expected a list of text extractors, got another object']],
    [
      {
        extractors: [
          { reads: () => true, extract: () => undefined },
          { reads: () => true },
          { extract: () => 1 },
          null,
        ],
      },
      ['another object', 'another object', 'null'].map(
        (got, at) =>
          `ports.extractors.${at + 1}: expected a text extractor with reads() and extract(), got ${got}`,
      ),
    ],
    [{ moderator: null }, []],
    [{ moderator: {} }, ['ports.moderator: expected an object with check(), got another object']],
    [{ limiter: undefined }, ['ports.limiter: expected an object with take(), peek(), got nothing']],
    [{ mailer: null }, ['ports.mailer: expected an object with send(), got null']],
    [{ limiter: { take: () => 1 } }, ['ports.limiter: expected an object with peek(), got another object']],
    [{ models: {} }, ['ports.models: expected a list of model providers, got another object']],
    [
      {
        models: [
          toProvider({}),
          { id: 'q', models: () => [] },
          { id: 1, models: () => [], generate: () => 1 },
          { id: 'q', generate: () => 1 },
          null,
        ],
      },
      ['another object', 'another object', 'another object', 'null'].map(
        (got, at) =>
          `ports.models.${at + 1}: expected a model provider with id, models() and generate(), got ${got}`,
      ),
    ],
    [
      { models: [toProvider({}), toProvider({})] },
      ['ports.models.1: expected an id of its own, got "p" a second time'],
    ],
  ])('are complete: %#', (changes, issues) => {
    const every = (verbs: readonly string[]) =>
      Object.fromEntries(verbs.map((verb) => [verb, () => undefined]));
    const ledger = ['balance', 'hold', 'renew', 'settle', 'release', 'record', 'grant', 'entries', 'charges'];
    const ports = {
      store: every(['collection', 'transaction']),
      ledger: every([...ledger, 'spent', 'capUsed', 'sweep']),
      limiter: every(['take', 'peek']),
      models: [],
      ...changes,
    };
    expect(findPortIssues(ports as unknown as Ports)).toEqual(issues);
  });

  it('are all missing where there is no object', () => {
    const names = findPortIssues(undefined as never).map((issue) => issue.split(':')[0]);
    expect(names).toEqual(['store', 'ledger', 'limiter', 'models'].map((name) => `ports.${name}`));
  });

  it('archive charges if the settings say so', () => {
    const find = (ledger: object, settings: object) =>
      findArchiveIssues({ ledger } as unknown as Ports, settings as Settings);
    const archiveCharges = () => undefined;
    expect([find({}, {}), find({ archiveCharges }, { chargeArchive: {} })]).toEqual([[], []]);
    expect(find({}, { chargeArchive: {} })).toEqual([
      'settings.chargeArchive: expected a ledger with archiveCharges(), got another object',
    ]);
    expect(findArchiveIssues(undefined as never, undefined as never)).toEqual([]);
  });
});

it.each([
  [1.5, '1.5'],
  [false, 'false'],
  [undefined, 'nothing'],
  [null, 'null'],
  [[], 'a list'],
  [{}, 'another object'],
  [() => 1, 'a function'],
  ['a "b"', '"a \\"b\\""'],
  ['x'.repeat(100), `"${'x'.repeat(100)}"`],
  ['x'.repeat(101), 'text of 101 characters'],
  ['user:word@host', 'text of 14 characters'],
  ['a @b', '"a @b"'],
])('shows a given value, and no secret: %j', (value, text) => {
  expect(shown(value)).toBe(text);
  expect(getKind('x')).toBe('a string');
});

it('names what was configured', () => {
  expect(new ConfigurationError(['a', 'b']).message).toBe('createServices: a; b');
  expect(new ConfigurationError(['a'], 'createApi').message).toBe('createApi: a');
});

it('reports a failure once for each request, whatever the reporter does', () => {
  const seen: string[] = [];
  const report = quietly(({ operation, requestId }) => {
    seen.push(`${operation} ${requestId}`);
    throw new Error('no log');
  });
  const [one, other] = [new Error('one'), new Error('other')];
  const incidents: readonly Incident[] = [
    { operation: 'a', requestId: '1', error: one },
    { operation: 'b', requestId: '1', error: one },
    { operation: 'c', requestId: '1', error: other },
    { operation: 'd', requestId: '2', error: one },
    { operation: 'e', requestId: '', error: one },
    { operation: 'f', requestId: '', error: one },
    { operation: 'g', requestId: '3', error: 'text' },
    { operation: 'h', requestId: '3', error: 'text' },
    { operation: 'i', requestId: '3', error: null },
  ];
  for (const incident of incidents) report(incident);
  expect(seen).toEqual(['a 1', 'c 1', 'd 2', 'e ', 'f ', 'g 3', 'h 3', 'i 3']);
  expect(quietly(undefined)({ operation: 'a', requestId: '', error: one })).toBeUndefined();
});

it('reads a secret of 64 hexadecimal characters as 32 bytes, and another text as it is', () => {
  const hex = 'aB'.repeat(32);
  expect(Buffer.from(secretBytes(hex)).toString('hex')).toBe(hex.toLowerCase());
  for (const text of [`${hex}0`, hex.slice(1), `${hex.slice(1)}g`])
    expect(Buffer.from(secretBytes(text)).toString()).toBe(text);
  const bytes = Uint8Array.of(1, 2);
  expect(secretBytes(bytes)).toBe(bytes);
});

it('derives the same key from the same secret, so that stored texts stay readable', () => {
  const toHex = (secret: Uint8Array) => Buffer.from(deriveTextKey(secret)).toString('hex');
  const secret = new Uint8Array(32);
  expect(toHex(secret)).toHaveLength(64);
  expect(toHex(secret)).toBe(toHex(new Uint8Array(32)));
  expect(toHex(secret)).not.toBe(toHex(Uint8Array.of(1)));
});
