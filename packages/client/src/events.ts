import { QuestlineError } from './error.ts';

/** One server-sent event. */
export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** The events of a stream. Can be read once; leaving the loop closes the connection. */
export interface EventStream<T> extends AsyncIterable<T> {
  /** The id of the last frame that was read, to go on after it. Undefined: the stream has no ids. */
  readonly lastId: string | undefined;
  /** Closes the connection of a stream that is not read to its end. */
  cancel(): Promise<void>;
}

/** The events that a reader of a stream gets: its end and its failure are no events, because the loop ends or throws. */
export type Frame<T> = Exclude<T, '[DONE]' | { readonly type: 'error' }>;

const BLOCK_END = /\r?\n\r?\n|\r\r/;
/** Characters of a `BLOCK_END` that an earlier piece can end with. */
const MAX_BEGUN = 3;

/** Splits pieces of a text at its empty lines. @returns the blocks that are complete now. */
function createSplitter(): (piece: string) => readonly string[] {
  let pieces: string[] = [];
  let tail = '';
  return (piece) => {
    pieces.push(piece);
    const unseen = tail + piece;
    tail = unseen.slice(-MAX_BEGUN);
    // A block of many pieces is searched and joined once.
    if (!BLOCK_END.test(unseen)) return [];
    const blocks = pieces.join('').split(BLOCK_END);
    pieces = [blocks.pop() ?? ''];
    return blocks;
  };
}

/** Reads server-sent events. `next` rejects if the connection breaks off. */
function readServerEvents(response: Response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const split = createSplitter();
  let blocks: Iterator<string> = [].values();
  const cancel = async (): Promise<void> => {
    // A connection that has broken off cannot be closed.
    await reader?.cancel().catch(() => undefined);
  };
  const next = async (): Promise<IteratorResult<ServerEvent, undefined>> => {
    for (;;) {
      for (let block = blocks.next(); block.done !== true; block = blocks.next()) {
        const event = parseEvent(block.value);
        if (event !== undefined) return { done: false, value: event };
      }
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      // An event without the empty line at its end is incomplete.
      if (done) return { done: true, value: undefined };
      blocks = split(decoder.decode(value, { stream: true })).values();
    }
  };
  return { cancel, next };
}

function parseEvent(text: string): ServerEvent | undefined {
  const fields: Record<string, string> = {};
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? [];
    // A line that begins with a colon is a comment.
    if (name !== undefined)
      fields[name] = name === 'data' && 'data' in fields ? `${fields.data}\n${value}` : value;
  }
  const { id, event, data } = fields;
  return data === undefined ? undefined : { id, event, data };
}

interface ErrorEvent {
  readonly type?: unknown;
  readonly message?: string;
  readonly requestId?: string;
  readonly request_id?: string;
  readonly code?: string;
  readonly errorCode?: string;
  readonly credits?: { readonly used: number };
}

/**
 * The frames of a stream, which ends with `[DONE]` or a frame of type `end`. An `error` frame and an earlier end reject with a
 * QuestlineError.
 */
export function readFrames(response: Response, signal: AbortSignal | undefined): EventStream<unknown> {
  const events = readServerEvents(response);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  let isOver = false;
  let hasEnd = false;
  let lastId: string | undefined;
  const end = async (): Promise<IteratorResult<unknown, undefined>> => {
    isOver = true;
    await events.cancel();
    return { done: true, value: undefined };
  };
  const iterator = {
    async next(): Promise<IteratorResult<unknown, undefined>> {
      if (isOver) return { done: true, value: undefined };
      let event: IteratorResult<ServerEvent>;
      try {
        event = await events.next();
      } catch (cause) {
        isOver = true;
        signal?.throwIfAborted();
        throw interrupted(requestId, cause);
      }
      if (event.done === true) {
        if (hasEnd) return end();
        isOver = true;
        signal?.throwIfAborted();
        throw interrupted(requestId);
      }
      const { data, id } = event.value;
      if (data === '[DONE]') return end();
      const frame = JSON.parse(data) as ErrorEvent;
      lastId = id ?? lastId;
      hasEnd = frame.type === 'end';
      if (frame.type !== 'error') return { done: false, value: frame };
      await end();
      throw new QuestlineError(frame.message ?? 'The stream failed.', {
        code: frame.code ?? frame.errorCode,
        requestId: frame.requestId ?? frame.request_id ?? requestId,
        charge: frame.credits && { credits: frame.credits.used },
        body: frame,
      });
    },
    return: end,
  };
  return {
    get lastId() {
      return lastId;
    },
    cancel: async () => void (await end()),
    [Symbol.asyncIterator]: () => iterator,
  };
}

function interrupted(requestId: string | undefined, cause?: unknown): QuestlineError {
  return new QuestlineError('The connection broke off before the end of the stream.', {
    code: 'stream_interrupted',
    requestId,
    cause,
  });
}
