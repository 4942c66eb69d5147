import { sharingRoutes } from '../features/sharing/handlers.ts';
import { FEATURES } from './features.ts';
import { createResources } from './resources.ts';
import { type MountedRoute, mountRoute } from './selection.ts';
import type { Services } from './services.ts';

/** The routes of all features, without the description of the API. */
export function createRoutes(services: Services): readonly MountedRoute[] {
  return [
    ...FEATURES.flatMap(({ name, routes }) =>
      (routes?.(services) ?? []).map((route) => mountRoute(route, name, services)),
    ),
    ...sharingRoutes(services, createResources(services)).map((route) =>
      mountRoute(route, 'sharing', services),
    ),
  ];
}
