import { describe, expect, it } from 'vitest';
import { badFrame, isFault, notFound, readFrame } from '../src/frames.ts';

const ID = '0123456789abcdef01234567';
const read = (frame: unknown) => readFrame(JSON.stringify(frame));
const query = (action: string, filters: unknown, kind: unknown = 'session') =>
  read({ action, data: { query: kind, filters } });
const bad = (message: string) => ({ code: 'bad_frame', message, sessionId: null });

describe('a frame of a client', () => {
  it('is a request', () => {
    expect(query('subscribe_query', { sessionId: ID })).toEqual({ action: 'subscribe', sessionId: ID });
    expect(query('unsubscribe_query', { sessionId: ID })).toEqual({ action: 'unsubscribe', sessionId: ID });
    expect(read({ action: 'heartbeat' })).toEqual({ action: 'heartbeat' });
    expect(read({ action: 'heartbeat', data: 'unread' })).toEqual({ action: 'heartbeat' });
  });

  it('is a JSON object', () => {
    const issue = bad('a frame is a JSON object with action and data');
    for (const text of ['', '{', 'null', '[]', '"heartbeat"', '7']) expect(readFrame(text)).toEqual(issue);
  });

  it('has an action that is known', () => {
    for (const action of [undefined, null, 7, {}])
      expect(read({ action })).toEqual(bad('action must be a string'));
    for (const action of ['', 'subscribe', 'Heartbeat'])
      expect(read({ action })).toEqual({
        code: 'unknown_action',
        message: 'there is no such action; there are: subscribe_query, unsubscribe_query, heartbeat',
        sessionId: null,
      });
  });

  it('names a session', () => {
    const issue = bad('data.query must be "session"');
    expect(query('subscribe_query', { sessionId: ID }, 'user')).toEqual(issue);
    for (const data of [undefined, null, [], 'session'])
      expect(read({ action: 'subscribe_query', data })).toEqual(issue);
    for (const filters of [undefined, null, [ID], ID, {}, { sessionId: 7 }])
      expect(query('subscribe_query', filters)).toEqual(bad('data.filters.sessionId must be a string'));
  });

  it('with an id of another form gets the answer for an unknown session, which does not repeat it', () => {
    for (const sessionId of ['', ID.slice(1), `${ID}0`, `0${ID}`, ID.toUpperCase(), `${ID}\n`])
      expect(query('subscribe_query', { sessionId })).toEqual({
        code: 'not_found',
        message: 'Session not found',
        sessionId: null,
      });
  });

  it('is a request or an issue', () => {
    expect(isFault(read({ action: 'heartbeat' }))).toBe(false);
    expect([badFrame('x'), notFound(ID)].map(isFault)).toEqual([true, true]);
    expect(notFound(ID)).toEqual({ code: 'not_found', message: 'Session not found', sessionId: ID });
  });
});
