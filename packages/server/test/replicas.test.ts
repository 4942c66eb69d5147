import { PassThrough } from 'node:stream';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROGRAMS, type PrimaryWithReplica, startServers } from '../../../test/support/replicas.ts';
import { readConfiguration } from '../src/environment/configuration.ts';
import { createLog } from '../src/log.ts';
import { DEPLOYMENT } from '../src/storage/deployment.ts';
import { openStorage } from '../src/storage/storage.ts';

describe.skipIf(PROGRAMS === undefined)('DATABASE_REPLICAS', () => {
  let servers: PrimaryWithReplica;
  beforeAll(async () => {
    servers = await startServers(String(PROGRAMS));
  }, 180_000);
  afterAll(() => servers.stop());

  it('reads lists while it works, and names it in the log without its password', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const destination = new PassThrough();
    const clock = createFakeClock();
    const withPassword = servers.replica.url.replace('root@', 'root:hush@');
    const storage = await openStorage({
      configuration: readConfiguration({
        DATABASE_URL: servers.primary.url,
        DATABASE_REPLICAS: withPassword,
      }),
      demo: false,
      clock,
      ids: createFakeIds(1),
      log: createLog({ secrets: [], destination }),
    });
    const records = storage.ports.store.collection(DEPLOYMENT);
    await records.insert({ id: 'a', value: 'b' });
    try {
      const list = () => records.find({});
      expect(await list()).toEqual([{ id: 'a', value: 'b' }]);
      await servers.replica.crash(async () => {
        expect(await list()).toEqual([{ id: 'a', value: 'b' }]);
      });
      vi.advanceTimersByTime(5000);
      expect(await list()).toEqual([{ id: 'a', value: 'b' }]);
    } finally {
      vi.useRealTimers();
      await storage.close();
    }
    const { host, pathname } = new URL(servers.replica.url);
    const output = String(destination.read());
    expect(output).not.toContain('hush');
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ replica }) => replica === `${host}${pathname}`);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['info', 'a replica reads'],
      ['warn', 'a replica failed; the primary reads'],
      ['info', 'a replica reads'],
    ]);
  });
});
