/** What a client asks for. */
export type Frame =
  | { readonly action: 'subscribe' | 'unsubscribe'; readonly sessionId: string }
  | { readonly action: 'heartbeat' };

/** What a client asked for that cannot be done. The socket stays open. */
export interface FrameFault {
  readonly code: 'bad_frame' | 'unknown_action' | 'not_found' | 'limit';
  readonly message: string;
  readonly sessionId: string | null;
}

const ACTIONS: ReadonlyMap<unknown, Frame['action']> = new Map([
  ['subscribe_query', 'subscribe'],
  ['unsubscribe_query', 'unsubscribe'],
  ['heartbeat', 'heartbeat'],
]);

/** Only an id that could be one is repeated. */
const ID = /^[0-9a-f]{24}$/;

export function readFrame(text: string): Frame | FrameFault {
  const frame = objectOf(parse(text));
  if (frame === undefined) return badFrame('a frame is a JSON object with action and data');
  if (typeof frame.action !== 'string') return badFrame('action must be a string');
  const action = ACTIONS.get(frame.action);
  if (action === undefined) {
    const known = [...ACTIONS.keys()].join(', ');
    return {
      code: 'unknown_action',
      message: `there is no such action; there are: ${known}`,
      sessionId: null,
    };
  }
  if (action === 'heartbeat') return { action };
  const data = objectOf(frame.data);
  if (data?.query !== 'session') return badFrame('data.query must be "session"');
  const sessionId = objectOf(data.filters)?.sessionId;
  if (typeof sessionId !== 'string') return badFrame('data.filters.sessionId must be a string');
  // What cannot be an id is the id of nothing.
  return ID.test(sessionId) ? { action, sessionId } : notFound(null);
}

export function notFound(sessionId: string | null): FrameFault {
  return { code: 'not_found', message: 'Session not found', sessionId };
}

export function badFrame(message: string): FrameFault {
  return { code: 'bad_frame', message, sessionId: null };
}

export function isFault(frame: Frame | FrameFault): frame is FrameFault {
  return 'code' in frame;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
