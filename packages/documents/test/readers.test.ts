import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isExtractionError, type TextExtractor } from '@questline/core/ports';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDocumentExtractor, type DocumentExtractorOptions } from '../src/index.ts';
import { HOSTILE_KINDS, makeEndlessPdf, makeHostileFiles, makeTinyBomb } from './hostile.ts';
import { makePdf, makeWord } from './make.ts';

const PDF = { mimeType: 'application/pdf', name: 'a' };
const WORD = {
  mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  name: 'a',
};
const HTML = { mimeType: 'text/html', name: 'a' };
const MIB = 2 ** 20;
/** One kind of each attack; the run against a server uses all kinds. */
const SAMPLED = new Set([
  'nested filters',
  'objects',
  'nested forms',
  'images',
  'fonts (cmap)',
  'lying sizes',
  'html (depth)',
]);
/** Paragraphs of a large document: a second of work, and many megabytes. */
const MANY = Array.from({ length: 10_000 }, (_, number) => `Paragraph ${number} says a few words.`);

const open: TextExtractor[] = [];
afterEach(() => Promise.all(open.splice(0).map((extractor) => extractor.close?.())));

function setUp(options?: DocumentExtractorOptions): TextExtractor {
  const extractor = createDocumentExtractor(options);
  open.push(extractor);
  return extractor;
}

