import { createUiEncoder } from '../src/features/chat/ui-chunks.ts';
import type { ContinuedMessage } from '../src/features/chat/ui-parts.ts';
import { toFrame } from '../src/runs/live-frames.ts';
import type { QuestRecord } from '../src/runs/records.ts';

const QUEST = {
  ...{
    id: 'q',
    kind: 'chat',
    sessionId: 's',
    ownerId: 'ada',
    status: 'done',
    request: {},
    createdAt: 0,
    updatedAt: 0,
  },
  ...{ type: 'message', text: 'hi' },
} as unknown as QuestRecord;

/** Chunks of a stream. */
export function parse(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? 'DONE' : JSON.parse(line.slice(6))));
}

/** A stream of one answer. */
export function openStream(continued?: ContinuedMessage) {
  const encoder = createUiEncoder({ id: 'q', sessionId: 's', clientTools: new Set(['ask']), continued });
  let last = 0;
  const apply = (...events: object[]) =>
    parse(
      encoder.events(
        events.map((event) => {
          last += 1;
          return { id: last, text: toFrame(last, event as never) } as never;
        }),
      ),
    );
  const end = (quest: Partial<QuestRecord> = {}, files: readonly object[] = []) =>
    parse(encoder.end({ quest: { ...QUEST, ...quest }, files: files as never }));
  const snapshot = (state: object, text: string) =>
    parse(
      encoder.snapshot(
        { last: 0, reasoning: '', tools: [], payloads: [], ...state } as never,
        { quest: QUEST, files: [] },
        text,
      ),
    );
  return { encoder, apply, end, snapshot };
}
