import { isId } from '../../contract/identifiers.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { conflict, invalid, notFound } from '../../shared/errors.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FilesReader } from '../files/reader.ts';
import type { AdministrationCheck, MembershipCheck } from '../organizations/membership.ts';
import type { StorageQuotas } from '../storage/usage.ts';
import { readableLake, readableLakes, requireDataLakes, requireSharing, writableLake } from './access.ts';
import { createDataLake, deleteDataLake, getDataLake, listDataLakes, updateDataLake } from './contract.ts';
import {
  createAddLakeFileHandler,
  createGetLakeFileHandler,
  createListLakeFilesHandler,
  createRemoveLakeFileHandler,
} from './file-handlers.ts';
import { ingestionJob } from './ingestion.ts';
import { anotherSlug, toSlug, toWireLake } from './lakes.ts';
import { lakePurgeJob } from './purge.ts';
import { LAKE_FILES, LAKES, type LakeRecord } from './records.ts';
import { createSearchLakeHandler, type SearchLakeServices } from './search-handler.ts';

export interface DataLakeServices extends PipelineServices, SearchLakeServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly adminSettings: AdminSettingsReader;
  readonly isMember: MembershipCheck;
  readonly administers: AdministrationCheck;
  readonly files: FilesReader;
  readonly library: FileLibrary;
  readonly storageQuotas: StorageQuotas;
}

/** All handlers of `/api/v1/data-lakes`. */
export function dataLakeRoutes(services: DataLakeServices): Route[] {
  return [
    createListDataLakesHandler(services),
    createCreateDataLakeHandler(services),
    createGetDataLakeHandler(services),
    createUpdateDataLakeHandler(services),
    createDeleteDataLakeHandler(services),
    createListLakeFilesHandler(services),
    createGetLakeFileHandler(services),
    createAddLakeFileHandler(services),
    createRemoveLakeFileHandler(services),
    createSearchLakeHandler(services),
  ];
}

/** `GET /api/v1/data-lakes` */
export function createListDataLakesHandler(services: DataLakeServices): Route {
  const { store, adminSettings } = services;
  const lakes = store.collection(LAKES);
  return defineRoute(listDataLakes, services, async ({ query }, { caller }) => {
    await requireDataLakes(adminSettings);
    return findPage(
      lakes,
      await readableLakes(store, caller.userId),
      {
        list: listDataLakes.id,
        owner: caller.userId,
        query,
        order: { field: 'createdAt', direction: 'asc' },
      },
      toWireLake,
    );
  });
}

/** `POST /api/v1/data-lakes` */
export function createCreateDataLakeHandler(services: DataLakeServices): Route {
  const { store, clock, ids, adminSettings, isMember } = services;
  const lakes = store.collection(LAKES);
  return defineRoute(createDataLake, services, async ({ body }, { caller }) => {
    await requireDataLakes(adminSettings);
    if (body.is_public) requireSharing(caller);
    const { organization_id: organizationId, slug } = body;
    if (organizationId !== undefined && !(await isMember(caller.userId, organizationId))) {
      throw notFound('Organization');
    }
    // Paths accept either, so a slug must not look like an id.
    if (slug !== undefined && isId(slug)) throw invalid('slug', 'must not have the form of an id');
    const now = clock.now();
    const lake: LakeRecord = {
      id: ids.next(),
      ownerId: caller.userId,
      name: body.name,
      slug: slug ?? toSlug(body.name),
      ...(body.description !== undefined && { description: body.description }),
      ...(organizationId !== undefined && { organizationId }),
      isPublic: body.is_public,
      status: 'draft',
      fileCount: 0,
      totalSize: 0,
      createdAt: now,
      updatedAt: now,
    };
    if (slug === undefined && isId(lake.slug)) return toWireLake(await insertWithSuffix(lake));
    if (await lakes.insert(lake)) return toWireLake(lake);
    if (slug !== undefined) throw conflict('The slug is taken.');
    return toWireLake(await insertWithSuffix(lake));
  });

  async function insertWithSuffix(lake: LakeRecord): Promise<LakeRecord> {
    for (;;) {
      const other = { ...lake, slug: anotherSlug(lake.slug, ids) };
      if (await lakes.insert(other)) return other;
    }
  }
}

/** `GET /api/v1/data-lakes/{id}` */
export function createGetDataLakeHandler(services: DataLakeServices): Route {
  return defineRoute(getDataLake, services, async ({ params }, { caller }) => {
    await requireDataLakes(services.adminSettings);
    const lake = await readableLake(services, caller.userId, params.id);
    if (lake === undefined) throw notFound('Data lake');
    return toWireLake(lake);
  });
}

/** `PATCH /api/v1/data-lakes/{id}` */
export function createUpdateDataLakeHandler(services: DataLakeServices): Route {
  const { store, clock, adminSettings, queue } = services;
  const lakes = store.collection(LAKES);
  const files = store.collection(LAKE_FILES);
  return defineRoute(updateDataLake, services, async ({ params, body }, { caller }) => {
    await requireDataLakes(adminSettings);
    const { id, ownerId, status } = await writableLake(services, caller.userId, params.id);
    if (body.is_public === true) requireSharing(caller);
    const now = clock.now();
    const lake = await lakes.update(
      id,
      {
        ...(body.name !== undefined && { name: body.name }),
        ...(body.description !== undefined && { description: body.description }),
        ...(body.is_public !== undefined && { isPublic: body.is_public }),
        ...(body.status !== undefined && { status: body.status }),
        updatedAt: now,
      },
      { ownerId, status: { not: 'deleting' } },
    );
    if (lake === undefined) throw notFound('Data lake');
    if (body.status === 'active' && status === 'archived') await resume(id, now);
    return toWireLake(lake);
  });

  /** Resumes files that waited for the lake. */
  async function resume(lakeId: string, now: number): Promise<void> {
    for (const file of await files.find({ lakeId, status: 'paused' })) {
      const change = { status: 'indexing', error: undefined, updatedAt: now } as const;
      const resumed = await files.update(file.id, change, { lakeId, status: 'paused' });
      if (resumed !== undefined) await queue.enqueue(ingestionJob(resumed));
    }
  }
}

/** `DELETE /api/v1/data-lakes/{id}` */
export function createDeleteDataLakeHandler(services: DataLakeServices): Route {
  const { store, clock, adminSettings, queue } = services;
  const lakes = store.collection(LAKES);
  return defineRoute(deleteDataLake, services, async ({ params }, { caller }) => {
    await requireDataLakes(adminSettings);
    const { id, ownerId } = await writableLake(services, caller.userId, params.id);
    const lake = await lakes.update(id, { status: 'deleting', updatedAt: clock.now() }, { ownerId });
    if (lake === undefined) throw notFound('Data lake');
    await queue.enqueue(lakePurgeJob(lake));
    return undefined;
  });
}
