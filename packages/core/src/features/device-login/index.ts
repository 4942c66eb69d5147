import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import {
  createDescribeDeviceLoginHandler,
  createInitiateDeviceLoginHandler,
  createPollDeviceLoginHandler,
  createRenewDeviceTokensHandler,
  createVerifyDeviceLoginHandler,
} from './handlers.ts';
import type { DeviceLogins } from './logins.ts';
import { DEVICE_LOGINS } from './records.ts';

export const deviceLogin = {
  name: 'device-login',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [DEVICE_LOGINS],
  routes: (services: ServicesFor<typeof createInitiateDeviceLoginHandler>) => [
    createInitiateDeviceLoginHandler(services),
    createPollDeviceLoginHandler(services),
    createDescribeDeviceLoginHandler(services),
    createVerifyDeviceLoginHandler(services),
    createRenewDeviceTokensHandler(services),
  ],
  periodicTasks: (services: { readonly deviceLogins: DeviceLogins }) => [
    { name: 'sweep-device-logins', everyMs: 600_000, run: () => services.deviceLogins.sweep() },
  ],
};
