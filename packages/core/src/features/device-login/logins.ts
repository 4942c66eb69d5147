import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { removeAll } from '../../ports/remove-where.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { DEVICE_LOGINS, type DeviceLoginRecord } from './records.ts';
import { createUserCode, createUserCodeHash } from './user-code.ts';

export const LIFE_SECONDS = 600;
export const INTERVAL_SECONDS = 5;
/** Each poll that comes too early raises the interval by this (RFC 8628, section 3.5), up to the maximum. */
const SLOWER_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 60;
/** An expired login is kept for this time, so that its device learns that it has expired. */
const KEPT_MS = 10 * 60_000;
const DEVICE_CODE_LENGTH = 43;

/** What asks to be signed in, and from where. */
export interface Device {
  readonly clientId: string;
  readonly userAgent: string | null;
  readonly address: string | null;
}

export interface Decision {
  readonly status: 'approved' | 'denied';
  readonly userId: string;
  readonly tokenVersion: number;
}

/** The answer to one poll of a device. */
export type Polled =
  | { readonly kind: 'unknown' | 'expired' | 'pending' | 'too-fast' | 'denied' }
  | { readonly kind: 'approved'; readonly userId: string; readonly tokenVersion: number };

/** Logins of devices without a browser (RFC 8628). The store contains neither code. */
export interface DeviceLogins {
  begin(device: Device): Promise<{ readonly deviceCode: string; readonly userCode: string }>;
  /** @returns the login that waits for a decision, or undefined for a code that is wrong, decided or expired. */
  find(userCode: string): Promise<DeviceLoginRecord | undefined>;
  /** Decides once: of concurrent decisions, exactly one gets the login. */
  decide(userCode: string, decision: Decision): Promise<DeviceLoginRecord | undefined>;
  /** Ends an approved login: exactly one of any number of concurrent polls gets `approved`. */
  poll(deviceCode: string, clientId: string): Promise<Polled>;
  /** Deletes expired logins. @returns their number. */
  sweep(): Promise<number>;
}

/** @param services.secret key of the stored hashes of user codes. */
export function createDeviceLogins(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secret: Uint8Array;
}): DeviceLogins {
  const { clock, ids } = services;
  const logins = services.store.collection(DEVICE_LOGINS);
  const hashUserCode = createUserCodeHash(services.secret);
  const undecided = (): Filter<DeviceLoginRecord> => ({
    status: 'pending',
    expiresAt: { gt: clock.now() },
  });

  async function find(userCode: string): Promise<DeviceLoginRecord | undefined> {
    const [login] = await logins.find({ ...undecided(), userCodeHash: hashUserCode(userCode) }, { limit: 1 });
    return login;
  }

  async function wait({ id, interval }: DeviceLoginRecord): Promise<Polled> {
    const now = clock.now();
    const inTime = await logins.update(
      id,
      { polledAt: now },
      { status: 'pending', polledAt: { lte: now - interval * 1000 } },
    );
    if (inTime !== undefined) return { kind: 'pending' };
    await logins.add(id, { interval: SLOWER_SECONDS }, { interval: { lt: MAX_INTERVAL_SECONDS } });
    return { kind: 'too-fast' };
  }

  async function collect({ id, clientId }: DeviceLoginRecord): Promise<Polled> {
    const taken = await logins.take(id, { status: 'approved', clientId });
    if (taken === undefined || taken.userId === null || taken.tokenVersion === null) {
      return { kind: 'unknown' };
    }
    return { kind: 'approved', userId: taken.userId, tokenVersion: taken.tokenVersion };
  }

  return {
    find,

    async begin(device) {
      for (;;) {
        const deviceCode = ids.secret(DEVICE_CODE_LENGTH);
        const userCode = createUserCode(ids);
        const now = clock.now();
        const isNew = await logins.insert({
          id: hashSecret(deviceCode),
          userCodeHash: hashUserCode(userCode),
          ...device,
          status: 'pending',
          userId: null,
          tokenVersion: null,
          interval: INTERVAL_SECONDS,
          polledAt: 0,
          createdAt: now,
          expiresAt: now + LIFE_SECONDS * 1000,
        });
        if (isNew) return { deviceCode, userCode };
      }
    },

    async decide(userCode, decision) {
      const login = await find(userCode);
      return login && logins.update(login.id, decision, undecided());
    },

    async poll(deviceCode, clientId) {
      const login = await logins.get(hashSecret(deviceCode), { clientId });
      if (login === undefined) return { kind: 'unknown' };
      if (login.expiresAt <= clock.now()) return { kind: 'expired' };
      switch (login.status) {
        case 'pending':
          return wait(login);
        case 'denied':
          return { kind: 'denied' };
        case 'approved':
          return collect(login);
      }
    },

    sweep: () => removeAll(logins, { expiresAt: { lte: clock.now() - KEPT_MS } }),
  };
}
