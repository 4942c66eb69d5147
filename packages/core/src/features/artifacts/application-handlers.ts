import { defineRoute, type Route } from '../../operations/route.ts';
import { requireArtifacts } from './access.ts';
import { getApplicationArtifact, listApplicationArtifacts } from './application-contract.ts';
import { readContent } from './artifacts.ts';
import { type ArtifactServices, requireReadable } from './handlers.ts';
import { ARTIFACTS, toWireArtifact } from './records.ts';

/** Paths of older clients. */
export function applicationArtifactRoutes(services: ArtifactServices): Route[] {
  return [createListApplicationArtifactsHandler(services), createGetApplicationArtifactHandler(services)];
}

/** `GET /api/artifacts` */
function createListApplicationArtifactsHandler(services: ArtifactServices): Route {
  const artifacts = services.store.collection(ARTIFACTS);
  return defineRoute(listApplicationArtifacts, services, async ({ query }, { caller }) => {
    await requireArtifacts(services.adminSettings);
    const { limit, offset } = query;
    const own = { ownerId: caller.userId };
    const [rows, total] = await Promise.all([
      artifacts.find(own, { order: { field: 'createdAt', direction: 'asc' }, limit, offset }),
      artifacts.count(own),
    ]);
    return {
      artifacts: rows.map((row) => toWireArtifact(row, null)),
      pagination: { total, limit, offset, hasMore: offset + rows.length < total },
    };
  });
}

/** `GET /api/artifacts/{id}` */
function createGetApplicationArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(getApplicationArtifact, services, async ({ params, query }, { caller }) => {
    const artifact = await requireReadable(services, caller.userId, params.id);
    const isWanted = query.includeContent === 'true';
    const content = isWanted ? await readContent(services.store, artifact) : null;
    return { artifact: toWireArtifact(artifact, null), content };
  });
}
