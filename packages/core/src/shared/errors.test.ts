import { describe, expect, it } from 'vitest';
import { ApiError, conflict, forbidden, invalid, isApiError, notFound, storageAway } from './errors.ts';

describe('errors of the API', () => {
  it.each([
    [notFound('Session'), { status: 404, message: 'Session not found', applicationCode: undefined }],
    [notFound('Agent', 'agent_gone'), { status: 404, applicationCode: 'agent_gone' }],
    [invalid('name', 'expected text'), { status: 422, message: 'name: expected text', code: undefined }],
    [
      invalid('', 'send one', 'provider_rejected'),
      { status: 422, message: 'send one', code: 'provider_rejected' },
    ],
    [forbidden('No.'), { status: 403, message: 'No.' }],
    [conflict('Busy.'), { status: 409, message: 'Busy.' }],
    [
      storageAway('down'),
      { status: 503, applicationCode: 'INTERNAL_ERROR', headers: { 'Retry-After': '5' }, cause: 'down' },
    ],
  ])('have the status and the fields of their kind: %s', (error, fields) => {
    expect(error).toMatchObject(fields);
    expect(isApiError(error)).toBe(true);
  });

  it('name the field that is wrong, if there is one', () => {
    const toFault = ({ status, message, code, details }: ApiError) => ({ status, message, code, details });
    expect(toFault(invalid('name', 'expected a text', 'limit_exceeded'))).toEqual({
      ...{ status: 422, message: 'name: expected a text', code: 'limit_exceeded' },
      details: [{ path: 'name', message: 'expected a text' }],
    });
    expect(toFault(invalid('', 'expected an object'))).toEqual({
      ...{ status: 422, message: 'expected an object', code: undefined },
      details: [{ path: '', message: 'expected an object' }],
    });
  });

  it('are known by their name, from another copy of this module too', () => {
    const copied = Object.assign(new Error('of the other build'), { name: 'ApiError', status: 404 });
    expect(isApiError(copied)).toBe(true);
    for (const other of [
      new Error('x'),
      Object.assign(new Error('x'), { status: 404 }),
      { name: 'ApiError', status: 404 },
      undefined,
    ]) {
      expect(isApiError(other)).toBe(false);
    }
    expect(isApiError(Object.assign(new Error('x'), { name: 'ApiError' }))).toBe(false);
  });

  it('keep all their options', () => {
    const options = {
      code: 'limit_exceeded',
      applicationCode: 'a',
      oauthCode: 'slow_down',
      cause: 'full',
      extra: { n: 1 },
      headers: { 'X-One': '1' },
      details: [],
    } as const;
    expect(new ApiError(418, 'Tea.', options)).toMatchObject({ status: 418, message: 'Tea.', ...options });
  });
});
