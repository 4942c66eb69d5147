import type { Method } from '../contract/operation.ts';
import type { Route } from './route.ts';

/** The routes of one path, by method. */
interface Place {
  readonly routes: Map<string, Route>;
  readonly allow: string[];
  readonly names: readonly string[];
}

interface Node {
  literals: Map<string, Node> | undefined;
  parameter: Node | undefined;
  place: Place | undefined;
}

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not the method. `routes` are the declared ones. */
  | { readonly kind: 'method'; readonly allow: string; readonly routes: readonly Route[] }
  /** The path cannot be decoded. */
  | { readonly kind: 'undecodable'; readonly route: Route };

export interface Router {
  /** @param path raw, still percent-encoded. @returns undefined if the path is unknown. */
  find(method: string, path: string): Match | undefined;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Matches exact paths: decoded once, case-sensitive, without a trailing slash. Literals take precedence over
 * parameters. Literal paths need one map lookup; a tree matches the rest.
 * @param options.rootAliases false: leaves aliases outside `/api/` to the host.
 */
export function createRouter(
  routes: readonly Route[],
  { rootAliases = true }: { readonly rootAliases?: boolean } = {},
): Router {
  const root = emptyNode();
  const literal = new Map<string, Place>();
  for (const route of routes) {
    const { path: own, aliases = [] } = route.operation;
    const others = rootAliases ? aliases : aliases.filter((alias) => alias.startsWith('/api/'));
    for (const path of [own, ...others]) {
      const place = placeAt(root, path);
      add(place, route, path);
      if (place.names.length === 0) literal.set(path, place);
    }
  }
  return {
    find(method, path) {
      const exact = literal.get(path);
      if (exact !== undefined) return answer(exact, method, NO_PARAMS);
      const start = path.indexOf('/') + 1;
      const values: string[] = [];
      const place = start === 0 ? undefined : walk(root, path, start, path.includes('%'), values);
      if (place === undefined) return undefined;
      const params: Record<string, string> = {};
      for (let index = 0; index < values.length; index += 1) {
        const value = decode(values[index] ?? '');
        if (value === undefined) {
          const [route] = place.routes.values();
          return route && { kind: 'undecodable', route };
        }
        params[place.names[index] ?? ''] = value;
      }
      return answer(place, method, params);
    },
  };
}

function emptyNode(): Node {
  return { literals: undefined, parameter: undefined, place: undefined };
}

function placeAt(root: Node, path: string): Place {
  let node = root;
  const names: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1));
      node.parameter ??= emptyNode();
      node = node.parameter;
    } else {
      node.literals ??= new Map();
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  if (node.place === undefined) node.place = { routes: new Map(), allow: [], names };
  else if (node.place.names.join() !== names.join())
    throw new Error(`two operations name the parameters of ${path} differently`);
  return node.place;
}

function add(place: Place, route: Route, path: string): void {
  const method: Method = route.operation.method;
  if (place.routes.has(method)) throw new Error(`two operations have the same route ${method} ${path}`);
  place.routes.set(method, route);
  place.allow.push(method);
  if (method === 'GET') place.allow.push('HEAD');
  if (route.operation.openOrigin === true) place.allow.push('OPTIONS');
}

/**
 * Reads the path in place, because every call with an id passes here.
 * @param start the position after a slash.
 * @param values receives the raw segments of the parameters.
 */
function walk(
  node: Node,
  path: string,
  start: number,
  isEncoded: boolean,
  values: string[],
): Place | undefined {
  const end = path.indexOf('/', start);
  const segment = end === -1 ? path.slice(start) : path.slice(start, end);
  const { literals, parameter } = node;
  if (literals !== undefined) {
    const next = literals.get(isEncoded ? (decode(segment) ?? segment) : segment);
    const place = next && step(next, path, end, isEncoded, values);
    if (place !== undefined) return place;
  }
  if (parameter === undefined || segment === '') return undefined;
  values.push(segment);
  const place = step(parameter, path, end, isEncoded, values);
  if (place === undefined) values.pop();
  return place;
}

/** @param end the position of the next slash; -1 at the end of the path. */
function step(
  node: Node,
  path: string,
  end: number,
  isEncoded: boolean,
  values: string[],
): Place | undefined {
  return end === -1 ? node.place : walk(node, path, end + 1, isEncoded, values);
}

function decode(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function answer(place: Place, method: string, params: Readonly<Record<string, string>>): Match | undefined {
  const route = place.routes.get(method === 'HEAD' ? 'GET' : method);
  if (route !== undefined) return { kind: 'route', route, params };
  const routes = [...place.routes.values()];
  // A word where every operation has an id is another path, which the host may have.
  if (!routes.some(({ operation }) => operation.input.params?.safeParse(params).success !== false))
    return undefined;
  return { kind: 'method', allow: place.allow.join(', '), routes };
}
