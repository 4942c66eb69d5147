import type { WebhookSender } from '@questline/core/ports';
import { NOW, type TestAppOptions } from '../support/test-app.ts';

export interface Recorded {
  readonly calls: string[];
  readonly money: string[];
  readonly state: string[];
}

const HOUR_MS = 3_600_000;
const EPOCHS = new RegExp(`\\b${String(NOW).slice(0, 6)}\\d{4}(?:\\d{3})?\\b`, 'g');
const ACCEPTING: WebhookSender = {
  isAllowed: async () => true,
  send: async () => ({ outcome: 'answered', status: 200 }),
};

/** A value as a text, without the times of the test itself: a request may take longer or shorter. */
export function toText(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    part instanceof Uint8Array
      ? Buffer.from(part).toString('base64')
      : part instanceof AbortSignal || typeof part === 'function'
        ? undefined
        : part,
  );
  return text.replaceAll(/2026-11-21T1[2-5]:\d\d:\d\d\.\d{3}Z/g, 'T').replaceAll(EPOCHS, (digits) => {
    const ms = digits.length === 10 ? Number(digits) * 1000 : Number(digits);
    return ms >= NOW && ms <= NOW + 3 * HOUR_MS ? 'T' : digits;
  });
}

/** The options of an app with the calls of its ports recorded. */
export function recordPorts(options: TestAppOptions, { calls, money, state }: Recorded): TestAppOptions {
  const { onEvent } = options.settings ?? {};
  return {
    ...options,
    models: (options.models ?? []).map((model) => recorded(model, 'model', calls)),
    ...(options.objects !== undefined && { objects: recorded(options.objects, 'objects', state) }),
    ledger: (ledger) => recorded(options.ledger?.(ledger) ?? ledger, 'ledger', money),
    ...(options.web !== undefined && { web: recorded(options.web, 'web', calls) }),
    ...(options.webhooks !== null && {
      webhooks: recorded(options.webhooks ?? ACCEPTING, 'webhooks', calls),
    }),
    settings: {
      ...options.settings,
      onEvent: (event) => {
        state.push(toText(['event', event]));
        return onEvent?.(event);
      },
    },
  };
}

/** Calls that read, or repeat without an effect. */
const READS =
  /^(?:models|listModels|isAllowed|balance|poll|spent|usage|sum\w*|list\w*|get|head|sign\w*|transactions|history|read\w*|renew|capUsage|holds?Of|close)$/;

function recorded<T extends object>(port: T, name: string, calls: string[]): T {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol' || READS.test(key)) return value;
      if (typeof value === 'function')
        return (...values: unknown[]) => {
          calls.push(toText([`${name}.${key}`, values]));
          return Reflect.apply(value, target, values);
        };
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? recorded(value, `${name}.${key}`, calls)
        : value;
    },
  });
}
