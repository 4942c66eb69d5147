/** The test files that look at a folder, by the beginning of its path. The longest beginning counts. */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  'packages/core/src/credits': ['test/money/**/*.test.ts', 'test/completions*.test.ts'],
  'packages/core/src/features/agents': ['test/agents/**/*.test.ts', 'test/executions/**/*.test.ts'],
  'packages/core/src/features/chat': ['test/chat/*.test.ts', 'test/sessions/**/*.test.ts'],
  'packages/core/src/features/completions': ['test/completions*.test.ts', 'test/models/*.test.ts'],
  'packages/core/src/features/data-lakes': ['test/knowledge/**/*.test.ts'],
  'packages/core/src/features/files': ['test/files/**/*.test.ts'],
  'packages/core/src/features/media-jobs': ['test/generations/{answers,events,requests,lifecycle}.test.ts'],
  'packages/core/src/features/sign-in': ['test/identity/**/*.test.ts'],
  'packages/core/src/http': ['test/wire/**/*.test.ts', 'test/mounting/**/*.test.ts'],
  'packages/core/src/identity': ['test/identity/**/*.test.ts'],
  'packages/core/src/jobs': ['test/chat/*.test.ts', 'test/fairness/**/*.test.ts'],
  'packages/core/src/models': ['test/models/*.test.ts', 'test/completions*.test.ts'],
  'packages/core/src/operations': ['test/wire/**/*.test.ts', 'test/ownership/**/*.test.ts'],
  'packages/core/src/runs': ['test/chat/*.test.ts', 'test/money/*.test.ts', 'test/events/*.test.ts'],
};

/** Returns patterns of test files: those beside the sources, those of the area, or all of the repository. */
export function areaTests(folder: string): readonly string[] {
  const area = Object.keys(AREAS)
    .filter((start) => folder.startsWith(start))
    .sort((a, b) => b.length - a.length)[0];
  const near = [`${folder.replace(/\/[^/]+\.ts$/, '')}/**/*.test.ts`];
  return [...near, ...(area === undefined ? ['test/**/*.test.ts'] : (AREAS[area] ?? []))];
}
