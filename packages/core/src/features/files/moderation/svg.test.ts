import { describe, expect, it } from 'vitest';
import { makeFile } from '../../../../test/checked-file.ts';
import { findActiveSvg } from './svg.ts';

const SVG = 'image/svg+xml';
const find = (content: Uint8Array | string, mimeType = SVG) => findActiveSvg(makeFile(content, mimeType), {});

describe('an SVG', () => {
  it.each([
    ['a style of its own', '<svg><style>a { fill: url(#b) }</style></svg>'],
    ['an address in a text', '<svg><text>url(https://a.b/c)</text></svg>'],
    ['an address behind a style', '<svg><style>a{}</style><text>@import</text></svg>'],
    ['an address after a style', '<svg><style>a{}</style>@import</svg>'],
    ['an address after an element of a style', '<svg><style>a{}<g/></style>@import</svg>'],
    ['parts of an address in two styles', '<svg><style>@imp</style><style>ort</style></svg>'],
    ['parts of an address in two values', '<svg><a x="java" y="script:x"/></svg>'],
    ['a style of raw text', '<svg><style><![CDATA[a{}]]></style><text>@import</text></svg>'],
    ['an address behind an empty style', '<svg><style/><text>@import</text></svg>'],
    ['a style in a text', '<svg><text>@imp</text><text>ort</text></svg>'],
    ['a link to a page', '<svg><a xlink:title="https://a.b">x</a></svg>'],
    ['a link in it', '<svg><a href="#https://a.b">x</a></svg>'],
    ['data of a picture', '<svg><image href="data:image/png;base64,aa"/></svg>'],
    ['short names that begin like handlers', '<svg on="1" onx="2" onxy="3"/>'],
    ['names that end like handlers', '<svg button="1" on-load="2"/>'],
    ['words of scripts', '<svg><a title="no javascript:"/></svg>'],
    ['a comment', '<!-- <script/> --><svg/>'],
    ['another instruction', '<?xml version="1.0"?><?other xml-stylesheet?><svg/>'],
    ['a document type', '<!DOCTYPE svg><svg/>'],
    ['nothing else', '<SVG></SVG>'],
    ['a namespace', '<s:svg/>'],
  ])('may have %s', async (_, content) => {
    expect(await find(content)).toBeUndefined();
  });

  it.each([
    ['a script', '<svg><script/></svg>'],
    ['a script', '<svg><x:SCRIPT/></svg>'],
    ['foreign content', '<svg><foreignObject/></svg>'],
    ['foreign content', '<svg><html/></svg>'],
    ['an event handler', '<svg onload="x"/>'],
    ['an event handler', '<svg onend="x"/>'],
    ['an event handler', '<svg x:OnLoad="x"/>'],
    ['a link that acts', '<svg><a href="javascript:x"/></svg>'],
    ['a link that acts', '<svg><a href="VBScript:x"/></svg>'],
    ['a link that acts', '<svg><a href="data:text/html,x"/></svg>'],
    ['a link that acts', '<svg><a href="data:image/svg+xml,x"/></svg>'],
    ['a link that acts', '<svg><a href="java&Tab;script&colon;x"/></svg>'],
    ['a link that acts', '<svg><a href="java&newline;script:x"/></svg>'],
    ['a link that acts', '<svg><a href="&#106;avascript:x"/></svg>'],
    ['a link that acts', '<svg><a values="#a; javascript:x"/></svg>'],
    ['something from elsewhere', '<svg><image href="https://a.b"/></svg>'],
    ['something from elsewhere', '<svg><image xlink:HREF="//a.b"/></svg>'],
    ['something from elsewhere', '<svg><image src="file:///a"/></svg>'],
    ['a style from elsewhere', '<svg><a style="fill: url(https://a.b)"/></svg>'],
    ['a style from elsewhere', '<svg><style>@import "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@im<!-- -->port "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>&#64;import "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style><![CDATA[@import "a"]]></style></svg>'],
    ['a style from elsewhere', '<svg><style><![CDATA[@impo]]>rt "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style><![CDATA[@import "a"'],
    ['a style from elsewhere', '<svg><style>@import "a"<g/></style></svg>'],
    ['a style from elsewhere', '<svg></style><style>@import "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@imp<g/>ort "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@imp<g></g>ort "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@imp<style></style>ort "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@imp<x:STYLE/>ort "a"</style></svg>'],
    ['a style from elsewhere', '<svg><style>@import "a"'],
    ['entities of its own', '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'],
    ['entities of its own', '<!ENTITY a "b"><svg/>'],
    ['a style sheet from elsewhere', '<?xml-stylesheet href="a"?><svg/>'],
    ['a style sheet from elsewhere', '<?XML-StyleSheet href="a"?><svg/>'],
  ])('has no content of this kind: %s in %s', async (kind, content) => {
    expect(await find(content)).toBe(`an SVG with ${kind}`);
  });

  it('is refused for the first reason', async () => {
    expect(await find('<svg onload="x"><script/></svg>')).toBe('an SVG with an event handler');
  });

  it.each(['<html/>', 'svg', '<svg', '<a title="svg"/>', ''])(
    'has an element of the name: %s',
    async (content) => {
      expect(await find(content)).toBe('the bytes are not of the type image/svg+xml');
    },
  );

  it('may be written in UTF-16', async () => {
    const text = '\ufeff<svg><script/></svg>';
    const little = Buffer.from(text, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [little, big, little.subarray(2), big.subarray(2)]) {
      expect(await find(bytes)).toBe('an SVG with a script');
    }
    // As UTF-16 these bytes are letters of other scripts.
    const letters = (prefix: string) =>
      Buffer.from(`${prefix}<svg>${'\u733c\u7263\u7069\u3e74'}</svg>`, 'utf16le');
    expect(await find(letters('\ufeff'))).toBeUndefined();
    expect(await find(letters(''))).toBe('an SVG with a script');
    const bigLetters = Buffer.from('\ufeff<svg>\u3c73\u6372\u6970\u743e</svg>', 'utf16le').swap16();
    expect(await find(bigLetters)).toBeUndefined();
    for (const mark of ['fe00', '00ff', 'ff00', '00fe']) {
      const bytes = Buffer.concat([Buffer.from(mark, 'hex'), Buffer.from('<svg><script/></svg>')]);
      expect(await find(bytes)).toBe('an SVG with a script');
    }
  });

  it('has at most five mebibytes', async () => {
    const size = 5 * 2 ** 20;
    const sized = (length: number) => ({ ...makeFile('<svg/>', SVG), size: length });
    expect(await findActiveSvg(sized(size), {})).toBeUndefined();
    expect(await findActiveSvg(sized(size + 1), {})).toBe(`an SVG of more than ${size} bytes`);
  });

  it('is read only if that is its type', async () => {
    const file = makeFile('<svg><script/></svg>', 'image/png');
    expect(await findActiveSvg(file, {})).toBeUndefined();
    expect(file.reads).toEqual([]);
  });
});
