import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getExamples } from '../../test/docs/pages.ts';
import { root } from '../packages.ts';
import type { RuntimeName } from './runtimes.ts';
import { UPSTREAM_MODEL } from './upstream.ts';

const MOUNT_PAGE = 'docs/start/mount.md';
const HOSTS_PAGE = 'docs/guides/hosts.md';

export interface Program {
  readonly name: string;
  /** The page that contains the program. */
  readonly page: string;
  /** The content of each file, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Start command, unless it is a file `server.ts`. SIGTERM must stop it gracefully. */
  readonly command?: (name: RuntimeName) => string;
  /** Required environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The packages to install. */
  readonly dependencies: readonly string[];
  /** The model for the streaming test. Default `demo-echo`. */
  readonly model?: string;
  /** True if the program answers `GET /api/users` itself. */
  readonly hasOwnRoute: boolean;
  /** A module that calls the running server, by `QUESTLINE_URL` and `QUESTLINE_KEY`, and what it has to print. */
  readonly client?: { readonly name: string; readonly prints: RegExp };
  /** True if the program serves only the api and has no 404 of its own. */
  readonly isAlone?: boolean;
  /** Required compiler options. A program with options is compiled for every runtime. */
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
  /** The reason why a runtime cannot run it. */
  readonly impossible: Readonly<Partial<Record<RuntimeName, string>>>;
}

const NOT_BUN = 'needs the server of Bun';
const only = (name: RuntimeName, reason: string) => {
  const names: RuntimeName[] = ['node20', 'node22', 'node24', 'bun', 'deno'];
  return Object.fromEntries(names.filter((other) => other !== name).map((other) => [other, reason]));
};

/** The programs of the documentation, exactly as the pages show them. */
export function getPrograms(upstreamUrl: string): Program[] {
  const readme = getCode('README.md', 'Mount it');
  const api = getCode(MOUNT_PAGE, 'Mount it in your framework')[0] ?? '';
  const create = (
    name: string,
    page: string,
    heading: string,
    more: Partial<Pick<Program, 'compilerOptions' | 'impossible' | 'isAlone'>> = {},
  ): Program => {
    const [code = ''] = getCode(page, heading);
    const files: Record<string, string> = { 'server.ts': code };
    if (code.includes("'./api.ts'")) files['api.ts'] = api;
    return {
      name,
      page,
      files,
      dependencies: findDependencies(Object.values(files).join('\n')),
      hasOwnRoute: code.includes('/api/users') || code.includes("'api/users'"),
      impossible: {},
      ...more,
    };
  };
  return [
    {
      name: 'README',
      page: 'README.md',
      files: { 'server.ts': readme.join('\n') },
      dependencies: findDependencies(readme.join('\n')),
      hasOwnRoute: false,
      impossible: {},
    },
    create('Express', MOUNT_PAGE, 'Express 4 and 5'),
    create('Fastify', MOUNT_PAGE, 'Fastify 5'),
    create('Koa', MOUNT_PAGE, 'Koa 2 and 3'),
    create('node:http', MOUNT_PAGE, 'node:http'),
    create('fetch (Hono)', MOUNT_PAGE, 'Hono and other fetch-based servers'),
    create('NestJS, app.use', MOUNT_PAGE, 'NestJS on Express'),
    create('NestJS, module', HOSTS_PAGE, 'NestJS', { compilerOptions: { experimentalDecorators: true } }),
    create('Bun.serve', HOSTS_PAGE, 'Bun', { impossible: only('bun', NOT_BUN) }),
    create('Deno', HOSTS_PAGE, 'Deno'),
    create('@questline/core', 'packages/core/README.md', '@questline/core', { isAlone: true }),
    createClient(readme.join('\n')),
    createServer('server --demo'),
    // The demo provider answers in the process; this model is called over HTTP.
    createServer('server, provider', {
      environment: {
        OPENAI_API_KEY: 'sk-newcomer',
        OPENAI_BASE_URL: upstreamUrl,
        OPENAI_MODELS: UPSTREAM_MODEL,
        OPENAI_PRICES: '1/2',
      },
      model: UPSTREAM_MODEL,
    }),
  ];
}

/** The program of the client, beside the server of the README. */
function createClient(server: string): Program {
  const page = 'packages/client/README.md';
  const [client = ''] = getCode(page, '@questline/client');
  return {
    name: '@questline/client',
    page,
    files: { 'server.ts': server, 'client.ts': client },
    client: { name: 'client', prints: /^done .*rivers[\s\S]*^15 15$[\s\S]*^mine\.txt$/m },
    dependencies: findDependencies(`${server}\n${client}`),
    hasOwnRoute: false,
    impossible: {},
  };
}

function createServer(name: string, more: Pick<Program, 'environment' | 'model'> = {}): Program {
  const arguments_ = 'start --demo';
  return {
    name,
    page: 'packages/server/README.md',
    files: {},
    command: (runtime) => {
      if (runtime === 'bun') return `bunx --bun questline ${arguments_}`;
      if (runtime === 'deno') return `deno run -A node_modules/@questline/server/dist/main.js ${arguments_}`;
      return `npx questline ${arguments_}`;
    },
    dependencies: ['@questline/server'],
    hasOwnRoute: false,
    isAlone: true,
    impossible: { node20: 'needs Node 22.13, because Node 20 has no SQLite' },
    ...more,
  };
}

/** The TypeScript of a page below a heading. */
function getCode(page: string, heading: string): string[] {
  const found = getExamples(page).filter((example) => example.heading === heading);
  if (found.length === 0) throw new Error(`${page} has no program below '${heading}'`);
  return found.map(({ code }) => code);
}

/** The packages that code imports. */
function findDependencies(code: string): string[] {
  const modules = [...code.matchAll(/^(?:import|\} from) (?:.* from )?'([^'.][^']*)';$/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'));
  const names = modules.map((name) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  return [...new Set(names)].sort();
}

/** The command by which the page starts a program, by the label of the runtime in its table. */
export function getCommand(label: string): string {
  const row = new RegExp(`^\\| ${label}[^|]* \\| \`([^\`]+)\` \\|$`, 'm').exec(readPage(MOUNT_PAGE));
  if (row?.[1] === undefined) throw new Error(`${MOUNT_PAGE} has no command for ${label}`);
  return row[1];
}

/** The `tsconfig.json` that the page shows. */
export function getCompilerOptions(): { compilerOptions: Record<string, unknown>; include: string[] } {
  const [, text = ''] = /^```json\n([\s\S]*?)^```$/m.exec(readPage(MOUNT_PAGE)) ?? [];
  return JSON.parse(text);
}

function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
