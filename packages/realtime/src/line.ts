/** Work that is done one after the other, in the order it came. */
export interface Line {
  /** A failure is told, and what stands behind goes on. */
  add(work: () => Promise<void>): void;
  /** What has not begun never does. */
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
