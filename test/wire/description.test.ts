import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import type { Description } from '@questline/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWire } from '../support/wire.ts';

const run = promisify(execFile);
const modules = join(import.meta.dirname, '../../node_modules');

let folder: string;
let description: Description;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'questline-description-'));
  const wire = await createWire();
  const headers = { Host: 'ai.questline.test' };
  const answer = await wire.send({ method: 'GET', path: '/api/v1/openapi.json', headers });
  description = answer.body as Description;
  await writeFile(join(folder, 'openapi.json'), answer.text);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('openapi.json', () => {
  it('passes the recommended rules without an error', async () => {
    const { stdout } = await run(
      process.execPath,
      [
        join(modules, '@redocly/cli/bin/cli.js'),
        'lint',
        'openapi.json',
        '--extends=recommended',
        '--format=json',
      ],
      // Nothing is told to anybody, and nobody is asked for a newer version.
      { cwd: folder, env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    ).catch((failure: { stdout: string }) => failure);
    const { totals, problems } = JSON.parse(stdout) as {
      totals: { errors: number };
      problems: { ruleId: string; message: string; severity: string }[];
    };
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(totals.errors).toBe(0);
  });

  it('lists every scope a key may need, and which operations enforce none', () => {
    const scopes = Object.values(description.paths)
      .flatMap((place) => Object.values(place))
      .map((operation) => [operation.operationId, operation['x-required-scopes']]);
    expect(Object.fromEntries(scopes)).toMatchObject({
      createCompletion: ['ai:chat', 'ai:generate'],
      getMe: ['me:read'],
      getCreditBalance: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
    });
  });

  it('makes a client that type-checks and can be called', { timeout: 60_000 }, async () => {
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
