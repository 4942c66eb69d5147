import { randomUUID } from 'node:crypto';

/** One field of a form. */
export type FormField =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly filename: string;
      readonly mediaType: string;
      readonly data: Uint8Array;
    };

/** A complete form with files. Its names are constants of this package and need no escaping. */
export function multipart(fields: readonly FormField[]): {
  readonly contentType: string;
  readonly body: Uint8Array;
} {
  const boundary = `questline-${randomUUID()}`;
  const parts: Uint8Array[] = [];
  for (const field of fields) {
    const file = 'data' in field;
    const head = [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${field.name}"${file ? `; filename="${field.filename}"` : ''}`,
      ...(file ? [`Content-Type: ${field.mediaType}`] : []),
      '',
      '',
    ].join('\r\n');
    parts.push(Buffer.from(head), file ? field.data : Buffer.from(field.value), Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(parts) };
}

/** The same headers with another content type. Names and values alternate. */
export function typed(headers: readonly string[], contentType: string): readonly string[] {
  return headers.map((value, place) => (headers[place - 1] === 'content-type' ? contentType : value));
}
