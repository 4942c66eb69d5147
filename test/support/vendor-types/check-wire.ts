import type { ApiResponse, Mountable } from '@questline/core';
import { type CheckValue, createValueCheck, type Mismatch } from './check-value.ts';
import { type AnswerTypes, loadVendorTypes } from './load.ts';
import { addChecked, addMismatch } from './mismatches.ts';
import { isPermitted } from './permitted.ts';

export type Vendor = 'openai' | 'anthropic';

interface Check {
  readonly types: AnswerTypes;
  readonly checkValue: CheckValue;
}

/** The types are read once per process, when they are needed first: it takes two seconds. */
const loaded: { types?: ReturnType<typeof loadVendorTypes>; checkValue?: CheckValue } = {};

function getCheck(vendor: Vendor): Check {
  loaded.types ??= loadVendorTypes();
  loaded.checkValue ??= createValueCheck(loaded.types.checker);
  return { types: loaded.types[vendor], checkValue: loaded.checkValue };
}

/** Checks every answer of a vendor's wire, plain, streamed or an error, against the types of its SDK. */
export function withVendorTypes(vendor: Vendor, api: Mountable): Mountable {
  return {
    async handle(request) {
      const response = await api.handle(request);
      if (response === undefined) return undefined;
      return checkResponse(vendor, `${request.method} ${toTemplate(request.path)}`, response);
    },
  };
}

/** `/v1/files/123/content` is `/v1/files/{}/content`. */
function toTemplate(path: string): string {
  return path
    .replace(/^(\/v1\/(?:conversations|files|responses|models)\/)[^/]+/, '$1{}')
    .replace(/^(\/v1\/conversations\/\{\}\/items\/)[^/]+/, '$1{}');
}

function checkResponse(vendor: Vendor, operation: string, response: ApiResponse): ApiResponse {
  const { status, headers, body } = response;
  const type = headers['Content-Type'] ?? '';
  if (type.startsWith('text/event-stream') && status < 400) {
    return { ...response, body: checkEvents(vendor, `${operation}, stream`, body) };
  }
  if (type.startsWith('application/json') && typeof body === 'string') {
    report(vendor, status >= 400 ? 'error' : operation, JSON.parse(body), operation);
  } else if (status >= 400) {
    addMismatch(`${operation}: an error of the type ${type}`);
  }
  return response;
}

function checkEvents(vendor: Vendor, operation: string, body: ApiResponse['body']): ApiResponse['body'] {
  const decoder = new TextDecoder();
  let rest = '';
  const read = (chunk: string | Uint8Array): void => {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) checkFrame(vendor, operation, frame);
  };
  if (body === undefined) return body;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    read(body);
    return body;
  }
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await iterator.next();
          if (result.done !== true) read(result.value);
          return result;
        },
        ...(iterator.return && { return: () => iterator.return?.() as ReturnType<typeof iterator.next> }),
      };
    },
  };
}

function checkFrame(vendor: Vendor, operation: string, frame: string): void {
  const lines = frame.split('\n').filter((line) => !line.startsWith(':'));
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
  if (data.length === 0 || data[0] === '[DONE]') return;
  const value: unknown = JSON.parse(data.join('\n'));
  const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
  const { type } = value as { readonly type?: unknown };
  if (name !== undefined && name !== type) {
    addMismatch(`${operation}: the event ${name} has the type ${String(type)}`);
  }
  const isError = name === undefined && 'error' in (value as object);
  report(vendor, isError ? 'error' : operation, value, operation);
}

function report(vendor: Vendor, answer: string, value: unknown, operation: string): void {
  addChecked();
  for (const { path, message } of checkAnswer(vendor, answer, value)) {
    addMismatch(`${operation}: ${path} ${message}`);
  }
}

/** @returns how an answer differs from its type, apart from what is permitted. */
export function checkAnswer(vendor: Vendor, answer: string, value: unknown): readonly Mismatch[] {
  const { types, checkValue } = getCheck(vendor);
  const type = types.find(answer);
  if (type === undefined) return [{ path: '', message: `no type is known for ${answer}`, kind: 'value' }];
  return checkValue(type, value).filter((mismatch) => !isPermitted(mismatch));
}
