/** A JSON Schema of the published description. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** Writes schemas as TypeScript types. */
export interface TypeWriter {
  /** @param indent the depth of the lines after the first. */
  write(schema: Schema, indent?: number): string;
}

/**
 * @param onReference returns the type name of a component.
 * @param isRequest lists of requests are readonly, so that callers can pass both kinds.
 */
export function createTypeWriter(onReference: (component: string) => string, isRequest: boolean): TypeWriter {
  const write = (schema: Schema, indent = 0): string => {
    const { $ref, anyOf, oneOf, allOf } = schema;
    if ($ref !== undefined) return onReference($ref.slice($ref.lastIndexOf('/') + 1));
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
    const alternatives = anyOf ?? oneOf;
    if (alternatives !== undefined) return union(alternatives.map((one) => write(one, indent)));
    if (allOf !== undefined) {
      const parts = allOf.map((one) => write(one, indent)).filter((type) => type !== 'unknown');
      return parts.length === 1 ? (parts[0] ?? 'unknown') : parts.map((part) => `(${part})`).join(' & ');
    }
    const { type } = schema;
    if (type === undefined) return schema.properties === undefined ? 'unknown' : writeObject(schema, indent);
    const types = typeof type === 'string' ? [type] : type;
    if (types.length >= 6) return 'unknown';
    return union(types.map((one) => writeType(one, schema, indent)));
  };

  const writeType = (type: string, schema: Schema, indent: number): string => {
    switch (type) {
      case 'string':
        return schema.format === 'binary' ? 'Blob' : 'string';
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
      case 'null':
        return type;
      case 'array': {
        const entry = write(schema.items ?? {}, indent);
        const list = /[|&]/.test(entry) ? `(${entry})[]` : `${entry}[]`;
        return isRequest ? `readonly ${list}` : list;
      }
      case 'object':
        return writeObject(schema, indent);
      default:
        throw new Error(`a schema has the type ${type}`);
    }
  };

  const writeObject = (schema: Schema, indent: number): string => {
    const { properties = {}, required = [], additionalProperties } = schema;
    const space = '  '.repeat(indent + 1);
    const lines = Object.entries(properties).map(([name, property]) => {
      const isRequired = required.includes(name);
      const value = write(property, indent + 1);
      return `${writeComment(property, space)}${space}${writeName(name)}${isRequired ? '' : '?'}: ${value}${isRequired ? '' : ' | undefined'};\n`;
    });
    const rest = writeRest(additionalProperties, lines.length > 0, indent);
    if (lines.length === 0) return `Record<string, ${rest ?? 'unknown'}>`;
    if (rest !== undefined) lines.push(`${space}[name: string]: ${rest};\n`);
    return `{\n${lines.join('')}${'  '.repeat(indent)}}`;
  };

  const writeRest = (
    rest: Schema['additionalProperties'],
    hasNames: boolean,
    indent: number,
  ): string | undefined => {
    if (rest === undefined || rest === false) return undefined;
    // The names beside it have other types.
    return rest === true || hasNames ? 'unknown' : write(rest, indent);
  };

  return { write };
}

export function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ');
}

export function writeName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
}

/** A documentation comment, or nothing. */
export function writeComment({ description, deprecated }: Schema, space = ''): string {
  const text = [
    ...(description === undefined ? [] : description.split('\n')),
    ...(deprecated === true ? ['@deprecated'] : []),
  ].map((line) => line.replaceAll('*/', '*\\/').trim());
  if (text.length === 0) return '';
  if (text.length === 1) return `${space}/** ${text[0]} */\n`;
  return `${space}/**\n${text.map((line) => `${space} * ${line}`.trimEnd()).join('\n')}\n${space} */\n`;
}
