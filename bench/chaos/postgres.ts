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
  /** Ends without a checkpoint, as after a crash, and starts again after a pause. @returns milliseconds away. */
  crash(awayMs: number): Promise<number>;
  stop(): Promise<void>;
}

const VERSIONS = ['17', '16', '15'];

/** @returns undefined when the programs of the server are missing. */
export function findPostgresPrograms(): string | undefined {
  return VERSIONS.map((version) => `/usr/lib/postgresql/${version}/bin`).find(existsSync);
}

export async function startOwnPostgres(programs: string, folder: string, port: number): Promise<OwnPostgres> {
  // The server refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const command = async (name: string, ...options: string[]): Promise<void> => {
    const path = join(programs, name);
    const [file, list] = isRoot ? ['runuser', ['-u', 'postgres', '--', path, ...options]] : [path, options];
    await run(file, list, { cwd: folder });
  };
  const home = join(folder, 'postgres');
  await mkdir(home);
  if (isRoot) {
    await chmod(folder, 0o755);
    await run('chown', ['postgres', home]);
  }
  const data = join(home, 'data');
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=120`;
  const start = () =>
    command('pg_ctl', '-D', data, '-o', settings, '-w', '-s', '-l', join(home, 'log'), 'start');
  await command('initdb', '-D', data, '-A', 'trust', '-U', 'root', '--no-sync');
  await start();

  const url = `postgres://root@127.0.0.1:${port}/postgres`;
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
    async crash(awayMs) {
      const began = performance.now();
      await command('pg_ctl', '-D', data, '-s', '-m', 'immediate', 'stop');
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await start();
      return performance.now() - began;
    },
    async stop() {
      await pool.end().catch(() => undefined);
      await command('pg_ctl', '-D', data, '-s', '-m', 'immediate', 'stop');
    },
  };
}
