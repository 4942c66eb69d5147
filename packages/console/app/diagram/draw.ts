import type { DrawAnswer, DrawnSvg, DrawRequest, FrameReady } from './messages.ts';

/** A diagram as an inert image. */
export interface Drawn {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export type Draw = (source: string, isDark: boolean) => Promise<Drawn>;

/** A diagram that never comes back, e.g. an endless layout. */
const TIMEOUT_MS = 20_000;

/** Draws diagrams in one sandboxed frame, which is created at the first diagram. */
export function createDraw(): Draw {
  let frame: Promise<Window> | undefined;
  let asked = 0;

  return async (source, isDark) => {
    frame ??= openFrame();
    const target = await frame;
    asked += 1;
    const id = asked;
    const answer = await new Promise<DrawAnswer>((resolve, reject) => {
      const stop = listen<DrawAnswer>(target, (data) => {
        if (data.id !== id) return;
        stop();
        clearTimeout(timer);
        resolve(data);
      });
      const timer = setTimeout(() => {
        stop();
        // The next diagram gets a new frame.
        frame = undefined;
        reject(new Error('The diagram took too long to draw.'));
      }, TIMEOUT_MS);
      target.postMessage({ id, source, isDark } satisfies DrawRequest, '*');
    });
    if ('error' in answer) throw new Error(answer.error);
    return toImage(answer);
  };
}

function openFrame(): Promise<Window> {
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', 'allow-scripts');
  element.src = 'diagram.html';
  element.title = 'Diagram layout';
  element.tabIndex = -1;
  element.className = 'diagram-frame';
  element.setAttribute('aria-hidden', 'true');
  document.body.append(element);
  return new Promise((resolve, reject) => {
    const target = element.contentWindow;
    if (target === null) return reject(new Error('The diagram cannot be drawn here.'));
    const stop = listen<FrameReady>(target, ({ ready }) => {
      if (ready !== true) return;
      stop();
      resolve(target);
    });
  });
}

/** Listens to one frame. @returns what ends that. */
function listen<T>(source: Window, onMessage: (data: T) => void): () => void {
  const listener = (event: MessageEvent<T>): void => {
    if (event.source === source) onMessage(event.data);
  };
  addEventListener('message', listener);
  return () => removeEventListener('message', listener);
}

/** An image runs no scripts and loads nothing. */
function toImage({ svg, width, height }: DrawnSvg): Drawn {
  return { url: URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })), width, height };
}
