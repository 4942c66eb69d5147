import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** The names of `@questline/core`. Each new one is a decision, because hosts depend on it. */
const NAMES = {
  composition: [
    'createServices',
    'Services',
    'Ports',
    'Settings',
    'ConfigurationError',
    'COLLECTIONS',
    'Incident',
  ],
  models: ['createDemoProvider', 'ModelOverride'],
  mounting: ['createApi', 'Api', 'ApiOptions', 'OperationSelection', 'Mountable', 'MountOptions'],
  hosts: ['toNodeListener', 'toFetchHandler', 'FetchHandler', 'ApiRequest', 'ApiResponse'],
  handlers: ['createChatHandler', 'createCompletionsHandler', 'createQuestPoller'],
  operations: ['defineOperation', 'Operation', 'defineRoute', 'Route', 'Handler', 'OperationCall'],
  replies: ['Reply', 'jsonReply', 'ApiError', 'ApiErrorOptions', 'ErrorCode', 'isApiError', 'Caller'],
  accounts: [
    'Authenticator',
    'createUser',
    'NewUser',
    'USERS',
    'UserRecord',
    'toCredits',
    'fromCredits',
    'subscribe',
  ],
  keys: ['issueApiKey', 'NewApiKey', 'IssuedApiKey', 'rotateApiKey', 'revokeApiKey', 'Scope'],
  tools: [
    'defineTool',
    'Tool',
    'ToolDefinition',
    'ToolContext',
    'ToolResult',
    'answered',
    'failed',
    'createToolbox',
  ],
  images: ['imageTools', 'ImageHook'],
  skills: ['Skill'],
  events: ['HostEvent', 'EventHandler'],
  moderation: ['createLocalModerator', 'createModelModerator', 'createModerators'],
};

/** Hosts rely on their inferred types, so their documentation contains an example. */
const WITH_EXAMPLE = [
  'createApi',
  'createServices',
  'createUser',
  'defineOperation',
  'defineRoute',
  'defineTool',
  'issueApiKey',
];

const ROOT = join(import.meta.dirname, '../../..');

interface PublicName {
  readonly name: string;
  readonly isDocumented: boolean;
  readonly hasExample: boolean;
}

/** Reads the exports of source files of core, with their documentation tags. */
function readExports(...entries: readonly string[]): PublicName[][] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const files = entries.map((entry) => join(ROOT, 'packages/core/src', entry));
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  return files.map((file) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    return checker.getExportsOfModule(module).map((symbol) => {
      const found = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return {
        name: symbol.name,
        isDocumented: found.getDocumentationComment(checker).length > 0,
        hasExample: found.getJsDocTags(checker).some((tag) => tag.name === 'example'),
      };
    });
  });
}

describe('public names of core', () => {
  const [main = [], ports = [], internal = []] = readExports('index.ts', 'ports.ts', 'internal.ts');

  it('are exactly the listed ones', () => {
    expect(main.map(({ name }) => name).sort()).toEqual(Object.values(NAMES).flat().sort());
  });

  it('are about sixty', () => {
    expect(main.length).toBeLessThanOrEqual(66);
  });

  it('have documentation, as have the interfaces of the ports', () => {
    const bare = [...main, ...ports].filter(({ isDocumented }) => !isDocumented);
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  it('have an example where a host relies on inferred types', () => {
    const withExample = new Set(main.filter(({ hasExample }) => hasExample).map(({ name }) => name));
    expect(WITH_EXAMPLE.filter((name) => !withExample.has(name))).toEqual([]);
  });

  it('are exported by one entry point each', () => {
    const names = [...main, ...ports, ...internal].map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  });
});
