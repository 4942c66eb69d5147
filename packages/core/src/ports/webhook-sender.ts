import type { CallOptions } from './options.ts';

/** One signed request to a receiver. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Why a receiver did not answer: its address is not allowed, it redirects, it took too long, or it cannot be reached.
 * Contains nothing of its answer.
 */
export type WebhookFailure = 'forbidden_address' | 'redirect' | 'timeout' | 'connection';

/** The status of the answer, or the reason of a missing answer. */
export type WebhookOutcome =
  | { readonly outcome: 'answered'; readonly status: number }
  | { readonly outcome: 'failed'; readonly reason: WebhookFailure };

/** Calls addresses that users choose. An implementation must not reach the network of the host. */
export interface WebhookSender {
  /** Whether an address may be called, as far as it shows without resolving its name. */
  isAllowed(url: string): Promise<boolean>;
  /**
   * Posts the request, without following redirects, within a fixed time. Resolves the name once, and connects to the
   * address that was checked. Reads no more of the answer than its status. Never rejects, unless the signal is aborted.
   */
  send(request: WebhookRequest, options?: CallOptions): Promise<WebhookOutcome>;
}
