import ts from 'typescript';

/** What a value has that its type has not. */
export interface Mismatch {
  /** For example `choices[0].message.content`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
  readonly kind: 'unknown field' | 'missing field' | 'value';
  /** `<type>.<field>`. Undefined: not the value of a field. */
  readonly field?: string;
  /** Of the kind `value`. */
  readonly value?: unknown;
}

export type CheckValue = (type: ts.Type, value: unknown) => readonly Mismatch[];

interface Property {
  readonly name: string;
  readonly type: ts.Type;
  readonly isOptional: boolean;
  /** The type allows only fixed values. */
  readonly isLiteral: boolean;
}

interface Shape {
  readonly name: string;
  readonly properties: readonly Property[];
  readonly names: ReadonlySet<string>;
  /** The type of other fields. */
  readonly others: ts.Type | undefined;
}

const PRIMITIVE = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike;

/**
 * Checks JSON against a type of TypeScript: types, required fields, fixed values, and fields that the type does not name.
 */
export function createValueCheck(checker: ts.TypeChecker): CheckValue {
  const shapes = new Map<ts.Type, Shape>();

  const getShape = (type: ts.Type): Shape => {
    const known = shapes.get(type);
    if (known !== undefined) return known;
    const properties = checker.getPropertiesOfType(type).map((symbol): Property => {
      const propertyType = checker.getTypeOfSymbol(symbol);
      return {
        name: symbol.getName(),
        type: propertyType,
        isOptional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
        isLiteral: toMembers(propertyType).every((member) => member.isLiteral()),
      };
    });
    const shape = {
      name: getName(checker, type),
      properties,
      names: new Set(properties.map(({ name }) => name)),
      others: checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type,
    };
    shapes.set(type, shape);
    return shape;
  };

  const check = (type: ts.Type, value: unknown, path: string): readonly Mismatch[] => {
    if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return [];
    if (type.isUnion()) return checkUnion(toMembers(type), value, path, type);
    const primitive = type.isIntersection()
      ? type.types.find(({ flags }) => (flags & PRIMITIVE) !== 0)
      : undefined;
    if (primitive !== undefined) return check(primitive, value, path);
    if ((type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) {
      return isPrimitive(type, value) ? [] : [unexpected(type, value, path)];
    }
    if (checker.isArrayType(type) || checker.isTupleType(type)) return checkArray(type, value, path);
    return checkObject(type, value, path);
  };

  const checkArray = (type: ts.Type, value: unknown, path: string): readonly Mismatch[] => {
    if (!Array.isArray(value)) return [unexpected(type, value, path)];
    const [element] = checker.getTypeArguments(type as ts.TypeReference);
    if (element === undefined) return [];
    return value.flatMap((item, index) => check(element, item, `${path}[${index}]`));
  };

  const checkObject = (type: ts.Type, value: unknown, path: string): readonly Mismatch[] => {
    if (!isRecord(value)) return [unexpected(type, value, path)];
    const { name, properties, names, others } = getShape(type);
    const found: Mismatch[] = [];
    for (const property of properties) {
      const place = join(path, property.name);
      const field = `${name}.${property.name}`;
      if (Object.hasOwn(value, property.name)) {
        const some = check(property.type, value[property.name], place);
        found.push(
          ...some.map((one) => (one.path === place && one.kind === 'value' ? { ...one, field } : one)),
        );
      } else if (!property.isOptional) {
        found.push({ path: place, message: `is missing: ${field}`, kind: 'missing field', field });
      }
    }
    for (const [key, item] of Object.entries(value)) {
      if (names.has(key)) continue;
      const place = join(path, key);
      if (others !== undefined) found.push(...check(others, item, place));
      else if (properties.length > 0) {
        const message = `is not a field of ${name}`;
        found.push({ path: place, message, kind: 'unknown field', field: `${name}.${key}` });
      }
    }
    return found;
  };

  /** Reports the member whose fixed values fit; of several, the one that fits best. */
  const checkUnion = (members: readonly ts.Type[], value: unknown, path: string, type: ts.Type) => {
    if (!isRecord(value)) {
      const some = members.map((member) => check(member, value, path));
      return (
        some.find((found) => found.length === 0) ?? deepest(some, path) ?? [unexpected(type, value, path)]
      );
    }
    const objects = members.filter(
      (member) =>
        (member.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0 &&
        !checker.isArrayLikeType(member),
    );
    const [only] = objects;
    if (only !== undefined && objects.length === 1) return check(only, value, path);
    const fitting = objects.filter((member) => {
      const literals = getShape(member).properties.filter(({ isLiteral }) => isLiteral);
      return literals.every(({ name, type: literal, isOptional }) =>
        Object.hasOwn(value, name) ? check(literal, value[name], '').length === 0 : isOptional,
      );
    });
    const [best] = fitting
      .map((member) => check(member, value, path))
      .sort((one, other) => one.length - other.length);
    return best ?? [unexpected(type, value, path)];
  };

  const unexpected = (type: ts.Type, value: unknown, path: string): Mismatch => {
    // The compiler orders a union by what it has read before.
    const members = type.isUnion() && type.aliasSymbol === undefined ? type.types : [type];
    const names = members.map((one) => checker.typeToString(one));
    const expected = names.sort().join(' | ').slice(0, 300);
    const message = `expected ${expected}, received ${JSON.stringify(value)?.slice(0, 200)}`;
    return { path, message, kind: 'value', value };
  };

  return (type, value) => check(type, value, '');
}

/** The members of a union that JSON can have. */
function toMembers(type: ts.Type): readonly ts.Type[] {
  const members = type.isUnion() ? type.types : [type];
  return members.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
}

/** An array whose elements are wrong says more than the union that contains it. */
function deepest(some: readonly (readonly Mismatch[])[], path: string): readonly Mismatch[] | undefined {
  return some.find((found) => found.some((mismatch) => mismatch.path !== path));
}

function isPrimitive(type: ts.Type, value: unknown): boolean {
  const { flags } = type;
  if (type.isStringLiteral() || type.isNumberLiteral()) return value === type.value;
  if ((flags & ts.TypeFlags.BooleanLiteral) !== 0) {
    return (
      typeof value === 'boolean' && (type as ts.Type & { intrinsicName: string }).intrinsicName === `${value}`
    );
  }
  if ((flags & ts.TypeFlags.StringLike) !== 0) return typeof value === 'string';
  if ((flags & ts.TypeFlags.NumberLike) !== 0) return typeof value === 'number';
  if ((flags & ts.TypeFlags.BooleanLike) !== 0) return typeof value === 'boolean';
  if ((flags & ts.TypeFlags.Null) !== 0) return value === null;
  if ((flags & ts.TypeFlags.NonPrimitive) !== 0) return typeof value === 'object' && value !== null;
  return false;
}

/** The name of a type without its file, for example `ChatCompletion.Choice`. */
function getName(checker: ts.TypeChecker, type: ts.Type): string {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  if (symbol === undefined) return checker.typeToString(type);
  return checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
