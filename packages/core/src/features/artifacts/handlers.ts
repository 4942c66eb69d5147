import { sharedAs, whose } from '../../access/access.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { notFound } from '../../shared/errors.ts';
import { type ArtifactReaderServices, readableArtifact, requireArtifacts } from './access.ts';
import {
  type ArtifactMakerServices,
  changeArtifact,
  getVersion,
  makeArtifact,
  readContent,
  removeArtifact,
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

export interface ArtifactServices extends PipelineServices, ArtifactMakerServices, ArtifactReaderServices {
  readonly deletion: DeletionCleanup;
}

/** All handlers of `/api/v1/artifacts`. */
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
    await requireArtifacts(services.adminSettings);
    const { shared } = query;
    const { userId } = caller;
    return findPage(
      artifacts,
      whose(userId, shared),
      { list: listArtifacts.id, owner: userId, query, order: { field: 'createdAt', direction: 'asc' } },
      (row) => ({ ...toWireArtifact(row, null), ...sharedAs(row, userId, shared) }),
    );
  });
}

/** `POST /api/v1/artifacts` */
export function createCreateArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(createArtifact, services, async ({ body }, { caller }) => {
    const { session_id: sessionId, project_id: projectId, ...input } = body;
    const artifact = await makeArtifact(services, caller.userId, { ...input, sessionId, projectId });
    return toWireArtifact(artifact, body.content);
  });
}

/** `GET /api/v1/artifacts/{id}` */
export function createGetArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(getArtifact, services, async ({ params }, { caller }) => {
    const artifact = await requireReadable(services, caller.userId, params.id);
    return toWireArtifact(artifact, await readContent(services.store, artifact));
  });
}

/** `PATCH /api/v1/artifacts/{id}` */
export function createUpdateArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(updateArtifact, services, async ({ params, body }, { caller }) => {
    await requireArtifacts(services.adminSettings);
    const { version_tag: versionTag, change_description: changeDescription, ...fields } = body;
    const change = { ...fields, versionTag, changeDescription };
    const changed = await changeArtifact(services, caller.userId, params.id, change);
    if (changed === undefined) throw notFound('Artifact');
    return toWireArtifact(changed.artifact, changed.content);
  });
}

/** `DELETE /api/v1/artifacts/{id}` */
export function createDeleteArtifactHandler(services: ArtifactServices): Route {
  return defineRoute(deleteArtifact, services, async ({ params }, { caller }) => {
    await requireArtifacts(services.adminSettings);
    if (!(await removeArtifact(services.store, caller.userId, params.id))) throw notFound('Artifact');
    await services.deletion.artifact(params.id);
    return undefined;
  });
}

/** `GET /api/v1/artifacts/{id}/versions` */
export function createListArtifactVersionsHandler(services: ArtifactServices): Route {
  const versions = services.store.collection(ARTIFACT_VERSIONS);
  return defineRoute(listArtifactVersions, services, async ({ params, query }, { caller }) => {
    const { id: artifactId } = await requireReadable(services, caller.userId, params.id);
    const list = `${listArtifactVersions.id}:${artifactId}`;
    return findPage(
      versions,
      { artifactId },
      { list, owner: caller.userId, query, order: { field: 'version', direction: 'asc' } },
      (row) => toWireVersion(row, null),
    );
  });
}

/** `GET /api/v1/artifacts/{id}/versions/{version}` */
export function createGetArtifactVersionHandler(services: ArtifactServices): Route {
  return defineRoute(getArtifactVersion, services, async ({ params }, { caller }) => {
    const { id } = await requireReadable(services, caller.userId, params.id);
    const version = await getVersion(services.store, id, params.version);
    if (version === undefined) throw notFound('Version');
    return toWireVersion(version, version.content);
  });
}

/** @throws ApiError 403 while artifacts are switched off, 404 for an artifact that the user may not see. */
export async function requireReadable(
  services: ArtifactServices,
  userId: string,
  id: string,
): Promise<ArtifactRecord> {
  await requireArtifacts(services.adminSettings);
  const artifact = await readableArtifact(services, userId, id);
  if (artifact === undefined) throw notFound('Artifact');
  return artifact;
}
