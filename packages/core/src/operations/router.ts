import type { Method } from '../contract/operation.ts';
import type { Route } from './route.ts';

/** The routes of one path, by method. */
interface Place {
  readonly routes: Map<string, Route>;
  readonly allow: string[];
  readonly names: readonly string[];
}

interface Node {
  readonly literals: Map<string, Node>;
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
      const raw = path.split('/');
      const found = walk(root, raw, 1, []);
      if (found === undefined) return undefined;
      const params: Record<string, string> = {};
      for (const [index, name] of found.place.names.entries()) {
        const value = decode(found.values[index] ?? '');
        if (value === undefined) {
          const [route] = found.place.routes.values();
          return route && { kind: 'undecodable', route };
        }
        params[name] = value;
      }
      return answer(found.place, method, params);
    },
  };
}

function emptyNode(): Node {
  return { literals: new Map(), parameter: undefined, place: undefined };
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
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  node.place ??= { routes: new Map(), allow: [], names };
  if (node.place.names.join() !== names.join())
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

function walk(
  node: Node,
  segments: readonly string[],
  index: number,
  values: readonly string[],
): { place: Place; values: readonly string[] } | undefined {
  if (index === segments.length) return node.place && { place: node.place, values };
  const segment = segments[index] ?? '';
  const next = node.literals.get(segment.includes('%') ? (decode(segment) ?? segment) : segment);
  const found = next && walk(next, segments, index + 1, values);
  if (found !== undefined) return found;
  if (node.parameter === undefined || segment === '') return undefined;
  return walk(node.parameter, segments, index + 1, [...values, segment]);
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
