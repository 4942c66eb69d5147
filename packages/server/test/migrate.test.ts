import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../src/cli/run.ts';
import { emptyFolder, outcome } from './command.ts';

it('prints the SQL without running it, then runs it, then has nothing to run', async () => {
  const cwd = emptyFolder();
  const file = join(cwd, 'data', 'questline.db');

  const dry = await outcome(['migrate', '--dry-run'], { cwd });
  expect(dry.code).toBe(0);
  expect(dry.stdout).toMatch(/^-- \d+ steps for .+questline\.db, which does not exist yet\n/);
  expect(dry.stdout).toMatch(/create table .*questline_users/i);
  expect(existsSync(file)).toBe(false);

  const run = await outcome(['migrate'], { cwd });
  expect([run.code, run.stderr]).toEqual([0, '']);
  expect(run.stdout).toMatch(/\d+ steps; .+questline\.db is up to date\n$/);
  expect(existsSync(file)).toBe(true);

  expect((await outcome(['migrate', '--dry-run'], { cwd })).stdout).toMatch(/^-- .+ is up to date\n$/);
  expect((await outcome(['migrate'], { cwd })).stdout).toMatch(/^.+ is up to date\n$/);
});

it('shows progress on a terminal and only the result elsewhere', async () => {
  for (const json of [false, true]) {
    const shown: string[] = [];
    let printed = '';
    const code = await run(['migrate', ...(json ? ['--json'] : [])], {
      environment: {},
      folder: emptyFolder(),
      print: (text) => {
        printed += text;
      },
      complain: (text) => expect(text).toBe(''),
      showProgress: (line) => shown.push(line),
      onShutdownSignal: () => () => undefined,
    });
    expect(code).toBe(0);
    if (json) {
      expect(shown).toEqual([]);
      expect(JSON.parse(printed)).toMatchObject({
        place: expect.stringMatching(/questline\.db$/),
        steps: expect.arrayContaining([{ name: expect.any(String), statements: expect.any(Array) }]),
      });
    } else {
      expect(shown[0]).toMatch(/^\[#? +\] 1\/\d+ \S/);
      expect(shown.at(-2)).toMatch(/^\[#{24}\] (\d+)\/\1 \S/);
      expect(shown.at(-1)).toBe('');
    }
  }
});

it('names the variable of an unreachable database', async () => {
  const result = await outcome(['migrate'], {
    env: { DATABASE_URL: 'postgres://unknown:hidden@127.0.0.1:9/none' },
  });
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/^questline: DATABASE_URL: /);
  expect(result.stderr).not.toContain('hidden');
});
