/** Checks names, comments, docs, messages and test titles for words that the style replaces. Usage: check-words.ts [path …] */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './packages.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Files to which it applies. Default: all. */
  readonly files?: RegExp;
}

const CODE = /\.(?:ts|tsx|mts|mjs|js)$/;

const RULES: readonly Rule[] = [
  {
    // `'nobody';` is a stored value.
    pattern: /\b(?:whoever|nobody|somebody|anybody)\b(?!';)/gi,
    instead: 'name the role: user, caller, client, owner, "no process"',
  },
  { pattern: /\b(?:tells|told)\b/gi, instead: 'reports, returns, publishes, shows, says' },
  // `demo-film` begins the stored ids of demo jobs.
  { pattern: /(?<!demo-)\bfilms?\b/gi, instead: 'video' },
  {
    pattern: /\b(?:MOST|LONGEST|DEEPEST|FEWEST|SHORTEST|USUAL)(?:_[A-Z]|\b)/g,
    instead: 'MAX_, MIN_, DEFAULT_',
    files: CODE,
  },
  {
    pattern: /\bexport (?:async )?(?:function\*?|const|class|interface|type) \w+Of\b/g,
    instead: 'begin with a verb: getText, parseSize, toWire',
    files: CODE,
  },
  {
    pattern: /(?:\/\/|\/?\*\*?) (?:So long|What is|Of an?|Whose)\b/g,
    instead: 'begin the comment with its subject or its verb',
    files: CODE,
  },
  { pattern: /\bquestline_part_up\b/g, instead: 'questline_dependency_up' },
  { pattern: /\bthe condition on \w+ is none\b/g, instead: 'invalid condition on `X`' },
  { pattern: /\b\w+(?:Wish|Terms)\b/g, instead: '…Request, …Input or …Options', files: CODE },
];

/** Replaced names in code. Strings and comments may contain these words. */
const NAMES: Readonly<Record<string, string>> = {
  BELIEVED_MS: 'CACHE_TTL_MS',
  Believed: 'CacheEntry',
  BoundedMap: 'lru-cache',
  Desk: 'RunContext',
  createDesk: 'createRunContext',
  desk: 'run',
  atDesk: 'withWorkspace',
  DESK_NOTES: 'WORKSPACE_NOTES',
  Talk: 'ModelSession',
  createTalk: 'createModelSession',
  Scene: 'TurnInput',
  openScene: 'loadTurnInput',
  Board: 'PlanProgress',
  createBoard: 'createPlanProgress',
  Journal: 'ProgressWriter',
  createJournal: 'createProgressWriter',
  QuestNotices: 'QuestEvents',
  Intake: 'AdmissionControl',
  intake: 'admissionControl',
  Chore: 'PeriodicTask',
  chore: 'periodicTask',
  chores: 'periodicTasks',
  tend: 'maintain',
  putAway: 'cleanUp',
  Asking: 'Submission',
  Storing: 'ResultStorage',
  Kept: 'ResultStorage',
  timeLimit: 'withTimeout',
  untilAborted: 'abortable',
  lookAgain: 'retryAfterDelay',
  RunAgain: 'Reschedule',
  Prolong: 'ExtendLease',
  prolong: 'extendLease',
  Alarm: 'JobNotifier',
  Turns: 'Mutex, RoundRobin',
  Patience: 'CallTimeout',
  RedisLink: 'RedisConnection',
  Wording: 'DialectExpressions',
  Mistake: 'CliError',
  Surroundings: 'CommandContext',
  Look: 'Check',
  looksAt: 'checks',
  Door: 'ProviderEndpoint',
  DOORS: 'PROVIDER_ENDPOINTS',
  ModelCallWatch: 'ModelCallSpan',
  RequestsWatch: 'RequestsObserver',
  Told: 'instrument',
  carryingQueue: 'propagateContext',
  CARRIED: 'TRACE_CONTEXT',
  tellOfAgents: 'publishAgents',
  wish: 'input',
  Switches: 'AdminSettingsReader',
  switches: 'adminSettings',
  DueCharge: 'PendingCharge',
  settleDue: 'settlePending',
  OpenStepNote: 'PaidStepRecord',
  CallNote: 'ModelCallRecord',
  intentionOf: 'holdIntent',
  clearLeftovers: 'recoverPaidSteps',
  insist: 'withRetry',
  eventually: 'lazyIterator',
  firstWord: 'firstChunk',
  hear: 'onPart',
  speaksOfTools: 'usesTools',
  takeOut: 'removeFile',
  letIn: 'grant',
  shutOut: 'revoke',
  takeBack: 'withdraw',
  Sight: 'Visibility',
  sightOf: 'getVisibility',
  seenUser: 'visibleUser',
  takePlace: 'acquireSlot',
  standInsFor: 'fallbackModels',
  askModels: 'generateWithFallback',
  askInTurn: 'generateWithFallback',
  askOnce: 'generateOnce',
  World: 'TestApp',
  Town: 'Workload',
  Errand: 'Scenario',
  errand: 'scenario',
  doors: 'rejections',
  belongings: 'ownedResources',
  books: 'ledgerAudit',
  faulty: 'invalid',
  FOUNDERS: 'FIRST_ADMIN',
  THE_FIRST: 'FIRST_ADMIN_ID',
  handOver: 'transfer',
  questline_part_up: 'questline_dependency_up',
};
/** Stored field names, allowed only in the mapping of their record. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  tendAt: 'nextCheckAt',
  asker: 'submittedBy',
};
const STORED_MAPPINGS = /^packages\/core\/src\/features\/media-jobs\/stored(?:\.test)?\.ts$/;

function findNames(file: string, text: string): string[] {
  if (!/\.tsx?$/.test(file)) return [];
  const names: Readonly<Record<string, string>> = STORED_MAPPINGS.test(file)
    ? { ...NAMES, wish: '' }
    : { ...NAMES, ...STORED_NAMES };
  const found: string[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, getScriptKind(file));
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && Object.hasOwn(names, node.text) && names[node.text] !== '') {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      found.push(`${file}:${line}: "${node.text}": write ${names[node.text]}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function getScriptKind(file: string): ts.ScriptKind {
  return file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

const EXTENSIONS = /\.(?:ts|tsx|mts|mjs|js|md|css|html)$/;
/** Files that quote the words. */
const QUOTES = new Set(['scripts/check-words.ts', 'docs/glossary.md', 'CHANGELOG.md']);
/** Written from the contracts, which are checked. A description becomes a comment there. */
const GENERATED = new Set(['packages/client/src/operations.ts']);

function listFiles(paths: readonly string[]): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  return listed
    .split('\n')
    .filter((file) => EXTENSIONS.test(file) && !QUOTES.has(file) && !GENERATED.has(file));
}

function findWords(file: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      RULES.filter(({ files }) => files?.test(file) ?? true).flatMap(({ pattern, instead }) =>
        [...line.matchAll(pattern)].map(([word]) => `${file}:${index + 1}: "${word}": write ${instead}`),
      ),
    );
}

const found = listFiles(process.argv.slice(2)).flatMap((file) => {
  try {
    const text = readFileSync(join(root, file), 'utf8');
    return [...findWords(file, text), ...findNames(file, text)];
  } catch (error) {
    // A file that is deleted but not committed is still listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
});
for (const line of found) console.log(line);
console.log(found.length === 0 ? 'no replaced words' : `${found.length} words to replace`);
process.exitCode = found.length === 0 ? 0 : 1;