/** IDs of running child processes of a process, by default this one. Linux only. */
function findChildren(parent = process.pid): readonly number[] {
  const task = `/proc/${parent}/task/${parent}/children`;
  return readFileSync(task, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** The fields of a process after its name, from its state on; none when it is gone. Linux only. */
function readState(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

/** Whether a process has not ended; the system may keep the record of one that has. */
const isRunning = (pid: number): boolean => /^[^ZX]/.test(readState(pid)[0] ?? '');

/** Hundredths of a second of processor time of a process. A reader needs fewer to start. */
const getTicks = (pid: number): number => Number(readState(pid)[11] ?? 0);
const BUSY_TICKS = 150;
const hasProc = existsSync(`/proc/${process.pid}/task/${process.pid}/children`);

describe('document reader processes', () => {
  it.each([
    ['a PDF', makePdf(MANY.slice(0, 1000)), PDF, 'Paragraph 999 says'],
    ['a Word file', makeWord(MANY), WORD, 'Paragraph 9999 says'],
    [
      'a page',
      Buffer.from(
        MANY.map((text) => `<p>${text}</p>`)
          .join('')
          .repeat(10),
      ),
      HTML,
      'Paragraph 9999 says',
    ],
  ])('keep the host responsive while %s is read', async (_, bytes, type, last) => {
    const one = setUp();
    // The start of a reader is not measured.
    await one.extract(bytes, type);
    const [start, before] = [performance.now(), process.threadCpuUsage()];
    const { text } = await one.extract(bytes, type);
    const { user, system } = process.threadCpuUsage(before);
    expect(text).toContain(last);
    // Processor time of the host's thread, because other processes may need the core: it reads nothing itself.
    expect((user + system) / 1000).toBeLessThan((performance.now() - start) / 2);
  });

  it('end when one document exceeds the native memory limit, without affecting others', async () => {
    const small = setUp({ maxMemoryBytes: 192 * MIB, maxDecodedBytes: 8192 * MIB });
    const bomb = makeTinyBomb();
    expect(bomb.bytes.length).toBeLessThan(1000);
    const before = process.memoryUsage.rss();
    const outcomes = await Promise.allSettled([
      small.extract(makePdf(['before']), PDF),
      small.extract(bomb.bytes, PDF),
      small.extract(makePdf(['after']), PDF),
    ]);
    expect(outcomes).toMatchObject([
      { value: { text: 'before' } },
      { reason: { kind: 'limit', message: 'it takes more than 192 MiB of memory to read' } },
      { value: { text: 'after' } },
    ]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
  });

  it('end when a document decompresses to too much', async () => {
    const small = setUp({ maxDecodedBytes: 10 * MIB, maxMemoryBytes: 1024 * MIB });
    await expect(small.extract(makeTinyBomb(256).bytes, PDF)).rejects.toMatchObject({
      kind: 'limit',
      message: 'it unpacks to more than 10 MiB',
    });
  });

  it('stop at the text limit', async () => {
    const short = setUp({ maxTextBytes: 1000 });
    for (const [bytes, type] of [
      [makePdf(MANY.slice(0, 100)), PDF],
      [makeWord(MANY), WORD],
      [Buffer.from(`<p>${MANY.join(' ')}`), HTML],
    ] as const) {
      await expect(short.extract(bytes, type)).rejects.toMatchObject({
        kind: 'limit',
        message: 'it has more than 1000 bytes of text',
      });
    }
  });

  it('end when a document exceeds its time limit', async () => {
    const hasty = setUp({ maxMs: 1 });
    const tooLong = { reason: { kind: 'limit', message: 'it takes longer than 0.001 s to read' } };
    const both = [hasty.extract(makeWord(MANY), WORD), hasty.extract(makeWord(MANY), WORD)];
    expect(await Promise.allSettled(both)).toMatchObject([tooLong, tooLong]);
  });

  it('stop running and waiting documents on abort', async () => {
    const one = setUp({ readers: 1 });
    const [read, wait] = [new AbortController(), new AbortController()];
    const outcomes = Promise.allSettled([
      one.extract(makeWord(MANY), WORD, { signal: read.signal }),
      one.extract(makePdf(['waiting']), PDF, { signal: wait.signal }),
      one.extract(makePdf(['last']), PDF),
    ]);
    wait.abort(new Error('not that one'));
    read.abort(new Error('nor that'));
    expect(await outcomes).toMatchObject([
      { reason: new Error('nor that') },
      { reason: new Error('not that one') },
      { value: { text: 'last' } },
    ]);
  });

  it('serve one owner while another keeps a reader busy', async () => {
    const two = setUp({ readers: 2 });
    const stop = new AbortController();
    const slow = makeHostile('nested forms');
    const hostile = Array.from({ length: 4 }, () =>
      two.extract(slow, PDF, { owner: 'mallory', signal: stop.signal }).catch(() => undefined),
    );
    expect(await two.extract(makePdf(['mine']), PDF, { owner: 'bob' })).toMatchObject({ text: 'mine' });
    stop.abort();
    await Promise.all(hostile);
  });

  it.runIf(hasProc)('reuse one warm process and leave none after close', async () => {
    const before = findChildren();
    const one = setUp();
    const own = () => findChildren().filter((pid) => !before.includes(pid));
    // The first reader is measured with one document.
    await one.extract(makePdf(['0']), PDF);
    await one.extract(makePdf(['1']), PDF);
    const [first] = own();
    await one.extract(makePdf(['2']), PDF);
    expect(own()).toEqual([first]);
    await one.close?.();
    expect(own()).toEqual([]);
    expect(await one.extract(makePdf(['again']), PDF)).toMatchObject({ text: 'again' });
  });

  it.runIf(hasProc)('receive no environment variables', async () => {
    const before = findChildren();
    const one = setUp();
    await one.extract(makePdf(['0']), PDF);
    await one.extract(makePdf(['1']), PDF);
    const [reader] = findChildren().filter((pid) => !before.includes(pid));
    expect(
      readFileSync(`/proc/${reader}/environ`, 'utf8').replace(
        /\bPWD=[^\0]*\0?|_=[^\0]*\0?|OLDPWD=[^\0]*\0?/g,
        '',
      ),
    ).toBe('');
  });

  it('let the host process exit and end with it', { timeout: 60_000 }, async () => {
    const program = `
      import { createDocumentExtractor } from '@questline/documents';
      const page = { mimeType: 'text/html', name: 'page' };
      const { text } = await createDocumentExtractor().extract(Buffer.from('<p>Hello</p>'), page);
      console.log(text);`;
    const parameters = ['--conditions=@questline/source', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, parameters, {
      cwd: join(import.meta.dirname, '..'),
    });
    expect(stdout).toBe('Hello\n');
  });

  it.runIf(hasProc)('end with a host that is killed while they read', { timeout: 60_000 }, async () => {
    const program = `
      import { readFileSync } from 'node:fs';
      import { createDocumentExtractor } from '@questline/documents';
      const extractor = createDocumentExtractor({ maxMs: 600_000 });
      const pdf = { mimeType: 'application/pdf', name: 'a' };
      await extractor.extract(readFileSync(0), pdf);`;
    const parameters = ['--conditions=@questline/source', '--input-type=module', '-e', program];
    const host = spawn(process.execPath, parameters, { cwd: join(import.meta.dirname, '..') });
    onTestFinished(() => void host.kill('SIGKILL'));
    host.stdin.end(makeEndlessPdf().bytes);
    const findReader = () => findChildren(host.pid).find((pid) => getTicks(pid) >= BUSY_TICKS);
    const reader = await vi.waitUntil(findReader, { timeout: 40_000 });
    onTestFinished(() => {
      if (isRunning(reader)) process.kill(reader, 'SIGKILL');
    });
    host.kill('SIGKILL');
    await vi.waitUntil(() => !isRunning(reader), { timeout: 15_000 });
  });

  it('read or reject every kind of hostile document, then read the next one', {
    timeout: 600_000,
  }, async () => {
    const one = setUp({ maxMemoryBytes: 192 * MIB, maxMs: 3000 });
    /** On a busy machine no reader may start in time: such a document is read again. */
    const read = async (...given: Parameters<TextExtractor['extract']>): Promise<unknown> => {
      const outcome = await one.extract(...given).then(
        ({ text }) => ({ text }),
        (error: unknown) => (isExtractionError(error) ? error.kind : error),
      );
      return outcome === 'unavailable' ? read(...given) : outcome;
    };
    for (const file of makeHostileFiles(30, 0.02)) {
      if (!SAMPLED.has(file.kind)) continue;
      const outcome = await read(file.bytes, file, { owner: 'mallory' });
      if (typeof outcome !== 'object') expect(['limit', 'unreadable'], file.kind).toContain(outcome);
      else expect(outcome, file.kind).toEqual({ text: expect.any(String) });
    }
    expect(await read(makePdf(['after']), PDF, { owner: 'bob' })).toEqual({ text: 'after' });
  });
});

function makeHostile(kind: string): Buffer {
  for (const file of makeHostileFiles(HOSTILE_KINDS, 0.02)) if (file.kind === kind) return file.bytes;
  throw new Error(`no hostile file of the kind ${kind}`);
}
