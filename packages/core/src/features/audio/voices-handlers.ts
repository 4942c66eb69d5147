import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { listVoices, type Voice } from './voices-contract.ts';

export interface VoicesServices extends PipelineServices {
  readonly voices: readonly Voice[];
}

/** `GET /api/v1/voices`. Without voices, the path belongs to the host. */
export function voiceRoutes(services: VoicesServices): Route[] {
  const { voices } = services;
  if (voices.length === 0) return [];
  return [defineRoute(listVoices, services, async () => ({ data: [...voices] }))];
}
