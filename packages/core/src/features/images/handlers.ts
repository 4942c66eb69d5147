import type { Call } from '../../contract/call.ts';
import type { Operation } from '../../contract/operation.ts';
import { findDefaultImageModel } from '../../models/default-model.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { type BeginServices, createBeginQuest } from '../../runs/begin.ts';
import { questJob } from '../../runs/quest-job.ts';
import { ApiError } from '../../shared/errors.ts';
import { SESSIONS } from '../sessions/records.ts';
import { type AcceptImageServices, acceptImage, type ImageInput } from './accept.ts';
import { editImage, generateImage, generateImageSimply, type ImageAcknowledgement } from './contract.ts';
import { getEditImages, IMAGE_EDIT, IMAGE_GENERATION, imageOptions } from './request.ts';

export interface ImageServices extends PipelineServices, AcceptImageServices, BeginServices {}

/** Typical seconds per image: reported to clients that request nothing more precise. */
const ESTIMATED_SECONDS = 20;

export function imageRoutes(services: ImageServices): Route[] {
  return [
    createGenerateImageHandler(services),
    createEditImageHandler(services),
    createGenerateImageSimplyHandler(services),
  ];
}

/** `POST /api/v1/image-generations` */
export function createGenerateImageHandler(services: ImageServices): Route {
  const begin = beginner(services, generateImage);
  return defineRoute(generateImage, services, ({ body }, call) => {
    const { fileIds, referenceImageFileIds } = body;
    return begin(call, body, {
      kind: IMAGE_GENERATION,
      model: body.model,
      sessionId: body.sessionId,
      organizationId: body.organizationId,
      request: {
        options: imageOptions(body),
        referenceFileIds: [...(fileIds ?? []), ...(referenceImageFileIds ?? [])],
        ...(body.projectId != null && { projectId: body.projectId }),
      },
    });
  });
}

/** `POST /api/v1/image-edits` */
export function createEditImageHandler(services: ImageServices): Route {
  const begin = beginner(services, editImage);
  return defineRoute(editImage, services, ({ body }, call) => {
    if (body.fileIds?.length === 0) {
      throw new ApiError(400, 'fileIds: expected the mask first, or no field');
    }
    return begin(call, body, {
      kind: IMAGE_EDIT,
      model: body.model,
      sessionId: body.sessionId,
      organizationId: body.organizationId,
      request: {
        options: imageOptions(body),
        ...getEditImages(body),
        ...(body.projectId != null && { projectId: body.projectId }),
      },
    });
  });
}

/** `POST /api/ai/generate-image` */
export function createGenerateImageSimplyHandler(services: ImageServices): Route {
  const begin = beginner(services, generateImageSimply);
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(generateImageSimply, services, async ({ body }, call) => {
    const settings = await services.adminSettings.current();
    const catalogue = await services.getCatalogue(call.caller);
    const { DefaultImageModel: usual } = settings;
    const model =
      usual !== null && catalogue.isAllowed(usual)
        ? usual
        : findDefaultImageModel(catalogue, settings.enforceCredits)?.info.id;
    if (model === undefined) {
      throw new ApiError(
        422,
        'There is no image model on this server: no model provider that makes images has a key.',
      );
    }
    const owned = await sessions.find({ ownerId: call.caller.userId }, { limit: 1 });
    const { id } = await begin(call, body, {
      kind: IMAGE_GENERATION,
      model,
      newConversation: owned.length === 0,
      organizationId: undefined,
      request: { options: imageOptions({ ...body, model }), referenceFileIds: [] },
    });
    return { questId: id, status: 'queued' as const, estimatedTime: ESTIMATED_SECONDS };
  });
}

/** Accepts an image request once, and enqueues its quest. */
function beginner(services: ImageServices, { path }: Pick<Operation, 'path'>) {
  const begin = createBeginQuest(services);
  return (call: Call, body: unknown, input: ImageInput): Promise<ImageAcknowledgement> =>
    begin(
      { call, path, body },
      () => acceptImage(services, input, call),
      (id) => questJob({ id, kind: input.kind, ownerId: call.caller.userId }),
    );
}
