import { describe, expect, it } from 'vitest';
import { getPageText } from './page-text.ts';

describe('text of a page', () => {
  it.each([
    ['<title>A</title>b', 'A', 'b'],
    ['<title></title>b', null, 'b'],
    ['<title> A\n B </title>', 'A B', ''],
    ['<title>A &amp; <b>B</title>', 'A & <b>B', ''],
    ['<title>A</title><title>B</title>c', 'A', 'Bc'],
    ['<svg><title>A</title></svg><title>B</title>c', 'B', 'c'],
    ['<head><meta><link><base><title>A</title></head>b', 'A', 'b'],
    // Text ends a head, as in browsers.
    ['<head>x<title>A</title>y</head>b', 'A', 'xyb'],
    ['<head><title>A</title>b', 'A', 'b'],
    ['<head><script>x</script><style>y</style><noscript>z</noscript></head>b', null, 'b'],
    ['<head><p>a', null, 'a'],
    ['<head><b>a</b>', null, 'a'],
    [
      'a<script>b</script>c<style>d</style>e<noscript>f</noscript>g<template>h</template>i<svg>j</svg>k',
      null,
      'acegik',
    ],
    ['a<template><svg>b</svg>c</template>d', null, 'ad'],
    ['a</svg></template>b<svg>c</svg>d', null, 'abd'],
    ['a<br>b<br/>c', null, 'a\nb\nc'],
    ['a<br><br><br><br>b', null, 'a\n\nb'],
    ['a<div><div>b</div></div>c', null, 'a\nb\nc'],
    ['a<p>b<p>c', null, 'a\nb\nc'],
    ['a<span>b</span>c', null, 'abc'],
    ['<details><summary>a</summary>b</details>c', null, 'a\nb\nc'],
    ['<select><option>a<option>b</select>', null, 'a\nb'],
    ['<fieldset><legend>a</legend>b</fieldset>c', null, 'a\nb\nc'],
    ['<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>', null, 'a b\nc'],
    [' a \t\n b&nbsp;c ', null, 'a b c'],
    ['<pre>a\n\n  b</pre>c\nd', null, 'a\n\nb\nc d'],
    ['a\nb</pre>c\nd<pre>e\nf</pre>', null, 'a bc d\ne\nf'],
    ['<pre>a<pre>b</pre>c\nd</pre>e\nf', null, 'a\nb\nc\nd\ne f'],
    ['a &amp', null, 'a &'],
    ['', null, ''],
  ])('%j has the title %j and the text %j', (html, title, text) => {
    expect(getPageText(html)).toEqual({ title, text });
  });

  it('continues over the pieces that are parsed at a time', () => {
    const word = 'word '.repeat(13_200);
    expect(getPageText(`<p>${word}</p><p>end</p>`).text).toBe(`${word.trim()}\nend`);
    expect(getPageText(`${'x'.repeat(65_534)}<b>y</b>`).text).toBe(`${'x'.repeat(65_534)}y`);
  });

  it('ends behind an element that is nested too deeply', () => {
    const nested = (depth: number) => `a${'<b>'.repeat(depth)}c${'</b>'.repeat(depth)}d`;
    expect(getPageText(nested(5_000)).text).toBe('acd');
    expect(getPageText(nested(5_001)).text).toBe('a');
    expect(getPageText(`<b>x</b>${nested(5_001)}`).text).toBe('xa');
    expect(getPageText(`${'<b>a</b>'.repeat(5_001)}`).text).toBe('a'.repeat(5_001));
  });
});
