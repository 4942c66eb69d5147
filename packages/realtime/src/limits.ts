/** What one socket, or one user, may take. @see open points, 5 */
export const LIMITS = {
  frameBytes: 32 * 1024,
  subscriptions: 50,
  socketsPerUser: 10,
  silenceMs: 10 * 60_000,
  /** Written but not taken by the reader yet. */
  unsentBytes: 1024 * 1024,
  /** Frames of a client that wait for the one before; more are not read until some are done. */
  waitingFrames: 16,
  /** Events that wait to be looked at for one socket. */
  waitingEvents: 256,
  /** Handshakes that wait for their credential to be looked up. */
  waitingHandshakes: 1000,
} as const;

/** How often every open socket's credential is asked for anew, and its silence measured. */
export const CHECK_EVERY_MS = 2000;

/** So long the other end gets to say good-bye. */
export const FAREWELL_MS = 1000;

/** Why a socket was closed. */
export const CLOSED = {
  goingAway: { code: 1001, reason: 'the server is about to restart' },
  slow: { code: 1013, reason: 'too much is waiting to be read' },
  ended: { code: 4401, reason: 'the credential has ended' },
  silent: { code: 4408, reason: 'nothing was said for too long' },
  tooMany: { code: 4429, reason: 'too many connections of this user' },
} as const;

export type Closing = (typeof CLOSED)[keyof typeof CLOSED];
