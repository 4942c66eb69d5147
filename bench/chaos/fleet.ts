import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Processes of the self-hosted server with one database. A process that ends is started again. */
export interface Fleet {
  /** Addresses of the processes that answer. */
  urls(): readonly string[];
  /** Kills a process without a warning, unless it is starting or the only one that answers. @returns whether it did. */
  kill(place: number): boolean;
  /** Ends of processes that nothing killed. */
  readonly ends: readonly string[];
  /** Ends all processes with SIGTERM. */
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
const START_MS = 90_000;

interface Member {
  readonly url: string;
  child: ChildProcess | undefined;
  isReady: boolean;
  isKilled: boolean;
}

export async function startFleet(
  ports: readonly number[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Fleet> {
  const ends: string[] = [];
  let isStopping = false;
  const members: Member[] = ports.map((port) => ({
    url: `http://127.0.0.1:${port}`,
    child: undefined,
    isReady: false,
    isKilled: false,
  }));
  await mkdir(join(folder, 'data'), { recursive: true });

  const launch = (member: Member, place: number): void => {
    const options = ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning', MAIN];
    const child = spawn(process.execPath, [...options, 'start', '--demo'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ...environment,
        PORT: String(ports[place]),
        STORAGE_DIR: join(folder, 'data'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = createWriteStream(join(folder, `server-${place}.log`), { flags: 'a' });
    let text = '';
    child.stdout.on('data', (chunk) => {
      log.write(chunk);
      if (member.isReady) return;
      text += String(chunk);
      member.isReady = text.includes('Press Ctrl+C to stop');
    });
    child.stderr.on('data', (chunk) => log.write(chunk));
    member.child = child;
    member.isKilled = false;
    child.once('exit', (code, signal) => {
      member.isReady = false;
      member.child = undefined;
      log.end();
      if (isStopping) return;
      if (!member.isKilled) ends.push(`process ${place} ended with ${code ?? signal}`);
      setTimeout(() => !isStopping && launch(member, place), 300);
    });
  };

  const ready = async (member: Member): Promise<void> => {
    for (const end = Date.now() + START_MS; !member.isReady; await pause(50)) {
      if (Date.now() > end) throw new Error(`${member.url} did not start`);
    }
  };

  // All at once, on an empty database.
  members.forEach(launch);
  await Promise.all(members.map(ready));
  return {
    urls: () => members.filter(({ isReady }) => isReady).map(({ url }) => url),
    kill(place) {
      const member = members[place];
      const isOnly = members.filter(({ isReady }) => isReady).length < 2;
      if (member?.child === undefined || !member.isReady || isOnly) return false;
      member.isKilled = true;
      member.isReady = false;
      return member.child.kill('SIGKILL');
    },
    ends,
    async stop() {
      isStopping = true;
      await Promise.all(
        members.map(async ({ child }) => {
          if (child === undefined) return;
          const ended = new Promise((resolve) => child.once('exit', resolve));
          child.kill('SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
          await ended;
          clearTimeout(timer);
        }),
      );
    },
  };
}
