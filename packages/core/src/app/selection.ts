import type { Operation } from '../contract/operation.ts';
import type { Route } from '../operations/route.ts';
import { ConfigurationError } from './configuration-error.ts';

/**
 * Which operations an API has. Each entry is a capability (`sessions`), an operation id (`listSessions`) or a path
 * (`/api/sessions`, with everything below it). Routes of the host are always part of it.
 */
export type OperationSelection =
  | { readonly only: readonly string[]; readonly without?: never }
  | { readonly without: readonly string[]; readonly only?: never };

/** A route of an api, and where it comes from. `String(route)` is its method and path. */
export interface MountedRoute extends Route {
  /** The capability that it belongs to; `host` for routes of the host. */
  readonly capability: string;
  /** The path and its aliases. */
  readonly paths: readonly Operation['path'][];
  toString(): string;
}

/** @param options.rootAliases false: without the aliases outside `/api/`. */
export function mountRoute(
  route: Route,
  capability: string,
  { rootAliases }: { readonly rootAliases: boolean },
): MountedRoute {
  const { path, method, aliases = [] } = route.operation;
  const paths = [path, ...(rootAliases ? aliases : aliases.filter((alias) => alias.startsWith('/api/')))];
  return {
    ...route,
    capability,
    paths,
    toString: () => paths.map((one) => `${method} ${one}`).join('\n'),
  };
}

/**
 * Applies each selection; undefined selects all.
 * @throws ConfigurationError that lists the possible names.
 */
export function selectRoutes(
  routes: readonly MountedRoute[],
  ...selections: readonly (OperationSelection | undefined)[]
): readonly MountedRoute[] {
  let left = routes;
  for (const selection of selections) {
    if (selection === undefined) continue;
    checkSelection(routes, selection);
    left = keepSelected(left, selection);
  }
  return left;
}

function checkSelection(routes: readonly MountedRoute[], { only, without }: OperationSelection): void {
  if ((only === undefined) === (without === undefined)) {
    throw new ConfigurationError(['operations: expected one of `only` and `without`'], 'createApi');
  }
  const own = routes.filter(({ capability }) => capability !== HOST);
  const unknown = (only ?? without ?? []).filter((name) => !own.some((route) => matches(route, name)));
  if (unknown.length > 0) throw new ConfigurationError([describeUnknown(unknown, own)], 'createApi');
}

/** Ignores unknown names. */
function keepSelected(
  routes: readonly MountedRoute[],
  { only, without }: OperationSelection,
): readonly MountedRoute[] {
  if (without !== undefined) return routes.flatMap((route) => withoutNames(route, without));
  return routes.filter((route) => route.capability === HOST || only.some((name) => matches(route, name)));
}

/** @param createRoutes called at most once, and only for a selection. @returns whether an operation is left, by its id. */
export function createOperationCheck(
  selection: OperationSelection | undefined,
  createRoutes: () => readonly MountedRoute[],
): (id: string) => boolean {
  if (selection === undefined) return () => true;
  let left: ReadonlySet<string> | undefined;
  return (id) => {
    left ??= new Set(keepSelected(createRoutes(), selection).map(({ operation }) => operation.id));
    return left.has(id);
  };
}

/** The capability of routes of the host. */
export const HOST = 'host';

function matches(route: MountedRoute, name: string): boolean {
  return (
    route.capability === name ||
    route.operation.id === name ||
    route.paths.some((path) => isBelow(path, name))
  );
}

/** A path that is only an alias leaves the operation at its other paths. */
function withoutNames(route: MountedRoute, names: readonly string[]): MountedRoute[] {
  const { operation, capability } = route;
  if (capability === HOST) return [route];
  if (names.some((name) => [capability, operation.id].includes(name) || isBelow(operation.path, name))) {
    return [];
  }
  const [, ...aliases] = route.paths.filter((path) => !names.some((name) => isBelow(path, name)));
  if (aliases.length + 1 === route.paths.length) return [route];
  const left: Operation = { ...operation, aliases };
  return [mountRoute({ ...route, operation: left }, capability, { rootAliases: true })];
}

function isBelow(path: string, name: string): boolean {
  return name.startsWith('/') && (path === name || path.startsWith(`${name.replace(/\/$/, '')}/`));
}

function describeUnknown(unknown: readonly string[], routes: readonly MountedRoute[]): string {
  const capabilities = [...new Set(routes.map(({ capability }) => capability))].map((capability) => {
    const operations = routes.filter((route) => route.capability === capability);
    return `${capability} (${operations.map(({ operation }) => operation.id).join(', ')})`;
  });
  const paths = [...new Set(routes.flatMap((route) => route.paths))];
  return (
    `operations: unknown ${unknown.map((name) => JSON.stringify(name)).join(', ')}. ` +
    `Possible capabilities (and operations): ${capabilities.join('; ')}. Possible paths: ${paths.join(', ')}`
  );
}
