import { NAME_SUNSET } from '../http/families.ts';
import type { Operation } from '../operation.ts';
import type { PipelineServices } from '../pipeline.ts';
import { Reply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import { getDescription, getReference, getReferenceScript } from './contract.ts';
import { describeOperations } from './document.ts';
import { pagePolicy, plainPage, redocPage } from './page.ts';
import { serverUrl } from './servers.ts';

export interface DescriptionServices extends PipelineServices {
  readonly publicUrl: string | undefined;
  readonly docsBundle: DocsBundle | undefined;
}

/** The script of a reference page, as `redoc/bundles/redoc.standalone.js`. Asked for at the first visit. */
export type DocsBundle = () => Promise<string | Uint8Array>;

/** `GET /api/v1/openapi.json` and `GET /api/v1/docs`, for the given operations. */
export function createDescriptionRoutes(
  services: DescriptionServices,
  operations: readonly Operation[],
): Route[] {
  const { clock, publicUrl, docsBundle } = services;
  // Made when somebody asks: most processes never are. It changes once, when a deprecated field leaves.
  const descriptionAt = remembered((now) => describeOperations(operations, now));
  const textAt = remembered((now) => {
    const { openapi, info, ...rest } = descriptionAt(now);
    return {
      head: JSON.stringify({ openapi, info }).slice(0, -1),
      tail: JSON.stringify(rest).slice(1),
    };
  });
  const pageAt = remembered((now) => {
    const html = docsBundle === undefined ? plainPage(descriptionAt(now)) : redocPage();
    return { html, policy: pagePolicy(html) };
  });

  const description = defineRoute(getDescription, services, async (_input, { request }) => {
    const { head, tail } = textAt(clock.now());
    const servers = JSON.stringify([{ url: serverUrl(publicUrl, request) }]);
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      ...(publicUrl === undefined && { Vary: 'Host, X-Forwarded-Proto' }),
    };
    return new Reply(200, headers, `${head},"servers":${servers},${tail}`);
  });

  const reference = defineRoute(getReference, services, async () => {
    const { html, policy } = pageAt(clock.now());
    const headers = {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    };
    return new Reply(200, headers, html);
  });

  return docsBundle === undefined
    ? [description, reference]
    : [description, reference, createScriptRoute(services, docsBundle)];
}

function createScriptRoute(services: DescriptionServices, load: DocsBundle): Route {
  let script: Promise<string | Uint8Array> | undefined;
  return defineRoute(getReferenceScript, services, async () => {
    script ??= load().catch((error: unknown) => {
      script = undefined;
      throw error;
    });
    const headers = {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=86400',
      'X-Content-Type-Options': 'nosniff',
    };
    return new Reply(200, headers, await script);
  });
}

/** Remembers what was made before the sunset, and what was made after it. */
function remembered<T>(make: (now: number) => T): (now: number) => T {
  const made = new Map<boolean, T>();
  return (now) => {
    const named = now < NAME_SUNSET;
    const value = made.get(named) ?? make(now);
    made.set(named, value);
    return value;
  };
}
