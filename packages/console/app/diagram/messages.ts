/** What the page asks the frame for. */
export interface DrawRequest {
  readonly id: number;
  readonly source: string;
  readonly isDark: boolean;
}

/** Sanitized SVG, with its size in pixels. */
export interface DrawnSvg {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

export type DrawAnswer = { readonly id: number } & (DrawnSvg | { readonly error: string });

export interface FrameReady {
  readonly ready: true;
}
