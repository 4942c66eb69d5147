import { answerCases, failureCases } from './models/answers.ts';
import { leavingCases } from './models/leaving.ts';
import { requestCases } from './models/requests.ts';
import type { ModelsCase, ModelsSubject } from './models/subject.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type {
  ModelScenario,
  ModelStage,
  ModelsCase,
  ModelsSubject,
  ReceivedRequest,
} from './models/subject.ts';

/** The cases of every model provider. */
export const modelsCases: readonly ModelsCase[] = [
  ...answerCases,
  ...requestCases,
  ...failureCases,
  ...leavingCases,
];

/** Registers the conformance suite of `ModelProvider` as tests. */
export function modelsSuite(options: SuiteOptions<ModelsSubject>): void {
  registerSuite('model provider', modelsCases, options);
}
