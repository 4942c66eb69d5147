import { createHash } from 'node:crypto';
import { ApiError, type ApiRequest } from '@questline/core';
import { readForm, textOfPart } from '@questline/core/internal';

/** A file of a form. */
export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly data: Uint8Array;
}

/** The fields of a form by name, the last one of each, and its files in order. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly FormFile[];
}

const MAX_FIELD_BYTES = 2 ** 17;

/** The content of a form as JSON, with hashes of its files: computed only if it is written. */
export function describeForm({ fields, files }: Form): { toJSON(): unknown } {
  return {
    toJSON: () => ({
      fields,
      files: files.map(({ data, ...about }) => ({
        ...about,
        sha256: createHash('sha256').update(data).digest('base64'),
      })),
    }),
  };
}

/** @param maxBytes of all files together. @throws ApiError 400 for a malformed form, 413 for one that is too large. */
export async function readWholeForm(request: ApiRequest, maxBytes: number): Promise<Form> {
  const fields = new Map<string, string>();
  const files: FormFile[] = [];
  let size = 0;
  for await (const part of readForm(request)) {
    const { name, filename, contentType, body } = part;
    if (filename === undefined) {
      fields.set(name, await textOfPart(part, MAX_FIELD_BYTES));
      continue;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw new ApiError(413, `the files are larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    files.push({ field: name.replace(/\[\]$/, ''), filename, contentType, data: Buffer.concat(chunks) });
  }
  return { fields: Object.fromEntries(fields), files };
}
