/** The test files that look at a folder, by the beginning of its path. The longest beginning counts. */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  'packages/anthropic': ['test/anthropic/**/*.test.ts'],
  'packages/core/src/access': ['test/sharing/**/*.test.ts', 'test/ownership/**/*.test.ts'],
  'packages/core/src/app': [
    'test/factories.test.ts',
    'test/retention/*.test.ts',
    'test/mounting/**/*.test.ts',
    'test/wire/**/*.test.ts',
  ],
  'packages/core/src/directory': ['packages/testing/test/directory.test.ts', 'test/files/*.test.ts'],
  'packages/core/src/contract': ['test/wire/**/*.test.ts', 'test/lists/**/*.test.ts'],
  'packages/core/src/credits': ['test/money/**/*.test.ts', 'test/completions*.test.ts'],
  'packages/core/src/events': ['test/events/**/*.test.ts'],
  'packages/core/src/features/account': ['test/identity/**/*.test.ts', 'test/ownership/**/*.test.ts'],
  'packages/core/src/features/agent-runs': ['test/executions/**/*.test.ts'],
  'packages/core/src/features/agents': ['test/agents/**/*.test.ts', 'test/executions/**/*.test.ts'],
  'packages/core/src/features/analytics': ['test/observing/**/*.test.ts'],
  'packages/core/src/features/api-keys': ['test/identity/**/*.test.ts'],
  'packages/core/src/features/artifacts': ['test/artifacts/**/*.test.ts'],
  'packages/core/src/features/audio': ['test/audio/**/*.test.ts', 'test/transcriptions/**/*.test.ts'],
  'packages/core/src/features/audit': ['test/audit/**/*.test.ts'],
  'packages/core/src/features/budgets': [
    'test/money/**/*.test.ts',
    'test/events/budgets.test.ts',
    'test/mcp-server/limits.test.ts',
    'test/fields/*.test.ts',
  ],
  'packages/core/src/features/chat': ['test/chat/*.test.ts', 'test/sessions/**/*.test.ts'],
  'packages/core/src/features/completions': ['test/completions*.test.ts', 'test/models/*.test.ts'],
  'packages/core/src/features/completions/conversations': ['test/openai/*.test.ts'],
  'packages/core/src/features/completions/responses': ['test/openai/*.test.ts'],
  'packages/core/src/features/completions/server-tools': ['test/openai/*.test.ts'],
  'packages/core/src/features/completions/stored': ['test/openai/*.test.ts'],
  'packages/core/src/features/completions/wires': ['test/openai/*.test.ts', 'test/anthropic/*.test.ts'],
  'packages/core/src/features/conversation': ['test/chat/*.test.ts', 'test/sessions/**/*.test.ts'],
  'packages/core/src/features/data-lakes': ['test/knowledge/**/*.test.ts'],
  'packages/core/src/features/device-login': ['test/identity/**/*.test.ts'],
  'packages/core/src/features/files': ['test/files/**/*.test.ts'],
  'packages/core/src/features/images': ['test/images/**/*.test.ts'],
  'packages/core/src/features/media-jobs': ['test/generations/{answers,events,requests,lifecycle}.test.ts'],
  'packages/core/src/features/mementos': ['test/mementos/**/*.test.ts'],
  'packages/core/src/features/models': ['test/models/*.test.ts'],
  'packages/core/src/features/organizations': ['test/sharing/**/*.test.ts', 'test/identity/**/*.test.ts'],
  'packages/core/src/features/projects': ['test/projects/**/*.test.ts'],
  'packages/core/src/features/quest-master': ['test/quest-master/**/*.test.ts'],
  'packages/core/src/features/quests': ['test/chat/*.test.ts'],
  'packages/core/src/features/session-enrichment': ['test/enrichment/**/*.test.ts'],
  'packages/core/src/features/sessions': ['test/sessions/**/*.test.ts', 'test/replay/**/*.test.ts'],
  'packages/core/src/features/sharing': ['test/sharing/**/*.test.ts'],
  'packages/core/src/features/sign-in': ['test/identity/**/*.test.ts'],
  'packages/core/src/features/tools': ['test/agents/**/*.test.ts', 'test/chat/*.test.ts'],
  'packages/core/src/features/webhooks': ['test/events/**/*.test.ts', 'test/retention/*.test.ts'],
  'packages/core/src/http': ['test/wire/**/*.test.ts', 'test/mounting/**/*.test.ts'],
  'packages/core/src/identity': ['test/identity/**/*.test.ts'],
  'packages/core/src/jobs': ['test/chat/*.test.ts', 'test/fairness/**/*.test.ts'],
  'packages/core/src/memory': ['packages/core/test/*.test.ts'],
  'packages/core/src/models': ['test/models/*.test.ts', 'test/completions*.test.ts'],
  'packages/core/src/observability': ['test/observing/**/*.test.ts'],
  'packages/core/src/operations': ['test/wire/**/*.test.ts', 'test/ownership/**/*.test.ts'],
  'packages/core/src/prompts': ['test/chat/*.test.ts'],
  'packages/core/src/runs': ['test/chat/*.test.ts', 'test/money/*.test.ts', 'test/events/*.test.ts'],
  'packages/mcp': ['test/mcp/**/*.test.ts'],
  'packages/mcp-server': ['test/mcp-server/**/*.test.ts'],
  'packages/openai': ['test/openai/**/*.test.ts'],
  'packages/sql/src/shards': ['packages/sql/test/shards*.test.ts', 'test/shards/*.test.ts'],
};

/** The area of a file; a part of a package without one is an area of its own. */
export function getArea(file: string): string {
  const starts = Object.keys(AREAS).filter((start) => file.startsWith(`${start}/`));
  const [packages, name, src, part = ''] = file.split('/');
  const own = name === 'core' && !part.endsWith('.ts') ? [packages, name, src, part] : [packages, name];
  return starts.sort((a, b) => b.length - a.length)[0] ?? own.join('/');
}

/** Returns patterns of the test files of an area. */
export function listAreaTests(area: string): readonly string[] {
  return [`${area}/**/*.test.ts`, ...(AREAS[area] ?? [])];
}

/** Returns patterns of test files: those beside the sources, those of the area, or all of the repository. */
export function areaTests(folder: string): readonly string[] {
  const area = Object.keys(AREAS)
    .filter((start) => folder.startsWith(start))
    .sort((a, b) => b.length - a.length)[0];
  const near = [`${folder.replace(/\/[^/]+\.ts$/, '')}/**/*.test.ts`];
  return [...near, ...(area === undefined ? ['test/**/*.test.ts'] : (AREAS[area] ?? []))];
}
