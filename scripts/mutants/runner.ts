import { appendFileSync, writeFileSync } from 'node:fs';
import { type RunnerTask, type RunnerTestCase, TestRunner } from 'vitest';
import { type Progress, readPlan } from './plan.ts';
import { installSwitch } from './switch.ts';

const plan = readPlan();
const mutants = installSwitch(plan.alone);
const done = new Set<number>(plan.done);
/** How many tests have tried a change. */
const tries = new Map<number, number>();
const { maxTries = Number.POSITIVE_INFINITY } = plan;
/** The clock and the timers of the machine: a test may have replaced those of the process. */
const { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: atNextTurn } = globalThis;
const readClock = performance.now.bind(performance);
const readDate = Date.now.bind(Date);

/** Milliseconds of a try with a change: ten times those without it, and at least so many. */
const MIN_TRY_MS = 3_000;

type TryOptions = Parameters<TestRunner['onBeforeTryTask']>[1];

interface Trial {
  /** The changes that this test reaches and no test has found. */
  left: number[];
  stage: 'first' | 'again' | 'changed' | 'after' | 'later';
  /** Milliseconds of the longest try without a change. */
  duration: number;
}

/**
 * Repeats each test with every change that it reaches: first without a change, to see what it reaches; once more, to see
 * that it can be repeated; then once per change, until a test fails.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads the default export of a runner.
export default class MutantsRunner extends TestRunner {
  readonly #trials = new WeakMap<object, Trial>();
  #last: number | undefined;

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    // `test.fails`: it fails with and without a change.
    if (test.type !== 'test' || plan.alone !== undefined || test.fails === true) return;
    test.repeats = Number.MAX_SAFE_INTEGER;
    test.retry = 0;
    this.#trials.set(test, { left: [], stage: 'first', duration: 0 });
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TryOptions): void {
    super.onBeforeTryTask(test, options);
    const trial = this.#trials.get(test);
    if (trial === undefined) return;
    test.result?.attempts?.splice(0);
    // An assertion that still waits since an earlier try would be waited for.
    test.promises = [];
    // What was reached before the first try: modules that load, and set-up of the file.
    if (trial.stage === 'first') report({ loaded: mutants.reached() });
    mutants.clear();
    if (trial.stage !== 'changed') {
      writeProgress({ after: this.#last, test: test.name, since: readDate() });
      return;
    }
    const [next] = trial.left;
    if (next === undefined) test.context.skip('every change was tried');
    else this.#begin(next, test);
  }

  /** Ends the wait for a test that hangs with a change; a test that is only slow keeps its time. */
  async runTask(test: RunnerTestCase): Promise<void> {
    const trial = this.#trials.get(test);
    const work = TestRunner.getTestFn(test);
    const started = readClock();
    if (trial === undefined || mutants.active() === undefined) {
      await work();
      if (trial !== undefined) trial.duration = Math.max(trial.duration, readClock() - started);
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      const ms = Math.max(MIN_TRY_MS, 10 * trial.duration);
      timer = startTimer(() => reject(new Error('the test hangs')), ms);
    });
    await Promise.race([work(), limit]).finally(() => stopTimer(timer));
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const trial = this.#trials.get(test);
    if (trial === undefined || test.result?.state === 'skip') return;
    // What goes on without an end stops the process here, while the change is to blame.
    if (mutants.active() !== undefined) await new Promise((resolve) => atNextTurn(resolve));
    const hasFailed = test.result?.state === 'fail' || mutants.hasUnhandled();
    const active = mutants.active();
    mutants.activate(undefined);
    if (test.result !== undefined) delete test.result.errors;
    this.#proceed(test, trial, hasFailed, active);
  }

  override onAfterRunFiles(files: Parameters<TestRunner['onAfterRunFiles']>[0]): void {
    super.onAfterRunFiles(files);
    report({ ended: files.map(({ filepath }) => filepath) });
  }

  #begin(id: number, test: RunnerTestCase): void {
    this.#last = id;
    tries.set(id, countTries(id) + 1);
    writeProgress({ id, test: test.name, since: readDate() });
    mutants.activate(id);
  }

  #proceed(test: RunnerTestCase, trial: Trial, hasFailed: boolean, active: number | undefined): void {
    if (trial.stage === 'first') {
      const reached = mutants.reached();
      report({ reached });
      trial.left = reached.filter((id) => !done.has(id) && countTries(id) < maxTries);
      trial.stage = hasFailed || trial.left.length === 0 ? 'changed' : 'again';
      if (hasFailed) {
        report({ unusable: test.name, why: 'fails without a change' });
        trial.left = [];
      }
      return;
    }
    if (trial.stage === 'after' && hasFailed) {
      // What the change has begun, such as a transaction with locks, may end meanwhile.
      trial.stage = 'later';
      return;
    }
    if (trial.stage !== 'changed') {
      // A test that depends on its first run says nothing about changes.
      if (hasFailed) {
        report({ unusable: test.name, why: trial.stage });
        trial.left = [];
      }
      trial.stage = 'changed';
      return;
    }
    trial.left.shift();
    if (!hasFailed || active === undefined) return;
    done.add(active);
    report({ killed: active, test: test.name });
    trial.stage = 'after';
  }
}

function countTries(id: number): number {
  return tries.get(id) ?? 0;
}

/** Says that the process makes progress, and which change to blame if it ends. */
function writeProgress(progress: Progress): void {
  writeFileSync(plan.currentFile, JSON.stringify(progress));
}

function report(line: object): void {
  appendFileSync(plan.resultsFile, `${JSON.stringify(line)}\n`);
}
