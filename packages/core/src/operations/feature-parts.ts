/** The module of an `examples.json`, with the examples by `operationId`. */
export interface ExamplesFile {
  readonly default: unknown;
}

/** The services that a factory requires. */
export type ServicesFor<Factory extends (services: never, ...others: never[]) => unknown> =
  Parameters<Factory>[0];
