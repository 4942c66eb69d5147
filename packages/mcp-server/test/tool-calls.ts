import type { JsonObject } from '../src/json-rpc.ts';
import { type OperationInput, OperationRefused, type Runner } from '../src/runner.ts';
import type { ToolCall } from '../src/tools/tool.ts';

type Answers = Readonly<Record<string, JsonObject | Error | ((input: OperationInput) => JsonObject)>>;

export interface FakeCall extends ToolCall {
  /** The operations that ran, with their inputs. */
  readonly asked: readonly (readonly [string, OperationInput | undefined])[];
}

/** The context of a call with these answers of operations, by id; the others are unknown. */
export function createCall(
  answers: Answers = {},
  { services = {}, isRepeatable = false }: { services?: object; isRepeatable?: boolean } = {},
): FakeCall {
  const asked: [string, OperationInput | undefined][] = [];
  const runner: Runner = {
    isRepeatable,
    hasRun: () => false,
    headers: () => ({}),
    async run(id, input) {
      asked.push([id, input]);
      const answer = answers[id] ?? new OperationRefused(404, `${id} is unknown`, undefined);
      if (answer instanceof Error) throw answer;
      return typeof answer === 'function' ? answer(input ?? {}) : answer;
    },
  };
  const call = { caller: { userId: 'u' }, signal: new AbortController().signal };
  return { asked, runner, services, call, maxWaitMs: 5_000 } as unknown as FakeCall;
}

/** A source of states whose end is announced to `waits`. */
export function createWaits(): {
  readonly services: object;
  readonly waits: readonly { readonly id: string; readonly timeoutMs: number; readonly status: unknown }[];
} {
  const waits: { id: string; timeoutMs: number; status: unknown }[] = [];
  const services = {
    store: {
      collection: () => ({
        get: async (id: string) => ({
          id,
          status: 'stored',
          state: id === 'ended' ? 'succeeded' : 'running',
        }),
      }),
    },
    questEvents: {
      async untilEnded(
        states: { get(id: string): Promise<{ status: unknown } | undefined> },
        id: string,
        { timeoutMs }: { timeoutMs: number },
      ) {
        waits.push({ id, timeoutMs, status: (await states.get(id))?.status });
      },
    },
  };
  return { services, waits };
}
