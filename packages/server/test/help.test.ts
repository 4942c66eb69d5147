import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../src/environment/variables.ts';
import { outcome } from './command.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

describe('command-line help', () => {
  const cases: readonly (readonly [string[], number, 'stdout' | 'stderr', RegExp])[] = [
    [[], 0, 'stdout', /^Usage: questline <command>[\s\S]+ start {2}/],
    [['--help'], 0, 'stdout', /^Usage: questline <command>/],
    [['start', '--help'], 0, 'stdout', /^Usage: questline start \[options\][\s\S]+--demo/],
    [['start', '--nonsense', '--help'], 0, 'stdout', /^Usage: questline start/],
    [['keys'], 0, 'stdout', /^Usage: questline keys <command>[\s\S]+ keys revoke {2}/],
    [['users', '--help'], 0, 'stdout', /^Usage: questline users <command>[\s\S]+ users promote {2}/],
    [
      ['credits', 'grant', '--help'],
      0,
      'stdout',
      /^Usage: questline credits grant EMAIL CREDITS \[options\]/,
    ],
    [['doctor', '--help'], 0, 'stdout', /^Usage: questline doctor \[options\][\s\S]+--json/],
    [
      ['keys', 'make'],
      2,
      'stderr',
      /^questline: unknown command 'keys make'; known commands: keys create, keys list, keys revoke\n$/,
    ],
    [['--version'], 0, 'stdout', new RegExp(`^${version.replaceAll('.', '\\.')}\n$`)],
    [
      ['stop'],
      2,
      'stderr',
      /^questline: unknown command 'stop'; known commands: start, migrate, doctor, keys create, .*\n$/,
    ],
    [
      ['--verison'],
      2,
      'stderr',
      /^questline: questline: unknown option --verison; known options: --version, --help\n$/,
    ],
    [
      ['start', '--prot', '1'],
      2,
      'stderr',
      /unknown option --prot; known options: --demo, --port, --host, --help\n {2}questline start: unexpected argument '1'\n$/,
    ],
    [['start', '--port'], 2, 'stderr', /^questline: --port: missing value, use --port N\n$/],
    [['start', '--demo=yes'], 2, 'stderr', /^questline: --demo takes no value\n$/],
    [['start', 'now'], 2, 'stderr', /^questline: questline start: unexpected argument 'now'\n$/],
    [['start', '--port', 'x'], 1, 'stderr', /^questline: PORT: expected a whole number/],
  ];

  for (const [args, code, stream, text] of cases) {
    it(`prints the help of questline ${args.join(' ')}`, async () => {
      const result = await outcome(args);
      expect(result.code).toBe(code);
      expect(result[stream]).toMatch(text);
      expect(result[stream === 'stdout' ? 'stderr' : 'stdout']).toBe('');
    });
  }

  it('names every variable in the help of start', async () => {
    const { stdout } = await outcome(['start', '--help']);
    for (const { name } of VARIABLES) expect(stdout).toContain(`  ${name} `);
  });
});
