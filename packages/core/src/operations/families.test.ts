import { expect, it } from 'vitest';
import { ApiError } from '../shared/errors.ts';
import { errorBody, NAME_SUNSET } from './families.ts';

const NOW = Date.UTC(2026, 5, 1);

it('writes an error of the public family, with its name until the sunset', () => {
  const plain = new ApiError(404, 'Thing not found');
  const body = { error: 'Thing not found', request_id: 'r' };
  expect(errorBody('public', plain, 'r', NAME_SUNSET - 1)).toEqual({ ...body, name: 'NotFoundError' });
  expect(errorBody('public', plain, 'r', NAME_SUNSET)).toEqual(body);
  const detailed = new ApiError(418, 'x', { code: 'insufficient_credits', extra: { available: 1 } });
  expect(errorBody('public', detailed, 'r', NOW)).toEqual({
    ...{ error: 'x', request_id: 'r', name: 'InternalServerError' },
    ...{ errorCode: 'insufficient_credits', available: 1 },
  });
});

it('writes an error of completions', () => {
  const body = { type: 'error', message: 'x', request_id: 'r' };
  expect(errorBody('completions', new ApiError(400, 'x'), 'r', NOW)).toEqual(body);
  const detailed = new ApiError(402, 'x', { code: 'insufficient_credits', extra: { available: 1 } });
  expect(errorBody('completions', detailed, 'r', NOW)).toEqual({
    ...{ ...body, errorCode: 'insufficient_credits', available: 1 },
  });
});

it('writes an error of the application', () => {
  const toError = (error: ApiError) => errorBody('application', error, 'r', NOW);
  const details = [{ field: 'a', message: 'b' }] as never;
  expect(toError(new ApiError(422, 'x', { details, extra: { more: 1 } }))).toEqual({
    error: { code: 'VALIDATION_ERROR', message: 'x', details },
    ...{ timestamp: '2026-06-01T00:00:00.000Z', request_id: 'r', more: 1 },
  });
  expect(toError(new ApiError(404, 'x')).error).toEqual({ code: 'NOT_FOUND', message: 'x' });
  const codes = [
    new ApiError(404, 'x', { applicationCode: 'OWN', code: 'insufficient_credits' }),
    new ApiError(402, 'x', { code: 'insufficient_credits' }),
    new ApiError(401, 'x', { code: 'provider_rejected' }),
    new ApiError(401, 'x'),
    new ApiError(418, 'x'),
    new ApiError(500, 'x'),
  ].map((error) => (toError(error).error as { code: string }).code);
  expect(codes).toEqual([
    ...['OWN', 'INSUFFICIENT_CREDITS', 'PROVIDER_ERROR', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'INTERNAL_ERROR'],
  ]);
});

it('writes an error of OAuth', () => {
  const toError = (error: ApiError) => errorBody('oauth', error, 'r', NOW);
  expect(toError(new ApiError(401, 'x', { extra: { more: 1 } }))).toEqual({
    ...{ error: 'invalid_token', error_description: 'x', request_id: 'r', more: 1 },
  });
  expect(toError(new ApiError(400, 'x', { oauthCode: 'expired_token' }))).toMatchObject({
    error: 'expired_token',
  });
  expect(toError(new ApiError(500, 'x'))).toMatchObject({ error: 'server_error' });
});
