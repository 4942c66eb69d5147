import type { Description } from '@questline/core/internal';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { getEvents } from './events.ts';
import type { Answer } from './wire.ts';

/** Headers of HTTP itself, which need no description. */
const OF_HTTP =
  /^(?:access-control-.*|cache-control|connection|content-.*|date|keep-alive|referrer-policy|transfer-encoding|vary|x-accel-buffering)$/;

interface Described {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** Compares answers with the published API description. */
export interface DescriptionCheck {
  /** Fails when an answer does not match the description of its operation. Other operations are ignored. */
  check(method: string, path: string, answer: Answer): void;
  /** The tested combinations of `operationId status`. */
  readonly seen: ReadonlySet<string>;
}

export function createDescriptionCheck(descriptions: readonly Description[]): DescriptionCheck {
  const seen = new Set<string>();
  const checks = descriptions.map((description) => createCheck(description, seen));
  return {
    seen,
    check(method, path, answer) {
      const bare = path.split('?', 1)[0] ?? '';
      // A literal path of one document does not match `{id}` of a path in another.
      const naming = checks.filter(({ names }) => names.has(bare));
      for (const one of naming.length > 0 ? naming : checks) one.check(method, path, answer);
    },
  };
}

/** Calls `expect` only for what is wrong: it costs more than the comparison of an answer. */
function createCheck(
  description: Description,
  seen: Set<string>,
): Pick<DescriptionCheck, 'check'> & { /* Literal paths. */ readonly names: ReadonlySet<string> } {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'description', ...description });
  const places = Object.entries(description.paths).map(([template, place]) => ({
    matches: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    literal: !template.includes('{'),
    place,
  }));

  function resolve<T>(value: T & { readonly $ref?: string }): T {
    if (value.$ref === undefined) return value;
    let found: unknown = description;
    for (const step of value.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[step];
    return found as T;
  }

  const validators = new Map<object | string, ValidateFunction>();

  /** Cached, because compiling costs far more than validating and the same few schemas recur. */
  function getValidator(schema: { readonly $ref?: string }): ValidateFunction {
    const name = schema.$ref ?? schema;
    const known =
      validators.get(name) ?? ajv.compile(typeof name === 'string' ? { $ref: `description${name}` } : name);
    validators.set(name, known);
    return known;
  }

  function isValid(schema: object, value: unknown, what: string): void {
    const validate = getValidator(schema);
    if (!validate(value)) expect(validate.errors, what).toEqual([]);
  }

  function checkHeaders(described: Described, answer: Answer, what: string): void {
    const stated = new Map(
      Object.entries(described.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
    );
    for (const [name, value] of Object.entries(answer.headers)) {
      if (OF_HTTP.test(name)) continue;
      const header = stated.get(name);
      if (header === undefined) expect.fail(`${what}: ${name} is described`);
      const { schema } = resolve(header as { schema: { type?: string } });
      isValid(schema, schema.type === 'integer' ? Number(value) : value, `${what}: ${name}`);
    }
    for (const [name, header] of stated) {
      const { required } = resolve(header as { required?: boolean });
      if (required === true && !Object.hasOwn(answer.headers, name)) expect.fail(`${what}: ${name} is there`);
    }
  }

  return {
    names: new Set(Object.keys(description.paths).filter((template) => !template.includes('{'))),
    check(method, path, answer) {
      const bare = path.split('?', 1)[0] ?? '';
      const found = places.filter(({ matches }) => matches.test(bare));
      const { place } = found.find(({ literal }) => literal) ?? found[0] ?? {};
      if (place === undefined) return;
      const own = place[method === 'HEAD' ? 'get' : method.toLowerCase()];
      // A method that is not declared is answered like any operation of the path.
      const operation = own ?? (answer.status === 405 ? Object.values(place)[0] : undefined);
      if (operation === undefined) return;
      const what = `${operation.operationId} ${answer.status}`;
      seen.add(what);
      const stated = operation.responses[answer.status];
      if (stated === undefined) expect.fail(`${what} is described`);
      const described = resolve(stated as Described);
      checkHeaders(described, answer, what);
      if (method === 'HEAD') return;
      const type = answer.headers['content-type']?.split(';', 1)[0];
      const types = Object.keys(described.content ?? {});
      if (type === undefined) {
        if (types.length > 0) expect(types, `${what}: content type`).toEqual([]);
        return;
      }
      const ranges = [type, `${type.split('/', 1)[0]}/*`, '*/*'];
      const known = types.find((one) => ranges.includes(one));
      if (known === undefined) expect.fail(`${what}: ${type} is one of ${types}`);
      const schema = described.content?.[known ?? '']?.schema ?? {};
      if (known !== 'text/event-stream') return isValid(schema, answer.body, what);
      for (const event of getEvents(answer.text)) isValid(schema, event, what);
    },
  };
}
