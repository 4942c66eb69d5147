import { notFound } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { PipelineServices } from '../pipeline.ts';
import { defineRoute, type Route } from '../route.ts';
import { type ArtifactReaderServices, readableArtifact, requireArtifacts } from './access.ts';
import {
  type ArtifactMakerServices,
  changeArtifact,
  contentOf,
  makeArtifact,
  removeArtifact,
  versionOf,
} from './artifacts.ts';
import {
  createArtifact,
  deleteArtifact,
  getArtifact,
  getArtifactVersion,
  listArtifacts,
  listArtifactVersions,
  updateArtifact,
} from './contract.ts';
import {
  ARTIFACT_VERSIONS,
  ARTIFACTS,
  type ArtifactRecord,
  toWireArtifact,
  toWireVersion,
} from './records.ts';

export interface ArtifactServices extends PipelineServices, ArtifactMakerServices, ArtifactReaderServices {}

/** All of `/api/v1/artifacts`. */
export function artifactRoutes(services: ArtifactServices): Route[] {
  return [
    createListArtifactsHandler(services),
    createCreateArtifactHandler(services),
    createGetArtifactHandler(services),
    createUpdateArtifactHandler(services),
    createDeleteArtifactHandler(services),
    createListArtifactVersionsHandler(services),
    createGetArtifactVersionHandler(services),
  ];
}

/** `GET /api/v1/artifacts` */
export function createListArtifactsHandler(services: ArtifactServices): Route {
  const artifacts = services.store.collection(ARTIFACTS);
  return defineRoute(listArtifacts, services, async ({ query }, { caller }) => {
    await requireArtifacts(services.switches);
    const { limit, cursor } = query;
    const ownerId = caller.userId;
    const after = decodeCursor(listArtifacts.id, ownerId, cursor);
    const rows = await artifacts.find(
      { ownerId },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(
      rows,
      limit,
      (row) => toWireArtifact(row, null),
      ({ id, createdAt }) => encodeCursor(listArtifacts.id, ownerId, { value: createdAt, id }),
    );
  });
}

/** `POST /api/v1/artifacts` */
export function createCreateArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(createArtifact, services, async ({ body }, { caller }) => {
    const { session_id: sessionId, project_id: projectId, ...wish } = body;
    const artifact = await makeArtifact(services, caller.userId, { ...wish, sessionId, projectId });
    return toWireArtifact(artifact, body.content);
  });
}

/** `GET /api/v1/artifacts/{id}` */
export function createGetArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(getArtifact, services, async ({ params }, { caller }) => {
    const artifact = await readable(services, caller.userId, params.id);
    return toWireArtifact(artifact, await contentOf(services.store, artifact));
  });
}

/** `PATCH /api/v1/artifacts/{id}` */
export function createUpdateArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(updateArtifact, services, async ({ params, body }, { caller }) => {
    await requireArtifacts(services.switches);
    const changed = await changeArtifact(services, caller.userId, params.id, body);
    if (changed === undefined) throw notFound('Artifact');
    return toWireArtifact(changed.artifact, changed.content);
  });
}

/** `DELETE /api/v1/artifacts/{id}` */
export function createDeleteArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(deleteArtifact, services, async ({ params }, { caller }) => {
    await requireArtifacts(services.switches);
    if (!(await removeArtifact(services.store, caller.userId, params.id))) throw notFound('Artifact');
    return undefined;
  });
}

/** `GET /api/v1/artifacts/{id}/versions` */
export function createListArtifactVersionsHandler(services: ArtifactServices): Route {
  const versions = services.store.collection(ARTIFACT_VERSIONS);
  return defineRoute(listArtifactVersions, services, async ({ params, query }, { caller }) => {
    const { id: artifactId } = await readable(services, caller.userId, params.id);
    const list = `${listArtifactVersions.id}:${artifactId}`;
    const { limit, cursor } = query;
    const after = decodeCursor(list, caller.userId, cursor);
    const rows = await versions.find(
      { artifactId },
      {
        order: { field: 'version', direction: 'asc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(
      rows,
      limit,
      (row) => toWireVersion(row, null),
      ({ id, version }) => encodeCursor(list, caller.userId, { value: version, id }),
    );
  });
}

/** `GET /api/v1/artifacts/{id}/versions/{version}` */
export function createGetArtifactVersionHandler(services: ArtifactServices): Route {
  return defineRoute(getArtifactVersion, services, async ({ params }, { caller }) => {
    const { id } = await readable(services, caller.userId, params.id);
    const version = await versionOf(services.store, id, params.version);
    if (version === undefined) throw notFound('Version');
    return toWireVersion(version, version.content);
  });
}

/** @throws ApiError 403 while artifacts are switched off, 404 for one that the user may not see. */
async function readable(services: ArtifactServices, userId: string, id: string): Promise<ArtifactRecord> {
  await requireArtifacts(services.switches);
  const artifact = await readableArtifact(services, userId, id);
  if (artifact === undefined) throw notFound('Artifact');
  return artifact;
}
