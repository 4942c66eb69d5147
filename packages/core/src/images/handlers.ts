import type { Call } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { PipelineServices } from '../pipeline.ts';
import { type BeginServices, createBeginQuest } from '../quests/begin.ts';
import { questJob } from '../quests/handler.ts';
import { defineRoute, type Route } from '../route.ts';
import { SESSIONS } from '../sessions/records.ts';
import { type AcceptImageServices, acceptImage, type ImageWish } from './accept.ts';
import { editImage, generateImage, generateImageSimply, type ImageAcknowledgement } from './contract.ts';
import { IMAGE_EDIT, IMAGE_GENERATION, imageOptions, picturesOfEdit } from './request.ts';

export interface ImageServices extends PipelineServices, AcceptImageServices, BeginServices {}

/** Seconds that a picture usually takes: told to clients that ask for no more than that. */
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
      throw new ApiError(400, 'fileIds: name the mask first, or leave the field out');
    }
    return begin(call, body, {
      kind: IMAGE_EDIT,
      model: body.model,
      sessionId: body.sessionId,
      organizationId: body.organizationId,
      request: {
        options: imageOptions(body),
        ...picturesOfEdit(body),
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
    const { DefaultImageModel: model } = await services.switches.current();
    if (model === null) {
      throw new ApiError(422, 'There is no default image model on this server.', {
        code: 'model_unavailable',
      });
    }
    const isFirst = (await sessions.count({ ownerId: call.caller.userId })) === 0;
    const { id } = await begin(call, body, {
      kind: IMAGE_GENERATION,
      model,
      newConversation: isFirst,
      organizationId: undefined,
      request: { options: imageOptions({ ...body, model }), referenceFileIds: [] },
    });
    return { questId: id, status: 'queued' as const, estimatedTime: ESTIMATED_SECONDS };
  });
}

/** Takes an image on, once, and has it drawn. */
function beginner(services: ImageServices, { path }: Pick<Operation, 'path'>) {
  const begin = createBeginQuest(services);
  return (call: Call, body: unknown, wish: ImageWish): Promise<ImageAcknowledgement> =>
    begin(
      { call, path, body },
      () => acceptImage(services, wish, call),
      (id) => questJob({ id, kind: wish.kind }),
    );
}
