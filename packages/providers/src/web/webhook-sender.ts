import { type WebhookFailure, type WebhookSender, WebToolError } from '@questline/core/ports';
import { request } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { type AddressCheck, checkTarget, createGuardedAgent } from './guarded-agent.ts';

export interface WebhookSenderOptions {
  /** Per request, from the look-up of the name to the status. Default 10,000 ms. */
  readonly timeoutMs?: number;
  /**
   * Which addresses may be called. Default: those of the open internet. A host that calls its own services permits their
   * addresses, and thereby lets every user call them.
   */
  readonly isAllowedAddress?: AddressCheck;
}

/** Posts webhooks to addresses that users choose: guarded like the pages that tools fetch, and without redirects. */
export function createWebhookSender(options: WebhookSenderOptions = {}): WebhookSender {
  const { timeoutMs = 10_000, isAllowedAddress = isPublicAddress } = options;
  return {
    async isAllowed(url) {
      try {
        checkTarget(url, isAllowedAddress);
        return true;
      } catch {
        return false;
      }
    },

    async send({ url, headers, body }, call) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = call?.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]);
      const agent = createGuardedAgent(isAllowedAddress, timeoutMs);
      try {
        const target = checkTarget(url, isAllowedAddress);
        const answer = await request(target, { method: 'POST', dispatcher: agent, signal, headers, body });
        // The answer may be endless, and is not read: it ends with its connection.
        answer.body.on('error', () => undefined);
        const { statusCode: status } = answer;
        if (status >= 300 && status < 400) return { outcome: 'failed', reason: 'redirect' };
        return { outcome: 'answered', status };
      } catch (error) {
        call?.signal?.throwIfAborted();
        return { outcome: 'failed', reason: deadline.aborted ? 'timeout' : getReason(error) };
      } finally {
        await agent.destroy();
      }
    },
  };
}

function getReason(error: unknown): WebhookFailure {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WebToolError) return 'forbidden_address';
  }
  return 'connection';
}
