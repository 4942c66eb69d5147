import createPurifier from 'dompurify';
import mermaid from 'mermaid';
import type { DrawAnswer, DrawnSvg, DrawRequest } from './messages.ts';

// Runs in a sandboxed frame, without access to the page: lays out one diagram per message.
const purifier = createPurifier(window);
let drawn = 0;

const FONT = 'system-ui, sans-serif';
/** The colors of the page: a frame cannot read its style. */
const LIGHT = {
  fontFamily: FONT,
  background: '#ffffff',
  primaryColor: '#edf1ff',
  primaryTextColor: '#1b1c20',
  primaryBorderColor: '#7d93e0',
  secondaryColor: '#e7f6ee',
  tertiaryColor: '#f3f3f5',
  lineColor: '#5c5f6b',
  edgeLabelBackground: '#ffffff',
};
const DARK = {
  darkMode: true,
  fontFamily: FONT,
  background: '#212227',
  primaryColor: '#2c3350',
  primaryTextColor: '#ececf0',
  primaryBorderColor: '#7f93e6',
  secondaryColor: '#1f3d33',
  tertiaryColor: '#2b2d34',
  lineColor: '#a2a6b3',
  edgeLabelBackground: '#212227',
};

addEventListener('message', (event: MessageEvent<DrawRequest>) => {
  if (event.source === parent) void answer(event.data).then((result) => parent.postMessage(result, '*'));
});

async function answer({ id, source, isDark }: DrawRequest): Promise<DrawAnswer> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    theme: 'base',
    themeVariables: isDark ? DARK : LIGHT,
    fontFamily: FONT,
    // Labels as SVG text: the result is shown as an image.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
  });
  drawn += 1;
  try {
    return { id, ...sanitize((await mermaid.render(`diagram-${drawn}`, source)).svg) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

function sanitize(text: string): DrawnSvg {
  const clean = purifier.sanitize(text, {
    USE_PROFILES: { svg: true, svgFilters: true },
    ADD_TAGS: ['style'],
    RETURN_DOM_FRAGMENT: true,
  });
  const root = clean.querySelector('svg');
  if (root === null) throw new Error('The diagram is empty.');
  const [, , width = 600, height = 400] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  // Without a size of its own, an image of SVG has a default one.
  root.setAttribute('width', String(width));
  root.setAttribute('height', String(height));
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

parent.postMessage({ ready: true }, '*');
