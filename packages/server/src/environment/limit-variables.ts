import {
  DEFAULT_LINE_SETTINGS,
  DEFAULT_PAID_CALLS_PER_DAY,
  DEFAULT_RATE_LIMITS,
  DEFAULT_TOKEN_LIFETIMES,
  type RateLimits,
} from '@questline/core/internal';
import { flag, rate, whole } from './fields.ts';

const LINE_LENGTH = { min: 0, max: 9000 };
const TOKEN_SECONDS = { min: 60, max: 10 * 365 * 86_400 };

/** The default limits of signed-in users. An agent run needs an answer at every step. */
const RATE_LIMITS: RateLimits = { ...DEFAULT_RATE_LIMITS, completions: { limit: 1000, per: 'hour' } };

const ceiling = (rateClass: keyof RateLimits, meaning: string) => rate(RATE_LIMITS[rateClass], { meaning });

/** Rate limits, waiting work and lifetimes of tokens. */
export const limitVariables = {
  RATE_LIMIT_READS: ceiling('reads', 'read operations, per signed-in user'),
  RATE_LIMIT_WORK: ceiling('work', 'all other operations of the public API'),
  RATE_LIMIT_AI_TOOLS: ceiling('ai-tools', 'tools'),
  RATE_LIMIT_COMPLETIONS: ceiling('completions', 'streaming completions'),
  RATE_LIMIT_AGENTS_LIST: ceiling('agents-list', 'listing agents'),
  RATE_LIMIT_AGENTS_CREATE: ceiling('agents-create', 'creating agents'),
  RATE_LIMIT_AGENTS_UPDATE: ceiling('agents-update', 'updating agents'),
  RATE_LIMIT_AGENTS_DELETE: ceiling('agents-delete', 'deleting agents'),
  RATE_LIMIT_SESSION_AGENTS: ceiling('session-agents', 'agents of a session'),
  RATE_LIMIT_APPLICATION_AI: ceiling(
    'application-ai',
    'inference, images and descriptions in the application API',
  ),
  RATE_LIMIT_APPLICATION_UPLOAD: ceiling('application-upload', 'transcriptions in the application API'),
  RATE_LIMIT_APPLICATION: ceiling('application', 'all other operations of the application API'),
  PAID_CALLS_PER_DAY: whole(
    { min: 0, max: 1_000_000_000, fallback: DEFAULT_PAID_CALLS_PER_DAY },
    { meaning: 'paid requests per user in 24 hours while credits are off; 0: no limit' },
  ),
  MAX_WAITING: whole(
    { ...LINE_LENGTH, fallback: DEFAULT_LINE_SETTINGS.maxWaiting },
    {
      meaning:
        'accepted jobs that may wait for a worker; more are refused with 503 and Retry-After; 0: no limit',
    },
  ),
  MAX_WAITING_PER_OWNER: whole(
    { ...LINE_LENGTH, fallback: DEFAULT_LINE_SETTINGS.maxWaitingPerOwner },
    { meaning: 'the same, of the turns, images, agent runs and responses of one user' },
  ),
  ACCESS_TOKEN_SECONDS: whole(
    { ...TOKEN_SECONDS, fallback: DEFAULT_TOKEN_LIFETIMES.access },
    { meaning: 'lifetime of access tokens' },
  ),
  REFRESH_TOKEN_SECONDS: whole(
    { ...TOKEN_SECONDS, fallback: DEFAULT_TOKEN_LIFETIMES.refresh },
    { meaning: 'lifetime of refresh tokens; each can be used once' },
  ),
  TRUST_PROXY: flag(false, { meaning: 'trust the X-Forwarded-For header of a proxy in front' }),
};

/** By rate class. A class without a variable fails to compile. */
export const RATE_VARIABLES = {
  reads: 'RATE_LIMIT_READS',
  work: 'RATE_LIMIT_WORK',
  'ai-tools': 'RATE_LIMIT_AI_TOOLS',
  completions: 'RATE_LIMIT_COMPLETIONS',
  'agents-list': 'RATE_LIMIT_AGENTS_LIST',
  'agents-create': 'RATE_LIMIT_AGENTS_CREATE',
  'agents-update': 'RATE_LIMIT_AGENTS_UPDATE',
  'agents-delete': 'RATE_LIMIT_AGENTS_DELETE',
  'session-agents': 'RATE_LIMIT_SESSION_AGENTS',
  'application-ai': 'RATE_LIMIT_APPLICATION_AI',
  'application-upload': 'RATE_LIMIT_APPLICATION_UPLOAD',
  application: 'RATE_LIMIT_APPLICATION',
} as const satisfies Record<keyof RateLimits, keyof typeof limitVariables>;
