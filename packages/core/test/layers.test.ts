import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Folders of `src`, lowest first: a folder imports only from earlier folders. */
const LAYERS = [
  'shared',
  'ports',
  'contract',
  'http',
  'observability',
  'credits',
  'identity',
  'access',
  'memory',
  'directory',
  'operations',
  'tools',
  'models',
  'jobs',
  'events',
  'prompts',
  'runs',
  'features',
  'features/health',
  'features/analytics',
  'features/whats-new',
  'features/tools',
  'features/audit',
  'features/settings',
  'features/storage',
  'features/sharing',
  'features/organizations',
  'features/sign-in',
  'features/device-login',
  'features/api-keys',
  'features/webhooks',
  'features/account',
  'features/embeddings',
  'features/files',
  'features/models',
  'features/media-jobs',
  'features/completions',
  'features/sessions',
  'features/audio',
  'features/projects',
  'features/budgets',
  'features/data-lakes',
  'features/artifacts',
  'features/agents',
  'features/conversation',
  'features/session-enrichment',
  'features/quest-master',
  'features/mementos',
  'features/quests',
  'features/images',
  'features/chat',
  'features/agent-runs',
  'app',
];
/** Pairs of folders with at least one import between them. */
const MAX_ARROWS = 400;

const SRC = join(import.meta.dirname, '../src');

type Sources = ReadonlyMap<string, string>;

function readSources(): Sources {
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test|\.test-d)\.ts$/.test(entry.name))
    .map((entry) => relative(SRC, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]));
}

/** The folder of a file, one level below `features/`. `index.ts` is the public surface of the whole and belongs to `app`. */
function getFolder(file: string): string {
  const [first = '', second = '', ...rest] = file.split('/');
  if (second === '') return 'app';
  return first === 'features' && rest.length > 0 ? `features/${second}` : first;
}

function getImports(file: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm)];
  return specifiers.map(([, specifier = '']) => join(dirname(file), specifier).split(sep).join('/'));
}

function findArrows(sources: Sources): { from: string; to: string; where: string }[] {
  return [...sources].flatMap(([file, text]) =>
    getImports(file, text)
      .map((target) => ({ from: getFolder(file), to: getFolder(target), where: `${file} → ${target}` }))
      .filter(({ from, to }) => from !== to),
  );
}

const isUpward = ({ from, to }: { from: string; to: string }) => LAYERS.indexOf(to) >= LAYERS.indexOf(from);

describe('folders of core', () => {
  const sources = readSources();
  const arrows = findArrows(sources);

  it('assigns every folder to a layer', () => {
    const folders = new Set([...sources.keys()].map(getFolder));
    expect([...folders].filter((folder) => !LAYERS.includes(folder))).toEqual([]);
  });

  it('forbids imports from the same layer or above, so folders form no cycle', () => {
    expect(arrows.filter(isUpward).map(({ where }) => where)).toEqual([]);
  });

  it('detects an upward import', () => {
    const planted = new Map([
      ...sources,
      ['ports/planted.ts', "import type { Api } from '../app/api.ts';\n"],
    ]);
    expect(findArrows(planted).filter(isUpward)).toHaveLength(1);
  });

  it('keeps folders loosely coupled', () => {
    const pairs = new Set(arrows.map(({ from, to }) => `${from} ${to}`));
    expect(pairs.size).toBeLessThanOrEqual(MAX_ARROWS);
  });
});
