/**
 * Building blocks of framework adapters. Applications do not need this module: they call `toExpress`, `toFastify`,
 * `toKoa` etc.
 */
export { answer, headersWithLength, isBodiless, UNEXPECTED } from './answer.ts';
export { below } from './node.ts';
export { type HostRequest, NodeRequest, type NodeRequestOptions } from './node-request.ts';
export { sendNodeResponse } from './node-response.ts';
export { discard, isStreamed } from './pump.ts';
export { toReadable } from './readable.ts';
export { getRequestId } from './request-id.ts';
