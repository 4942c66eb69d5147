import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { compareModels, selectChanges } from '../src/cli/model-changes.ts';
import { findRetiring } from '../src/doctor/models.ts';
import { emptyFolder, outcome, questline } from './command.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const KEY = { OPENAI_API_KEY: 'sk-none' };

const list = {
  openai: {
    models: {
      'gpt-6-luna': {
        name: 'GPT-6 Luna',
        modalities: { input: ['text'], output: ['text'] },
        limit: { context: 1_050_000, output: 128_000 },
        cost: { input: 0.2, output: 0.5 },
      },
      'gpt-9': {
        name: 'GPT-9',
        tool_call: true,
        modalities: { input: ['text'], output: ['text'] },
        limit: { context: 2_000_000, output: 128_000 },
        cost: { input: 0.01, output: 0.02 },
      },
      broken: { name: 'Broken' },
    },
  },
};

function folderWithList(content: unknown = list): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'list.json'), typeof content === 'string' ? content : JSON.stringify(content));
  return folder;
}

describe('questline models', () => {
  it('lists prices, windows and dates of the available models', async () => {
    const { code, stdout } = await outcome(['models', 'list'], { env: KEY });
    expect(code).toBe(0);
    const [titles, first] = stdout.split('\n');
    expect(titles).toMatch(/^MODEL +KIND +PROVIDER +WINDOW +PRICES +CHANGES +RETIRES +SUCCESSOR +CHECKED$/);
    expect(first).toMatch(/^gpt-6-luna +text +openai +1050000 +0\.1 \/ 0\.5, cached 0\.01; above 272000: /);
    expect(stdout).not.toMatch(/claude|gpt-image-1 /);
  });

  it('reports why there are none, and lists every vendor with --all', async () => {
    expect((await outcome(['models', 'list'])).stdout).toMatch(
      /^There are no models: no provider has a key\./,
    );
    const { stdout } = await outcome(['models', 'list', '--all', '--json']);
    const { models } = JSON.parse(stdout) as { models: { provider: string }[] };
    expect([...new Set(models.map(({ provider }) => provider))]).toEqual([
      'anthropic',
      'openai',
      'gemini',
      'xai',
    ]);
  });

  it('imports a list after showing its changes, and uses it from the next start on; a dry run stores nothing', async () => {
    const cwd = folderWithList();
    const dry = await outcome(['models', 'import', 'list.json', '--dry-run'], { cwd });
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('gpt-6-luna  prices.input: 0.1 -> 0.2\n');
    expect(dry.stdout).toMatch(/broken is left out: .*\n1 change from models\.dev\. Nothing was stored\.\n$/);
    expect(existsSync(join(cwd, 'data'))).toBe(false);

    const { stdout } = await outcome(['models', 'import', 'list.json', '--add', '--json'], { cwd });
    const shown = JSON.parse(stdout) as { changes: { id: string }[]; stored: string };
    expect(shown.changes.map(({ id }) => id)).toEqual(['gpt-6-luna', 'gpt-9']);
    expect(JSON.parse(readFileSync(shown.stored, 'utf8')).models['gpt-6-luna']).toEqual({
      prices: { input: 0.2 },
    });
    const listed = (await outcome(['models', 'list'], { cwd, env: KEY })).stdout;
    expect(listed).toMatch(/^gpt-9 +text +openai +2000000 +0\.01 \/ 0\.02/m);
    expect(listed).toMatch(/^gpt-6-luna .* 0\.2 \/ 0\.5, cached 0\.01/m);
    const again = await outcome(['models', 'import', 'list.json', '--add'], { cwd });
    expect(again.stdout).toMatch(/\n0 changes from models\.dev\./);
  });

  it('rejects an invalid list at import and a damaged file at start, and names it', async () => {
    const cwd = folderWithList('<html>');
    const { code, stderr } = await outcome(['models', 'import', 'list.json'], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining('models.dev: the list is no JSON')]);
    expect((await outcome(['models', 'import', 'none.json'], { cwd })).stderr).toMatch(
      /none\.json cannot be read/,
    );
    writeFileSync(join(cwd, 'models.json'), '{"models":{"gpt-6-luna":{"prices":{"input":"free"}}}}');
    const started = await outcome(['start', '--port', '0'], { cwd, env: { ...KEY, STORAGE_DIR: '.' } });
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/models\.json is damaged/)]);
  });

  it('reports a start without any model', async () => {
    const running = questline(['start', '--port', '0', '--host', '127.0.0.1']);
    await running.until(/There are 0 chat models, because no provider has a key\./);
  });
});

describe('imported differences', () => {
  const model = { id: 'one', name: 'One', type: 'text', provider: 'openai', maxOutputTokens: 10 } as const;
  const priceChanges = [{ from: '2027-01-01', prices: { input: 9, output: 9 } }];
  const known = { ...model, contextWindow: 100, prices: { input: 1, output: 2 }, priceChanges };

  it('contain only changed fields, and keep announced prices', () => {
    const same = { contextWindow: 100, prices: { output: 2, input: 1 } };
    expect(selectChanges({ one: same, unknown: same }, [known], false)).toEqual({});
    expect(selectChanges({ one: { prices: { input: 3, output: 2 } } }, [known], false)).toEqual({
      one: { prices: { input: 3 }, priceChanges },
    });
  });

  it('are shown field by field, with additions and removals', () => {
    const { priceChanges: _, ...plain } = known;
    const after = [
      { ...plain, prices: { input: 1, output: 4 } },
      { ...plain, id: 'two' },
    ];
    expect(compareModels([plain, { ...plain, id: 'zero' }], after)).toEqual([
      { id: 'one', field: 'prices.output', from: '2', to: '4' },
      { id: 'two', field: 'model', from: 'none', to: 'added' },
      { id: 'zero', field: 'model', from: 'listed', to: 'retired or removed' },
    ]);
  });
});

describe('doctor', () => {
  it('warns of models from 60 days before they retire, with their successors', () => {
    const model = {
      name: 'A',
      type: 'text',
      provider: 'openai',
      contextWindow: 1,
      maxOutputTokens: 1,
    } as const;
    const models = [
      { ...model, id: 'a', deprecationDate: '2027-01-14', replacedBy: 'c' },
      { ...model, id: 'b', deprecationDate: '2027-01-14' },
      { ...model, id: 'c' },
      { ...model, id: 'd', deprecationDate: '2027-02-26' },
    ];
    const end = Date.UTC(2027, 0, 14);
    expect(findRetiring(models, end - 60 * 86_400_000 - 1)).toEqual([]);
    expect(findRetiring(models, end - 60 * 86_400_000)).toEqual([
      {
        subject: 'models',
        state: 'warning',
        message: 'a, b retire on 2027-01-14',
        advice: 'use c in place of a; b has no successor',
      },
    ]);
  });
});
