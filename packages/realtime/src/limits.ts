/** Limits per socket and per user. */
export const LIMITS = {
  frameBytes: 32 * 1024,
  subscriptions: 50,
  socketsPerUser: 10,
  silenceMs: 10 * 60_000,
  /** Bytes written but not read by the client yet. */
  unsentBytes: 1024 * 1024,
  /** Frames of a client in the queue; reading pauses beyond this. */
  waitingFrames: 16,
  /** Queued events of one socket. */
  waitingEvents: 256,
  /** Handshakes whose credential is being looked up. */
  waitingHandshakes: 1000,
} as const;

/** How often the credential and the last activity of every socket are checked. */
export const CHECK_EVERY_MS = 2000;

/** Timeout for the close frame of the other side, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 1000;

/** Why a socket was closed. */
export const CLOSED = {
  goingAway: { code: 1001, reason: 'the server is about to restart' },
  slow: { code: 1013, reason: 'too much is waiting to be read' },
  ended: { code: 4401, reason: 'the credential has ended' },
  silent: { code: 4408, reason: 'nothing was said for too long' },
  tooMany: { code: 4429, reason: 'too many connections of this user' },
} as const;

export type Closing = (typeof CLOSED)[keyof typeof CLOSED];
