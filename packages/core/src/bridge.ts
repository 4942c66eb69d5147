/** What adapters are made of. Applications need none of it: they call `toExpress`, `toFastify`, `toKoa` and their kind. */
export { answer, headersWithLength, isBodiless, UNEXPECTED } from './http/answer.ts';
export { below } from './http/node.ts';
export { type HostRequest, NodeRequest, type NodeRequestOptions } from './http/node-request.ts';
export { sendNodeResponse } from './http/node-response.ts';
export { discard, isStreamed } from './http/pump.ts';
export { toReadable } from './http/readable.ts';
