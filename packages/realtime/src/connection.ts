import type { Caller } from '@questline/core';
import {
  canReadSession,
  type PublishedAgentEvent,
  SESSIONS,
  type SessionRecord,
} from '@questline/core/internal';
import type { Collection } from '@questline/core/ports';
import type { WebSocket } from 'ws';
import { badFrame, type Frame, type FrameIssue, isFault, notFound, readFrame } from './frames.ts';
import { CLOSE_TIMEOUT_MS, CLOSED, type Closing, LIMITS } from './limits.ts';
import { createLine } from './line.ts';
import type { RealtimeServices } from './realtime.ts';

/** One open socket. */
export interface Connection {
  /** Closes it when its credential has expired or its client was silent for too long. */
  check(): Promise<void>;
  close(closing: Closing): void;
}

/**
 * Serves a socket until it closes. Incoming and outgoing frames share one queue: answers keep the order of
 * the requests, and one client causes one task at a time, however much it sends.
 * @param identify returns the current caller of the socket. @throws ApiError 401 when its credential is no longer valid.
 */
export function connect(
  socket: WebSocket,
  services: RealtimeServices,
  identify: () => Promise<Caller | undefined>,
): Connection {
  const { agentEvents, clock, store } = services;
  const sessions: Collection<SessionRecord> = store.collection(SESSIONS);
  /** Functions that unsubscribe, by session. */
  const subscriptions = new Map<string, () => Promise<void>>();
  let lastHeard = clock.now();
  let waitingEvents = 0;
  let waitingFrames = 0;
  let isClosed = false;
  const report = (error: unknown): void => {
    services.onError({ operation: 'realtime', requestId: '', error });
  };
  const line = createLine(report);

  const end = (sessionId: string): void => {
    subscriptions.get(sessionId)?.().catch(report);
    subscriptions.delete(sessionId);
  };
  const finish = (): void => {
    isClosed = true;
    line.close();
    for (const sessionId of [...subscriptions.keys()]) end(sessionId);
  };
  const close = ({ code, reason }: Closing): void => {
    if (isClosed) return;
    finish();
    // Read on, to receive the close frame.
    if (socket.isPaused) socket.resume();
    socket.close(code, reason);
    // A client that has stopped reading does not receive the close frame either.
    const cancel = clock.timer(CLOSE_TIMEOUT_MS, () => socket.terminate());
    socket.once('close', cancel);
  };

  const write = (text: string): void => {
    if (isClosed) return;
    socket.send(text);
    checkUnsent();
  };
  const checkUnsent = (): void => {
    if (socket.bufferedAmount > LIMITS.unsentBytes) close(CLOSED.slow);
  };
  const complain = (issue: FrameIssue): void => {
    const { sessionId, code, message } = issue;
    const timestamp = new Date(clock.now()).toISOString();
    write(JSON.stringify({ type: 'error', sessionId, timestamp, code, message }));
  };

  /** @returns undefined when the credential has expired; the socket is then closed. */
  const currentCaller = async (): Promise<Caller | undefined> => {
    const caller = await identify();
    if (caller === undefined) close(CLOSED.ended);
    return caller;
  };
  const mayRead = async (caller: Caller, sessionId: string): Promise<boolean> =>
    (await sessions.get(sessionId, canReadSession(caller.userId))) !== undefined;

  const deliver = async (event: PublishedAgentEvent): Promise<void> => {
    waitingEvents -= 1;
    const { sessionId } = event;
    if (!subscriptions.has(sessionId)) return;
    // Checked for every event: after losing access, a caller receives no further events.
    const caller = await currentCaller();
    if (caller === undefined) return;
    if (await mayRead(caller, sessionId)) {
      const shown = await agentEvents.show(caller.userId, event);
      return shown && write(JSON.stringify(shown));
    }
    end(sessionId);
    complain(notFound(sessionId));
  };

  const subscribe = async (sessionId: string): Promise<void> => {
    if (subscriptions.has(sessionId)) return;
    if (subscriptions.size >= LIMITS.subscriptions) {
      const message = `a connection has ${LIMITS.subscriptions} subscriptions at most`;
      return complain({ code: 'limit', message, sessionId });
    }
    const caller = await currentCaller();
    if (caller === undefined) return;
    if (!(await mayRead(caller, sessionId))) return complain(notFound(sessionId));
    const stop = await agentEvents.listen(sessionId, (event) => {
      waitingEvents += 1;
      if (waitingEvents > LIMITS.waitingEvents) close(CLOSED.slow);
      else line.add(() => deliver(event));
    });
    if (isClosed) await stop();
    else subscriptions.set(sessionId, stop);
  };

  const serve = async (frame: Frame | FrameIssue): Promise<void> => {
    waitingFrames -= 1;
    if (socket.isPaused && waitingFrames < LIMITS.waitingFrames) socket.resume();
    if (isFault(frame)) return complain(frame);
    if (frame.action === 'heartbeat') return write('pong');
    if (frame.action === 'unsubscribe') return end(frame.sessionId);
    await subscribe(frame.sessionId);
  };

  socket.on('message', (data, isBinary) => {
    if (isClosed) return;
    lastHeard = clock.now();
    const frame = isBinary ? badFrame('a frame is text') : readFrame(String(data));
    waitingFrames += 1;
    line.add(() => serve(frame));
    if (waitingFrames >= LIMITS.waitingFrames) socket.pause();
  });
  // Answered by the library, so it may pile up like any other answer.
  socket.on('ping', () => {
    lastHeard = clock.now();
    checkUnsent();
  });
  socket.on('close', finish);
  // For an oversized or malformed frame, the library closes with the matching code.
  socket.on('error', finish);

  return {
    close,
    async check() {
      if (clock.now() - lastHeard >= LIMITS.silenceMs) close(CLOSED.silent);
      else await currentCaller();
    },
  };
}
