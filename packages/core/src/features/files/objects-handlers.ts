import { type ApiRequest, header } from '../../contract/message.ts';
import { Reply } from '../../contract/reply.ts';
import { attachmentDisposition } from '../../http/disposition.ts';
import { readForm, textOfPart } from '../../http/multipart.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ObjectInfo } from '../../ports/objects.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { getObject, postObject, putObject } from './objects-contract.ts';
import type { ObjectLinks } from './objects-links.ts';
import { badLink, checkLength, takeUpload, type UploadServices } from './objects-uploads.ts';
import { parseRange } from './ranges.ts';
import { getServedType, isSafeInline } from './safety.ts';
import type { SignedGrant } from './signed-urls.ts';

export interface ObjectServices extends PipelineServices, UploadServices {
  readonly objectLinks: ObjectLinks;
}

const MAX_FIELD = 4096;

/** Handlers of signed links to objects, for stores without public access. */
export function objectRoutes(services: ObjectServices): Route[] {
  return [
    createGetObjectHandler(services),
    createPutObjectHandler(services),
    createPostObjectHandler(services),
  ];
}

/** `GET /api/v1/objects` */
function createGetObjectHandler(services: ObjectServices): Route {
  const { objects, objectLinks, clock } = services;
  return defineRoute(getObject, services, async (_input, { request, signal }) => {
    const grant = objectLinks.verify('get', new URLSearchParams(request.query), clock.now());
    if (grant?.action !== 'get') throw badLink();
    const info = await objects.head(grant.key, { signal });
    if (info === undefined) throw notFound('Object');
    const headers = toHeaders(grant, info);
    const range = parseRange(wantedRange(request, info), info.size);
    if (range === 'unsatisfiable') {
      throw new ApiError(416, 'The range is beyond the end', {
        headers: { 'Content-Range': `bytes */${info.size}` },
      });
    }
    const length = range === undefined ? info.size : range.end - range.start + 1;
    headers['Content-Length'] = String(length);
    if (range !== undefined) headers['Content-Range'] = `bytes ${range.start}-${range.end}/${info.size}`;
    const status = range === undefined ? 200 : 206;
    if (request.method === 'HEAD') return new Reply(status, headers, undefined);
    const content = await objects.get(grant.key, range, { signal });
    if (content === undefined) throw notFound('Object');
    if (content.etag !== info.etag) {
      // Replaced concurrently: its length differs from the announced one.
      await content.body[Symbol.asyncIterator]().return?.();
      throw notFound('Object');
    }
    return new Reply(status, headers, content.body);
  });
}

/** `PUT /api/v1/objects` */
function createPutObjectHandler(services: ObjectServices): Route {
  return defineRoute(putObject, services, async (_input, { request, signal }) => {
    const query = new URLSearchParams(request.query);
    const grant = services.objectLinks.verify('put', query, services.clock.now());
    if (grant?.action !== 'put') throw badLink();
    const type = header(request.headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
    if (type !== grant.contentType) {
      throw new ApiError(400, `Content-Type must be ${grant.contentType}, as announced`);
    }
    checkLength(request, grant.size);
    await takeUpload(services, grant, request.body.stream(), signal);
    return new Reply(204, {}, undefined);
  });
}

/** `POST /api/v1/objects` */
function createPostObjectHandler(services: ObjectServices): Route {
  return defineRoute(postObject, services, async (_input, { request, signal }) => {
    const fields = new URLSearchParams();
    for await (const part of readForm(request)) {
      if (part.name !== 'file') {
        fields.append(part.name, await textOfPart(part, MAX_FIELD));
        continue;
      }
      const grant = services.objectLinks.verify('post', fields, services.clock.now());
      if (grant?.action !== 'post') throw badLink();
      await takeUpload(services, grant, part.body, signal);
      return new Reply(204, {}, undefined);
    }
    throw new ApiError(400, 'the form has no part named file');
  });
}

function toHeaders(grant: Extract<SignedGrant, { action: 'get' }>, info: ObjectInfo): Record<string, string> {
  const contentType = grant.contentType ?? info.contentType;
  const isInline = grant.attachment === undefined && isSafeInline(contentType);
  return {
    'Content-Type': getServedType(contentType),
    'Accept-Ranges': 'bytes',
    ETag: `"${info.etag}"`,
    'Cache-Control': 'private, no-store',
    // Uploaded content never runs in this origin, whatever its type.
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    ...(!isInline && { 'Content-Disposition': attachmentDisposition(grant.attachment ?? 'download') }),
  };
}

/** With `If-Range`, a range applies only to the object version that the client knows. */
function wantedRange({ headers }: ApiRequest, { etag }: ObjectInfo): string | undefined {
  const only = header(headers, 'if-range');
  return only === undefined || only === `"${etag}"` ? header(headers, 'range') : undefined;
}
