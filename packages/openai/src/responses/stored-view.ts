import { fromCredits } from '@questline/core';
import { type StoredResponse, toWireCredits } from '@questline/core/internal';
import { toResponseUsage } from '../usage.ts';
import { toResponseError } from './failure.ts';
import { ItemWriter } from './items.ts';
import { readItemOptions, readWire } from './stored-wire.ts';
import { BEGUN, type ResponseState, toIncompleteDetails, type WireResponse } from './wire.ts';

/** A stored response as the API returns it. */
export function toWireResponse(response: StoredResponse, creditsPerUsd: number): WireResponse {
  const wire = readWire(response);
  const { status, output } = response;
  if (status === 'queued' || status === 'in_progress') return { ...wire.request, ...BEGUN, status };
  const items = new ItemWriter({
    ...readItemOptions(wire),
    id: response.id,
    sink: () => undefined,
  });
  for (const part of output.parts) items.add(part);
  return toEnded(response, items, creditsPerUsd);
}

/**
 * A stored response that has ended. @param items has all parts. Its open item is closed, unless the answer broke off:
 * then it stays open.
 */
export function toEnded(response: StoredResponse, items: ItemWriter, creditsPerUsd: number): WireResponse {
  const { request } = readWire(response);
  const { output, failure, usage, updatedAt } = response;
  const incomplete = response.status === 'completed' ? toIncompleteDetails(output.finishReason) : null;
  const status = incomplete === null ? response.status : 'incomplete';
  if (status !== 'failed') items.close(status === 'completed' ? 'completed' : 'incomplete');
  return {
    ...request,
    model: output.model ?? request.model,
    status,
    output: items.output,
    completed_at: status === 'completed' ? Math.floor(updatedAt / 1000) : null,
    error: failure === undefined ? null : toResponseError(failure),
    incomplete_details: incomplete,
    ...(usage !== undefined && { usage: toResponseUsage({ cost: { usage, charged: 0 } }) }),
    ...getCredits(response, creditsPerUsd),
  };
}

function getCredits(
  { credits: used, usage = {} }: StoredResponse,
  creditsPerUsd: number,
): Pick<ResponseState, 'credits'> {
  if (used === undefined) return {};
  const cost = { usage, charged: fromCredits(used) };
  const credits = toWireCredits({ cost, isMetered: true, finishReason: undefined }, creditsPerUsd);
  return credits === undefined ? {} : { credits };
}
