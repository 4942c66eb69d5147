import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findPostgresPrograms,
  type OwnPostgres,
  type OwnReplica,
  startOwnPostgres,
  startReplica,
} from './postgres-server.ts';

/** A primary with a hot standby. */
export interface PrimaryWithReplica {
  readonly primary: OwnPostgres;
  readonly replica: OwnReplica;
  stop(): Promise<void>;
}

/** Undefined when the programs of a PostgreSQL server are missing: tests are skipped with a message. */
export const PROGRAMS: string | undefined = find();

function find(): string | undefined {
  const programs = findPostgresPrograms();
  if (programs !== undefined) return programs;
  if (process.env.CI === 'true') throw new Error('the programs of a PostgreSQL server are missing');
  console.warn(
    'The programs of a PostgreSQL server are missing in /usr/lib/postgresql: tests of replicas do not run.',
  );
  return undefined;
}

export async function startServers(programs: string): Promise<PrimaryWithReplica> {
  const folders = await Promise.all([makeFolder(), makeFolder()]);
  const primary = await startOwnPostgres(programs, folders[0], await findPort());
  const replica = await startReplica(programs, folders[1], await findPort(), primary);
  return {
    primary,
    replica,
    async stop() {
      await replica.stop().catch(() => undefined);
      await primary.stop();
      for (const folder of folders) await rm(folder, { recursive: true });
    },
  };
}

export async function startOther(programs: string): Promise<OwnPostgres> {
  const folder = await makeFolder();
  const server = await startOwnPostgres(programs, folder, await findPort());
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'questline-replica-'));
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
}
