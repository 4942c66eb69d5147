import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';

const run = promisify(execFile);

/** A PostgreSQL server of this run only, which may be broken. */
export interface OwnPostgres {
  readonly url: string;
  /** Reads and writes besides the processes under test. Its connections break with all others. */
  readonly pool: Pool;
  /** Ends every connection. @returns how many. */
  terminateAll(): Promise<number>;
  /** Ends without a checkpoint, as after a crash, and starts again after `work`. @returns milliseconds away. */
  crash(work: () => Promise<unknown>): Promise<number>;
  stop(): Promise<void>;
}

/** A hot standby of another server. */
export interface OwnReplica extends OwnPostgres {
  /** Ends recovery: it follows the other one no longer. */
  promote(): Promise<void>;
}

interface Place {
  /** The folder with the programs of the server. */
  readonly programs: string;
  readonly folder: string;
  readonly port: number;
}

const VERSIONS = ['17', '16', '15'];

/** @returns undefined when the programs of the server are missing. */
export function findPostgresPrograms(): string | undefined {
  return VERSIONS.map((version) => `/usr/lib/postgresql/${version}/bin`).find(existsSync);
}

export async function startOwnPostgres(programs: string, folder: string, port: number): Promise<OwnPostgres> {
  const place = { programs, folder, port };
  const data = await makeHome(place);
  await command(place, 'initdb', '-D', data, '-A', 'trust', '-U', 'root', '--no-sync');
  return startServer(place, data);
}

/** Copies a running server, and follows it. */
export async function startReplica(
  programs: string,
  folder: string,
  port: number,
  of: OwnPostgres,
): Promise<OwnReplica> {
  const place = { programs, folder, port };
  const data = await makeHome(place);
  await command(place, 'pg_basebackup', '-d', of.url, '-D', data, '-R', '-c', 'fast', '--no-sync');
  return {
    ...(await startServer(place, data)),
    promote: () => command(place, 'pg_ctl', '-D', data, '-s', '-w', 'promote'),
  };
}

async function makeHome({ folder }: Place): Promise<string> {
  const home = join(folder, 'postgres');
  await mkdir(home);
  if (isRoot()) {
    await chmod(folder, 0o755);
    await run('chown', ['postgres', home]);
  }
  return join(home, 'data');
}

/** The server refuses to run as root. */
function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function command({ programs, folder }: Place, name: string, ...options: string[]): Promise<void> {
  const path = join(programs, name);
  const [file, list] = isRoot() ? ['runuser', ['-u', 'postgres', '--', path, ...options]] : [path, options];
  await run(file, list, { cwd: folder });
}

async function startServer(place: Place, data: string): Promise<OwnPostgres> {
  const settings = `-p ${place.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=120`;
  const log = join(place.folder, 'postgres', 'log');
  const start = () => command(place, 'pg_ctl', '-D', data, '-o', settings, '-w', '-s', '-l', log, 'start');
  const end = () => command(place, 'pg_ctl', '-D', data, '-s', '-m', 'immediate', 'stop');
  await start();

  const url = `postgres://root@127.0.0.1:${place.port}/postgres`;
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  return {
    url,
    pool,
    async terminateAll() {
      const { rows } = await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
      );
      return rows.length;
    },
    async crash(work) {
      const began = performance.now();
      await end();
      try {
        await work();
      } finally {
        await start();
      }
      return performance.now() - began;
    },
    async stop() {
      await pool.end().catch(() => undefined);
      await end();
    },
  };
}
