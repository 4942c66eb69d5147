import { expect } from 'vitest';
import type { TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { chatting } from './chat.ts';

type Prepare = (suffix?: string, start?: boolean) => (app: TestApp) => Promise<Partial<Asked>>;

const STREAM = {
  status: 200,
  headers: {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  },
} as const;

/** The events of a record that has ended. @param prepare makes the record, and the path to it. */
export function eventCases(prepare: Prepare, noun: string): readonly WireCase[] {
  const ended = (id?: string) => async (app: TestApp) => ({
    ...(await prepare('/events', true)(app)),
    ...(id !== undefined && { headers: { 'Last-Event-ID': id } }),
  });
  const message = 'must be the id of a frame: a whole number, or `end`';
  return [
    {
      title: 'sends a new reader a snapshot and the end',
      app: chatting(),
      ask: ended(),
      ...STREAM,
      body: expect.stringMatching(
        /^: keep-alive\n\nid: \d+\ndata: \{"type":"snapshot",.*"text":"Hello\.".*\}\n\nid: end\ndata: \{"type":"end","state":\{.*\}\}\n\n$/,
      ),
      everywhere: true,
    },
    {
      title: 'continues after the last frame of a reader',
      app: chatting(),
      ask: ended('1'),
      ...STREAM,
      body: expect.stringMatching(/^: keep-alive\n\nid: 2\ndata: \{"type":"text","text":"Hello\."\}\n\n/),
    },
    {
      title: 'has nothing for a reader that has the end',
      app: chatting(),
      ask: ended('end'),
      status: 204,
      body: '',
      everywhere: true,
    },
    {
      title: 'answers 422 for a malformed Last-Event-ID',
      app: chatting(),
      ask: ended('first'),
      ...refused('public', {
        status: 422,
        message: `Last-Event-ID: ${message}`,
        details: [{ path: 'Last-Event-ID', message }],
      }),
    },
    {
      title: 'answers 404 for an unknown id',
      app: chatting(),
      ...refused('public', { status: 404, message: `${noun} not found` }),
      everywhere: true,
    },
  ];
}
