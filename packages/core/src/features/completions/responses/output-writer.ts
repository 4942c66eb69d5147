import type { CatalogueEntry } from '../../../models/catalogue.ts';
import { callFailure } from '../../../models/failures.ts';
import type { AnswerPart } from '../../../ports/models.ts';
import { QuestAbandoned } from '../../../runs/quest-task.ts';
import type { RunContext } from '../../../runs/run-context.ts';
import { isApiError } from '../../../shared/errors.ts';
import type { Incident } from '../../../shared/incident.ts';
import { isOutput, packOutput, type ResponseOutput } from './output.ts';

export const INTERRUPTED = 'The response was interrupted, and its rest is lost. Please try again.';

/** Keeps the parts of an answer, and emits them for readers. */
export interface OutputWriter {
  readonly parts: AnswerPart[];
  /** @param entry the model that answers. */
  begin(entry: CatalogueEntry): void;
  add(part: AnswerPart): void;
  /**
   * Stores that there is output, so that a crash ends the response and does not repeat it. Aborts the signal of the run if
   * this worker may no longer write.
   */
  save(): Promise<void>;
  keep(facts: Omit<ResponseOutput, 'parts' | 'model'>): void;
  /** Keeps an answer that broke off. @returns the error for the end of the quest. */
  fail(error: unknown): unknown;
}

export function createOutputWriter(
  { onError }: { readonly onError: (incident: Incident) => void },
  { quest, operation, signal, live, writer, update }: RunContext,
): OutputWriter {
  const parts: AnswerPart[] = [];
  let model: string | undefined;

  const keep: OutputWriter['keep'] = (facts) =>
    update({ output: packOutput({ parts, ...(model !== undefined && { model }), ...facts }) });

  return {
    parts,
    begin({ info }) {
      model = info.id;
    },
    add(part) {
      if (!isOutput(part)) return;
      const at = parts.push(part) - 1;
      live.emit({ type: 'part', at, part });
      // The periodic writes of the text also keep what a crash would cost.
      if (part.type === 'text') writer.append(part.text);
    },
    async save() {
      writer.append(' ');
      await live.flush();
      await writer.save();
    },
    keep,
    fail(error) {
      if (error instanceof QuestAbandoned) return error;
      if (signal.aborted) {
        if (parts.length > 0) keep({});
        return error;
      }
      if (!isApiError(error)) onError({ operation, requestId: quest.request.requestId, error });
      const failure = callFailure(error, 'public');
      keep({ failure });
      return failure;
    },
  };
}
