import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readConfiguration } from '../src/environment/configuration.ts';
import { findSecrets, SecretsCreated } from '../src/secrets.ts';
import { emptyFolder, questline } from './command.ts';

vi.setConfig({ testTimeout: 120_000 });

describe('first starts at the same time in one empty folder', () => {
  it('all serve, with the secrets of one of them', async () => {
    const cwd = emptyFolder();
    const starts = Array.from({ length: 3 }, () => questline(['start'], { cwd, env: { PORT: '0' } }));
    await Promise.all(starts.map((start) => start.until(/Press Ctrl\+C to stop/)));
    // The log has a pipe of its own, so its lines may arrive after the banner.
    const getCreators = () => starts.filter((start) => start.output().includes('"created secrets"'));
    await vi.waitFor(() => expect(getCreators()).not.toEqual([]), 30_000);
    expect(getCreators()).toHaveLength(1);
    expect(readdirSync(join(cwd, 'data')).filter((file) => file.startsWith('secrets'))).toEqual([
      'secrets.env',
    ]);
  });

  it('find the secrets that another process stored first, and never a part of them', () => {
    const { storageDir } = readConfiguration({ STORAGE_DIR: emptyFolder() });
    const [one, other] = [findSecrets(storageDir, {}), findSecrets(storageDir, {})];
    one.checkNew();
    one.save();
    expect(() => other.checkNew()).toThrow(SecretsCreated);
    expect(() => other.save()).toThrow(SecretsCreated);
    const again = findSecrets(storageDir, {});
    expect(again.values).toEqual(one.values);
    expect(again.made).toEqual([]);
    again.checkNew();
  });
});
