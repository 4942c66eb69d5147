import { createMemoryLimiter } from '@questline/core/memory';
import { type RateLimiter, takeInTurn } from '@questline/core/ports';
import { createFakeClock, fakeTime, type LimiterSubject, limiterCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

const UNLIMITED = Number.MAX_SAFE_INTEGER;

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: RateLimiter) => Partial<RateLimiter>,
): Defect<LimiterSubject> {
  return {
    name,
    red,
    create: async () => {
      const sound = createMemoryLimiter();
      return {
        limiter: { take: sound.take, peek: sound.peek, ...spoil(sound) },
        time: fakeTime(createFakeClock()),
      };
    },
  };
}

/** Takes from the windows in this order, as if each had a separate counter. */
function oneByOne(sound: RateLimiter, order: (names: string[]) => string[]): RateLimiter['take'] {
  return async (key, windows, now) => {
    let isAllowed = true;
    for (const name of order(windows.map((window) => window.name))) {
      const window = windows.find((each) => each.name === name);
      if (window !== undefined) isAllowed &&= (await sound.take(key, [window], now)).allowed;
    }
    const states = await sound.peek(key, windows, now);
    const refusedBy = isAllowed ? undefined : states.find(({ remaining }) => remaining === 0);
    return { allowed: isAllowed, windows: states, ...(refusedBy && { refusedBy }) };
  };
}

defectTests('limiter', limiterCases, [
  defect(
    'takes slots of reported windows',
    ['returns the state of a reported window without a slot of it, unless it ignores reports'],
    (sound) => ({
      take: (key, windows, now, { report = [], ...options } = {}) =>
        sound.take(key, [...windows, ...report], now, options),
    }),
  ),
  defect(
    'peeks before it takes',
    [
      'allows exactly 60 of 100 parallel takes under a limit of 60',
      'counts parallel takes of many keys exactly for each',
    ],
    (sound) => ({
      async take(key, windows, now) {
        const states = await sound.peek(key, windows, now);
        const refusedBy = states.find(({ remaining }) => remaining === 0);
        if (refusedBy !== undefined) return { allowed: false, refusedBy, windows: states };
        await gap();
        await sound.take(
          key,
          windows.map((window) => ({ ...window, limit: UNLIMITED })),
          now,
        );
        return { allowed: true, windows: await sound.peek(key, windows, now) };
      },
    }),
  ),
  defect(
    'keeps the minute slot when the day rejects',
    [
      'keeps the minute unchanged when the day rejects',
      'returns every minute slot when the day rejects parallel takes',
    ],
    (sound) => ({ take: oneByOne(sound, (names) => names) }),
  ),
  defect(
    'counts the day when the minute rejects',
    ['keeps the day unchanged when the minute rejects'],
    (sound) => ({ take: oneByOne(sound, (names) => [...names].reverse()) }),
  ),
  defect(
    'allows one too many',
    ['allows exactly the limit and rejects the next take', 'allows one take under a limit of one'],
    (sound) => ({
      async take(key, windows, now) {
        const decision = await sound.take(
          key,
          windows.map((window) => ({ ...window, limit: window.limit + 1 })),
          now,
        );
        const shown = decision.windows.map((state) => ({ ...state, limit: state.limit - 1 }));
        return { ...decision, windows: shown };
      },
    }),
  ),
  defect(
    'ends its windows one millisecond late',
    ['rejects until the millisecond at which the window ends'],
    (sound) => ({ take: (key, windows, now) => sound.take(key, windows, now - 1) }),
  ),
  defect(
    'opens its windows at full minutes',
    ['rejects until the millisecond at which the window ends'],
    (sound) => ({
      take: (key, windows, now) => sound.take(key, windows, now - (now % 60_000)),
      peek: (key, windows, now) => sound.peek(key, windows, now - (now % 60_000)),
    }),
  ),
  defect('takes on peek', ['takes and opens nothing on peek'], (sound) => ({
    peek: async (key, windows, now) => (await sound.take(key, windows, now)).windows,
  })),
  defect('keeps one count for all keys', ['keeps keys independent'], (sound) => ({
    take: (_key, windows, now) => sound.take('all', windows, now),
    peek: (_key, windows, now) => sound.peek('all', windows, now),
  })),
  defect(
    'takes from the keys after a refused one',
    ['ends at the first key that is refused: those before it are counted, those after it are not'],
    (sound) => ({
      takeAll: (takes, now) => Promise.all(takes.map(({ key, windows }) => sound.take(key, windows, now))),
    }),
  ),
  defect(
    'gives back the slots of the keys before a refused one',
    ['ends at the first key that is refused: those before it are counted, those after it are not'],
    (sound) => ({
      async takeAll(takes, now) {
        const decisions = [];
        for (const { key, windows } of takes) {
          const states = await sound.peek(key, windows, now);
          const refusedBy = states.find(({ remaining }) => remaining === 0);
          decisions.push({
            allowed: refusedBy === undefined,
            windows: states,
            ...(refusedBy && { refusedBy }),
          });
          if (refusedBy !== undefined) return decisions;
        }
        return takeInTurn(sound, takes, now);
      },
    }),
  ),
  defect(
    'looks at all keys before it takes from them',
    ['allows exactly the limit of each key to parallel takes of several'],
    (sound) => ({
      async takeAll(takes, now) {
        for (const [at, { key, windows }] of takes.entries()) {
          const states = await sound.peek(key, windows, now);
          if (states.some(({ remaining }) => remaining === 0)) {
            return takeInTurn(sound, takes.slice(0, at + 1), now);
          }
        }
        await gap();
        const wide = takes.map(({ key, windows }) => ({
          key,
          windows: windows.map((window) => ({ ...window, limit: UNLIMITED })),
        }));
        return takeInTurn(sound, wide, now);
      },
    }),
  ),
]);
