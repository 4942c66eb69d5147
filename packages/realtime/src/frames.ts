/** A request of a client. */
export type Frame =
  | { readonly action: 'subscribe' | 'unsubscribe'; readonly sessionId: string }
  | { readonly action: 'heartbeat' };

/** An error response to a frame. The socket stays open. */
export interface FrameIssue {
  readonly code: 'bad_frame' | 'unknown_action' | 'not_found' | 'limit';
  readonly message: string;
  readonly sessionId: string | null;
}

const ACTIONS: ReadonlyMap<unknown, Frame['action']> = new Map([
  ['subscribe_query', 'subscribe'],
  ['unsubscribe_query', 'unsubscribe'],
  ['heartbeat', 'heartbeat'],
]);

/** Only a well-formed id is repeated. */
const ID = /^[0-9a-f]{24}$/;

export function readFrame(text: string): Frame | FrameIssue {
  const frame = toObject(parse(text));
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
  const data = toObject(frame.data);
  if (data?.query !== 'session') return badFrame('data.query must be "session"');
  const sessionId = toObject(data.filters)?.sessionId;
  if (typeof sessionId !== 'string') return badFrame('data.filters.sessionId must be a string');
  // A malformed id belongs to no session.
  return ID.test(sessionId) ? { action, sessionId } : notFound(null);
}

export function notFound(sessionId: string | null): FrameIssue {
  return { code: 'not_found', message: 'Session not found', sessionId };
}

export function badFrame(message: string): FrameIssue {
  return { code: 'bad_frame', message, sessionId: null };
}

export function isFault(frame: Frame | FrameIssue): frame is FrameIssue {
  return 'code' in frame;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
