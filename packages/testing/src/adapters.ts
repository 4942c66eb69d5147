import { answerCases } from './adapters/cases/answers.ts';
import { bodyCases } from './adapters/cases/bodies.ts';
import { connectionCases } from './adapters/cases/connections.ts';
import { goldenCases } from './adapters/cases/golden.ts';
import { guestCases } from './adapters/cases/guest.ts';
import { leavingCases } from './adapters/cases/leaving.ts';
import { ownRouteCases } from './adapters/cases/own-routes.ts';
import { requestCases } from './adapters/cases/requests.ts';
import { streamCases } from './adapters/cases/streams.ts';
import type { AdapterCase, Host, HostSetup, Stage } from './adapters/host.ts';
import { createStage } from './adapters/stage.ts';
import { type Case, registerSuite, type SuiteOptions } from './suite.ts';

export type { Host, HostSetup, OwnRoute, Stage } from './adapters/host.ts';
export { listen } from './adapters/listen.ts';
export { createStage } from './adapters/stage.ts';

const promises: readonly AdapterCase[] = [
  ...guestCases,
  ...ownRouteCases,
  ...requestCases,
  ...bodyCases,
  ...answerCases,
  ...streamCases,
  ...leavingCases,
  ...connectionCases,
  ...goldenCases,
];

/** The cases of every adapter, in the order of a request: host, request, body, response, stream, disconnect. */
export const adapterCases: readonly Case<Stage>[] = promises.map((one) => ({ ...one, section: 'behaviour' }));

export interface AdapterSuiteOptions extends Omit<SuiteOptions<Stage>, 'create'> {
  /** Starts the adapter's framework with the given api mounted. `Host` lists what else it must have. */
  readonly create: (setup: HostSetup) => Promise<Host>;
}

/** Registers the conformance suite of an adapter as tests. */
export function adapterSuite(options: AdapterSuiteOptions): void {
  registerSuite('adapter', adapterCases, { ...options, create: async () => createStage(options.create) });
}
