import type {
  GetAgentExecutionEventsResponse,
  GetCompletionEventsResponse,
  GetMusicGenerationEventsResponse,
  GetQuestEventsResponse,
  GetVideoGenerationEventsResponse,
} from '@questline/client/operations';
import type { Merged } from './answers.ts';

type AnyEvent = Merged<
  | GetAgentExecutionEventsResponse
  | GetCompletionEventsResponse
  | GetMusicGenerationEventsResponse
  | GetQuestEventsResponse
  | GetVideoGenerationEventsResponse
>;

/** The polled state of any kind of work. */
type LiveState = Merged<AnyEvent['state']>;

/** The fields of all events. */
export interface LiveEvent extends Omit<AnyEvent, 'state'> {
  readonly state: LiveState;
}

/** One frame of an event stream. */
export interface Frame {
  readonly id: string;
  readonly data: LiveEvent;
}

/** Splits a stream of characters into frames. Comments are left out. @returns the frames that are complete now. */
export function createFrameParser(): (more: string) => readonly Frame[] {
  let parts: string[] = [];
  return (more) => {
    if (more === '') return [];
    const last = parts.at(-1) ?? '';
    parts.push(more);
    // A frame may be megabytes in a thousand pieces: they are joined once.
    if (!`${last.slice(-1)}${more}`.includes('\n\n')) return [];
    const blocks = parts.join('').split('\n\n');
    parts = [blocks.pop() ?? ''];
    return blocks.flatMap((block) => {
      const lines = block.split('\n');
      const find = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = find('data');
      return data === undefined ? [] : [{ id: find('id') ?? '', data: JSON.parse(data) }];
    });
  };
}

/** What a client has after its frames. */
export interface Followed {
  readonly text: string;
  readonly reasoning: string;
  /** The ids of all applied events, snapshots excluded. */
  readonly ids: readonly string[];
  readonly lastId: string | undefined;
  readonly snapshots: number;
  readonly resets: number;
  /** The state of the last frame. */
  readonly end: LiveState | undefined;
  apply(frame: Frame): void;
}

/** A client that keeps the text of an answer over any number of connections. */
export function createFollower(): Followed {
  let text = '';
  let reasoning = '';
  let lastId: string | undefined;
  let snapshots = 0;
  let resets = 0;
  let end: LiveState | undefined;
  const ids: string[] = [];
  return {
    get text() {
      return text;
    },
    get reasoning() {
      return reasoning;
    },
    get lastId() {
      return lastId;
    },
    get snapshots() {
      return snapshots;
    },
    get resets() {
      return resets;
    },
    get end() {
      return end;
    },
    ids,
    apply({ id, data }) {
      lastId = id;
      if (data.type !== 'snapshot') ids.push(id);
      if (data.type === 'snapshot') {
        snapshots += 1;
        ({ text, reasoning } = data);
      } else if (data.type === 'reset-step') {
        resets += 1;
        text = data.text;
        reasoning = '';
      } else if (data.type === 'text') text += data.text;
      else if (data.type === 'reasoning') reasoning += data.text;
      else if (data.type === 'end') end = data.state;
    },
  };
}

export interface FollowRequest {
  readonly url: string;
  /** Absent: a session cookie. */
  readonly key?: string;
}

/** Follows events to their end, over any number of connections that break. Runs in Node and in pages. */
export async function followEvents({ url, key }: FollowRequest): Promise<Followed> {
  const follower = createFollower();
  while (follower.end === undefined) {
    const headers = {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(follower.lastId !== undefined && { 'Last-Event-ID': follower.lastId }),
    };
    let status: number | undefined;
    try {
      const response = await fetch(url, { headers });
      status = response.status;
      const frames = openFrames(response);
      for (let frame = await frames.next(); frame !== undefined; frame = await frames.next())
        follower.apply(frame);
    } catch {
      // The connection has broken: continue after the last frame.
    }
    // Chromium accepts a head that broke off within the status. A busy server is one more broken connection.
    if (status !== undefined && status >= 100 && status !== 200 && status !== 503)
      throw new Error(`the events answered ${status}`);
  }
  return follower;
}

/** Reads a whole response, or until `count` frames. */
export async function readFrames(response: Response, count = Number.POSITIVE_INFINITY): Promise<Frame[]> {
  const reader = openFrames(response);
  const frames: Frame[] = [];
  while (frames.length < count) {
    const frame = await reader.next();
    if (frame === undefined) break;
    frames.push(frame);
  }
  await reader.close();
  return frames;
}

/** Reads a response frame by frame. */
export function openFrames(response: Response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const parse = createFrameParser();
  const ready: Frame[] = [];
  return {
    /** @returns undefined at the end of the response. */
    async next(): Promise<Frame | undefined> {
      while (ready.length === 0) {
        const step = await reader?.read();
        if (step === undefined || step.done) return undefined;
        ready.push(...parse(decoder.decode(step.value, { stream: true })));
      }
      return ready.shift();
    },
    async close(): Promise<void> {
      await reader?.cancel();
    },
  };
}
