/** A queue that runs tasks one after the other. */
export interface Line {
  /** A failure is reported; later tasks still run. */
  add(work: () => Promise<void>): void;
  /** Drops tasks that have not started. */
  close(): void;
}

export function createLine(onError: (error: unknown) => void): Line {
  const works: (() => Promise<void>)[] = [];
  let isBusy = false;

  const run = async (): Promise<void> => {
    isBusy = true;
    for (let work = works.shift(); work !== undefined; work = works.shift()) await work().catch(onError);
    isBusy = false;
  };

  return {
    add(work) {
      works.push(work);
      if (!isBusy) void run();
    },
    close() {
      works.length = 0;
    },
  };
}
