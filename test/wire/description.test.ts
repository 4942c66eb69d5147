import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import type { Description } from '@questline/core/internal';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWire } from '../support/wire.ts';

// A CommonJS package without static names.
const { Spectral } = spectralCore;
const run = promisify(execFile);
const modules = join(import.meta.dirname, '../../node_modules');

const DOCUMENTS = {
  'openapi.json': '/api/v1/openapi.json',
  'application.json': '/api/openapi.json',
} as const;

let folder: string;
let description: Description;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'questline-description-'));
  const wire = await createWire();
  const headers = { Host: 'ai.questline.test' };
  for (const [file, path] of Object.entries(DOCUMENTS)) {
    const answer = await wire.send({ method: 'GET', path, headers });
    if (file === 'openapi.json') description = answer.body as Description;
    await writeFile(join(folder, file), answer.text);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(Object.keys(DOCUMENTS))('the document %s', (file) => {
  it('passes the recommended rules of Redocly without a warning', { timeout: 30_000 }, async () => {
    const { stdout } = await run(
      process.execPath,
      [join(modules, '@redocly/cli/bin/cli.js'), 'lint', file, '--extends=recommended', '--format=json'],
      // Disables telemetry and the update check.
      { cwd: folder, env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    ).catch((failure: { stdout: string }) => failure);
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string }[] };
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('passes the recommended rules of Spectral without a warning', { timeout: 60_000 }, async () => {
    const spectral = new Spectral();
    spectral.setRuleset({
      extends: [[oas as RulesetDefinition, 'recommended']],
      rules: {
        // The host provides the contact.
        'info-contact': 'off',
        // The rule compiles patterns without the flag `u`, which JSON Schema requires; described.test.ts
        // validates the examples.
        'oas3-valid-media-example': 'off',
      },
    });
    const results = await spectral.run(JSON.parse(await readFile(join(folder, file), 'utf8')));
    expect(results.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)).toEqual([]);
  });
});

describe('description openapi.json', () => {
  it('lists every scope of keys and the operations without scopes', () => {
    const scopes = Object.values(description.paths)
      .flatMap((place) => Object.values(place))
      .map((operation) => [operation.operationId, operation['x-required-scopes']]);
    expect(Object.fromEntries(scopes)).toMatchObject({
      createCompletion: ['ai:chat', 'ai:generate'],
      getMe: ['me:read'],
      getCreditBalance: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
    });
  });

  it('generates a client that type-checks and works', { timeout: 60_000 }, async () => {
    const output = join(folder, 'client');
    await createClient({
      input: join(folder, 'openapi.json'),
      output,
      logs: { level: 'silent' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    });
    await writeFile(
      join(folder, 'use.ts'),
      `import { createCompletion, getMe } from './client/index.ts';
       const { data, error } = await getMe({ baseUrl: 'http://x', auth: 'key' });
       if (data) data.credits.balance.toFixed();
       if (error) error.error.trim();
       await createCompletion({ body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] } });
       // @ts-expect-error A message has a role.
       await createCompletion({ body: { model: 'm', messages: [{ content: 'Hi' }] } });
      `,
    );
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2022',
          module: 'esnext',
          moduleResolution: 'bundler',
          lib: ['es2022', 'dom', 'dom.iterable'],
          types: [],
          strict: true,
          noEmit: true,
          allowImportingTsExtensions: true,
        },
        include: ['use.ts', 'client'],
      }),
    );
    const { stdout } = await run(process.execPath, [
      join(modules, 'typescript7/bin/tsc'),
      '-p',
      folder,
    ]).catch((failure: { stdout: string }) => failure);
    expect(stdout).toBe('');
    expect(await readFile(join(output, 'types.gen.ts'), 'utf8')).toContain(
      'export type CreateCompletionRequest =',
    );
  });
});
