import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { findOwned, type MovingApp, shareMoves } from '../support/moves.ts';
import { makeSession } from '../support/owned-resources.ts';
import { type Pause, pauseStatements } from '../support/paused-statements.ts';

const INTERRUPTED = new Error('the process ends');
const TAKEN_OVER = 'was taken over by another process';

/** Moves until a phase begins. */
const moveUntil = async (app: MovingApp, to: string, phase: string): Promise<void> => {
  const stop = app.move(to, {
    onPhase(entered) {
      if (entered === phase) throw INTERRUPTED;
    },
  });
  await expect(stop).rejects.toThrow(INTERRUPTED);
};

describe('a move that another process takes over', () => {
  const open = shareMoves();

  /** Moves, and calls `later` while the given call of the home database waits. @returns the phases that the move enters. */
  const moveWithPause = async (
    app: MovingApp,
    { to, place, failure }: { readonly to: string; readonly place: number; readonly failure: string },
    later: () => Promise<unknown>,
  ): Promise<readonly string[]> => {
    const pause: Pause = { place, calls: 0, go: undefined };
    const phases: string[] = [];
    const first = app.move(to, {
      home: pauseStatements(app.databases.home, pause),
      drainMs: 5000,
      onPhase: (phase) => phases.push(phase),
    });
    const failed = expect(first).rejects.toThrow(failure);
    while (pause.go === undefined) await nextTurn();
    pause.place = -1;
    await later();
    pause.go();
    await failed;
    return phases;
  };

  it.each([
    { place: 3, phase: 'draining', until: 'draining', entered: [] },
    { place: 4, phase: 'closed', until: 'draining', entered: ['draining'] },
    { place: 5, phase: 'copying', until: 'draining', entered: ['draining', 'closed'] },
    { place: 6, phase: 'deleting', until: 'deleting', entered: ['draining', 'closed', 'copying'] },
  ])('does not enter the phase $phase', async ({ place, until, entered }) => {
    const app = await open();
    await makeSession(app, app.user);
    const content = await findOwned(app, 'a');
    const later = () => moveUntil(app, 'b', until);
    expect(await moveWithPause(app, { to: 'b', place, failure: TAKEN_OVER }, later)).toEqual(entered);
    expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
    expect(await findOwned(app, 'b')).toEqual(content);
  });

  it('does not say that it has moved the owner', async () => {
    const app = await open();
    const pause: Pause = { place: -1, calls: 0, go: undefined };
    const home = pauseStatements(app.databases.home, pause);
    expect(await app.move('b', { home })).toMatchObject({ outcome: 'moved' });
    const last = { to: 'a', place: pause.calls - 1, failure: TAKEN_OVER };
    const phases = await moveWithPause(app, last, () => app.move('a'));
    expect(phases).toEqual(['draining', 'closed', 'copying', 'deleting']);
  });

  it('does not say that the owner is busy', async () => {
    const app = await open();
    const { queue } = app.services;
    await queue.enqueue({ kind: 'test', key: 'job', owner: app.user.id, payload: null });
    expect(await queue.lease({ kinds: ['test'], limit: 1, leaseMs: 3_600_000 })).toHaveLength(1);
    const last = { to: 'b', place: 4, failure: TAKEN_OVER };
    expect(await moveWithPause(app, last, () => moveUntil(app, 'b', 'draining'))).toEqual(['draining']);
    await expect(app.move('c')).rejects.toThrow('moves to the shard b already');
  });

  it('does not take over the next move to another database', async () => {
    const app = await open();
    await makeSession(app, app.user);
    const content = await findOwned(app, 'a');
    await moveUntil(app, 'b', 'closed');
    const late = { to: 'b', place: 1, failure: 'moves to the shard c already' };
    await moveWithPause(app, late, async () => {
      expect(await app.move('b')).toMatchObject({ outcome: 'moved' });
      await moveUntil(app, 'c', 'closed');
    });
    expect(await app.move('c')).toMatchObject({ outcome: 'moved' });
    expect(await findOwned(app, 'c')).toEqual(content);
  });
});
