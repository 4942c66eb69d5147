import type { Frame, Script } from './script.ts';
import type { Videos } from './videos.ts';

/** The implementation of a protocol. */
export interface Protocol {
  /** The path of the base URL, e.g. `/v1`. */
  readonly basePath: string;
  /** @param path of the request, for vendors that speak several protocols. */
  frames(script: Script, path: string): readonly Frame[];
  /**
   * Responses that are not streams, e.g. embeddings; bytes are a `BinaryAnswer`, a status other than 200 is
   * `{status, body}`. Undefined: it is a stream.
   */
  answer?(path: string, body: unknown, exchange: Exchange): unknown;
}

/** Further inputs of a response beside the request's path and body. */
export interface Exchange {
  readonly method: string;
  readonly origin: string;
  readonly videos: Videos;
  readonly script: Script;
}

/** A response that is not JSON, e.g. audio. */
export interface BinaryAnswer {
  readonly contentType: string;
  readonly data: Uint8Array;
}
