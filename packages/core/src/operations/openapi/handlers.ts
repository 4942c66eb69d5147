import type { Operation } from '../../contract/operation.ts';
import { Reply } from '../../contract/reply.ts';
import { NAME_SUNSET } from '../families.ts';
import type { PipelineServices } from '../pipeline.ts';
import { defineRoute, type Route } from '../route.ts';
import { getApplicationDescription, getDescription, getReference, getReferenceScript } from './contract.ts';
import { type Description, describeOperations, SIDES, type Side } from './document.ts';
import type { OperationExamples } from './examples.ts';
import { pagePolicy, plainPage, redocPage } from './page.ts';
import { serverUrl } from './servers.ts';

export interface DescriptionServices extends PipelineServices {
  readonly publicUrl: string | undefined;
  readonly docsBundle: DocsBundle | undefined;
}

/**
 * Returns the script of the reference page, the text of `redoc/bundles/redoc.standalone.js`. Called at the first
 * visit.
 */
export type DocsBundle = () => Promise<string | Uint8Array>;

/** Loads recorded requests and answers by `operationId`, when a document is first built. */
export type LoadExamples = () => Promise<Readonly<Record<string, OperationExamples>>>;

/** Creates the routes of both descriptions and of the reference page for the given operations. */
export function createDescriptionRoutes(
  services: DescriptionServices,
  others: readonly Operation[],
  loadExamples: LoadExamples = async () => ({}),
): Route[] {
  const { docsBundle } = services;
  const own = [getDescription, getApplicationDescription, getReference];
  const operations = [...others, ...own, ...(docsBundle === undefined ? [] : [getReferenceScript])];
  const documents = createDocuments(operations, loadExamples);
  const plainPageAt = remembered(async (now) =>
    asPage(plainPage(await Promise.all(SIDES.map((side) => documents[side](now))))),
  );
  const reference = defineRoute(getReference, services, async ({ query }) =>
    docsBundle === undefined ? plainPageAt(services.clock.now()) : asPage(redocPage(query.document)),
  );
  return [
    createDocumentRoute(getDescription, services, documents.public),
    createDocumentRoute(getApplicationDescription, services, documents.application),
    reference,
    ...(docsBundle === undefined ? [] : [createScriptRoute(services, docsBundle)]),
  ];
}

function asPage(html: string): Reply {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': pagePolicy(html),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  return new Reply(200, headers, html);
}

type Documents = Readonly<Record<Side, (now: number) => Promise<Description>>>;

/** Builds a document on its first request, because most processes never need it. */
function createDocuments(operations: readonly Operation[], loadExamples: LoadExamples): Documents {
  const create = (side: Side) =>
    remembered(async (now) => describeOperations(operations, { now, side, examples: await loadExamples() }));
  return { public: create('public'), application: create('application') };
}

function createDocumentRoute(
  operation: typeof getDescription | typeof getApplicationDescription,
  services: DescriptionServices,
  documentAt: (now: number) => Promise<Description>,
): Route {
  const { clock, publicUrl } = services;
  const textAt = remembered(async (now) => {
    const { openapi, info, ...rest } = await documentAt(now);
    return { head: JSON.stringify({ openapi, info }).slice(0, -1), tail: JSON.stringify(rest).slice(1) };
  });
  return defineRoute(operation, services, async (_input, { request }) => {
    const { head, tail } = await textAt(clock.now());
    const servers = JSON.stringify([{ url: serverUrl(publicUrl, request) }]);
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      ...(publicUrl === undefined && { Vary: 'Host, X-Forwarded-Proto' }),
    };
    return new Reply(200, headers, `${head},"servers":${servers},${tail}`);
  });
}

function createScriptRoute(services: DescriptionServices, load: DocsBundle): Route {
  let script: Promise<string | Uint8Array> | undefined;
  return defineRoute(getReferenceScript, services, async () => {
    script ??= load()
      .then(withoutOtherOrigins)
      .catch((error: unknown) => {
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

/** Redoc shows a logo from another origin, which the page's policy would block with an error in the browser's console. */
function withoutOtherOrigins(script: string | Uint8Array): string {
  const text = typeof script === 'string' ? script : new TextDecoder().decode(script);
  return text.replaceAll(/https:\/\/cdn\.redoc\.ly\/[\w./-]+/g, 'data:,');
}

/** Caches one result before the sunset of the deprecated field and one after it; a failed build is tried again. */
function remembered<T>(make: (now: number) => Promise<T>): (now: number) => Promise<T> {
  const made = new Map<boolean, Promise<T>>();
  return (now) => {
    const named = now < NAME_SUNSET;
    const known = made.get(named);
    if (known !== undefined) return known;
    const value = make(now);
    made.set(named, value);
    value.catch(() => made.delete(named));
    return value;
  };
}
