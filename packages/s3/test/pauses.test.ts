import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { beforeEach, expect, it, vi } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { OPTIONS, stubService } from './service.ts';

beforeEach(() => {
  const spies = [
    vi.spyOn(Math, 'random').mockReturnValue(0.5),
    vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  };
});

const busy = () => stubService((_, count) => new Response('busy', { status: count < 3 ? 503 : 404 }));

it('pauses for a part of 100 ms before the first repetition and of twice that before the second', async () => {
  const received = busy();
  await createS3Objects(OPTIONS).head('a');
  expect(vi.mocked(timers.setTimeout).mock.calls).toEqual([
    [50, undefined, { signal: received[0]?.signal }],
    [100, undefined, { signal: received[1]?.signal }],
  ]);
});

it('sends nothing before the end of the pause', async () => {
  const received = busy();
  vi.mocked(timers.setTimeout).mockRejectedValueOnce(new Error('ended'));
  await expect(createS3Objects(OPTIONS).head('a')).rejects.toThrow('the object store is unreachable');
  expect(received).toHaveLength(1);
});

it('reads the answers before a repetition to their end', async () => {
  const answers = [503, 503, 404].map((status) => new Response('text', { status }));
  stubService((_, count) => answers[count - 1] as Response);
  await createS3Objects(OPTIONS).head('a');
  expect(answers.map(({ bodyUsed }) => bodyUsed)).toEqual([true, true, false]);
});

it('pauses only after an answer has ended', async () => {
  const body = new ReadableStream({ start: (stream) => stream.error(new Error('reset')) });
  stubService(() => new Response(body, { status: 503 }));
  await expect(createS3Objects(OPTIONS).head('a')).rejects.toThrow('the object store is unreachable');
  expect(timers.setTimeout).not.toHaveBeenCalled();
});
