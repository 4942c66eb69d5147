import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Description } from './document.ts';
import { pagePolicy, plainPage, redocPage } from './page.ts';

const json = (name: string) => ({
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});

const description = {
  openapi: '3.1.0',
  info: { title: 'A & B', version: '2', description: 'Use `errorCode`, not <words>.' },
  tags: [{ name: 'Things' }, { name: 'Others & more' }],
  paths: {
    '/things/{id}': {
      post: {
        operationId: 'makeThing',
        tags: ['Things'],
        summary: 'Make a `thing`',
        description: 'It is "new".',
        deprecated: true,
        'x-required-scopes': ['files:read', 'files:write'],
        'x-also-required-scopes': ['me:read'],
        parameters: [
          { $ref: '#/components/parameters/RequestId' },
          { name: 'id', in: 'path', required: true, description: 'The id.' },
          { name: 'deep', in: 'query', required: false },
        ],
        requestBody: json('Thing'),
        responses: {
          200: {
            description: 'The thing.',
            content: { ...json('Thing').content, 'audio/*': { schema: { type: 'string' } } },
          },
          500: { $ref: '#/components/responses/Error500' },
        },
      },
    },
    '/others': {
      get: { operationId: 'listOthers', tags: ['Others & more'], summary: 'List', responses: {} },
    },
  },
  components: {
    schemas: { Thing: { type: 'object', title: '<b>' }, Problem: {} },
    responses: { Error500: { description: 'It failed.', ...json('Problem') } },
  },
} as unknown as Description;

describe('the reference page without scripts', () => {
  const render = () => plainPage([description, { ...description, info: { title: 'Second', version: '1' } }]);
  const renderBody = () => /<body>(.*)<\/body>/s.exec(render())?.[1] ?? '';
  const part = (id: string) =>
    new RegExp(`<section id="${id}">.*?</section>`, 's').exec(plainPage([description]))?.[0];

  it('is titled by the first description, and shows each of them', () => {
    const [page, body] = [render(), renderBody()];
    expect(page).toMatch(/^<!doctype html><html lang="en"><head><meta charset="utf-8">/);
    expect(page).toContain('<title>A &amp; B</title><style>');
    expect(body.match(/<h1>.*?<\/h1>/g)).toEqual(['<h1>A &amp; B 2</h1>', '<h1>Second 1</h1>']);
    expect(body).toContain('<p>Use <code>errorCode</code>, not &lt;words&gt;.</p><nav>');
    expect(plainPage([])).toContain('<title></title>');
  });

  it('lists the operations by tag', () => {
    const body = renderBody();
    const link = (id: string, method: string, path: string, summary: string) =>
      `<li><a href="#${id}"><code><span class="method">${method}</span>${path}</code></a> ${summary}</li>`;
    expect(/<nav>.*?<\/nav>/s.exec(body)?.[0]).toBe(
      `<nav><h3>Things</h3><ul>${link('makeThing', 'POST', '/things/{id}', 'Make a <code>thing</code>')}</ul>` +
        `<h3>Others &amp; more</h3><ul>${link('listOthers', 'GET', '/others', 'List')}</ul></nav>`,
    );
    expect(body.match(/<h2>.*?<\/h2>/g)?.slice(0, 3)).toEqual([
      '<h2>Things</h2>',
      '<h2>Others &amp; more</h2>',
      '<h2>Schemas</h2>',
    ]);
  });

  it('shows what an operation needs and answers', () => {
    const link = '<code>application/json</code> <a href="#Thing">Thing</a>';
    const problem = '<code>application/json</code> <a href="#Problem">Problem</a>';
    expect(part('makeThing')).toBe(
      '<section id="makeThing"><h3 class="deprecated"><code>POST /things/{id}</code></h3>' +
        '<p>Make a <code>thing</code>. It is &quot;new&quot;.</p>' +
        '<p>Scopes, any one of: <code>files:read</code>, <code>files:write</code></p>' +
        '<p>Scopes, every one of: <code>me:read</code></p>' +
        '<h4>Parameters</h4><table>' +
        '<tr><td><code>id</code></td><td>path</td><td>required</td><td>The id.</td></tr>' +
        '<tr><td><code>deep</code></td><td>query</td><td></td><td></td></tr></table>' +
        `<h4>Body</h4><p>${link}</p><h4>Answers</h4><table>` +
        `<tr><td><code>200</code></td><td>The thing.</td><td>${link}, <code>audio/*</code></td></tr>` +
        `<tr><td><code>500</code></td><td>It failed.</td><td>${problem}</td></tr></table></section>`,
    );
    expect(part('listOthers')).toBe(
      '<section id="listOthers"><h3><code>GET /others</code></h3><p>List. </p><h4>Answers</h4><table></table></section>',
    );
  });

  it('shows the schemas as indented JSON', () => {
    const text = '{\n  &quot;type&quot;: &quot;object&quot;,\n  &quot;title&quot;: &quot;&lt;b&gt;&quot;\n}';
    expect(renderBody()).toContain(
      `<h2>Schemas</h2><h3 id="Thing">Thing</h3><pre>${text}</pre><h3 id="Problem">Problem</h3>`,
    );
  });

  it('may have no components', () => {
    const empty = { ...description, components: {} };
    expect(plainPage([empty])).toContain('<tr><td><code>500</code></td><td></td><td></td></tr>');
  });

  it('allows only its own style', () => {
    const page = render();
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
    expect(pagePolicy(page).split('; ')).toEqual([
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    ]);
  });
});

describe('the reference page with a bundle', () => {
  const links = (page: string) => page.match(/<a .*?<\/a>/g);

  it('links both documents, and marks the shown one', () => {
    const publicLink = '<a href="docs?document=public">Questline API</a>';
    const applicationLink = '<a href="docs?document=application">Questline application API</a>';
    const marked = (link: string) => link.replace('">', '" aria-current="page">');
    expect(links(redocPage('public'))).toEqual([marked(publicLink), applicationLink]);
    expect(links(redocPage('application'))).toEqual([publicLink, marked(applicationLink)]);
  });

  it('loads the document below the mount point', () => {
    expect(redocPage('public')).toContain('<redoc spec-url="openapi.json"');
    expect(redocPage('application')).toContain('<redoc spec-url="../openapi.json"');
    expect(redocPage('application')).toContain('<title>Questline application API</title>');
  });

  it('allows its scripts and no other origin', () => {
    expect(pagePolicy(redocPage('public')).split('; ')).toEqual([
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      "script-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "style-src 'unsafe-inline'",
      'worker-src blob:',
    ]);
  });
});
