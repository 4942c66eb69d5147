import { WebToolError, type WebTools } from '@questline/core/ports';
import { readWhole } from './body.ts';
import { asWebToolError, follow } from './fetch-page.ts';
import { type AddressCheck, checkTarget, createGuardedAgent } from './guarded-agent.ts';

/** Fetches files of the open internet, whole. Every hop of a redirect is checked like the first. */
export function createFetchFile(
  isAllowed: AddressCheck,
  timeoutMs: number,
): NonNullable<WebTools['fetchFile']> {
  return async (address, { accept, maxBytes }, options) => {
    const agent = createGuardedAgent(isAllowed, timeoutMs);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options?.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    try {
      const wanted = accept.map((type) => (type.endsWith('/') ? `${type}*` : type)).join(', ');
      const { answer } = await follow(checkTarget(address, isAllowed), isAllowed, agent, signal, wanted);
      const [mediaType = ''] = String(answer.headers['content-type'] ?? '')
        .toLowerCase()
        .split(/\s*;/);
      if (!accept.some((type) => mediaType.startsWith(type))) {
        throw new WebToolError('INVALID_INPUT', 'url: there is something of another type.');
      }
      return { mediaType, data: await readWhole(answer, maxBytes) };
    } catch (error) {
      throw asWebToolError(error);
    } finally {
      await agent.destroy();
    }
  };
}
