import { hash } from 'node:crypto';
import { type DescribedOperation, type Description, SIDES, type Side } from './document.ts';
import type { JsonSchema } from './schemas.ts';
import { TITLES } from './tags.ts';

const COLORS = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } a { color: #8ab4f8; } pre { background: #222; }
}
`;

const PLAIN_STYLE = `${COLORS}
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; } h1, h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; } h3 { margin-top: 2.5rem; }
pre { overflow: auto; padding: .75rem; background: #8881; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
.method { display: inline-block; min-width: 4.5rem; } .deprecated { text-decoration: line-through; }
`;

/** Redoc brings light colors of its own, and lays three columns over the whole width. */
const REDOC_STYLE = `
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
nav { display: flex; flex-wrap: wrap; gap: 1rem; padding: .5rem 1rem; border-bottom: 1px solid #ccc; }
nav a { color: #1a56b8; } nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
`;

/** Renders the reference as a page without scripts, the default without a bundle. */
export function plainPage(descriptions: readonly Description[]): string {
  const [title] = descriptions.map(({ info }) => String(info.title));
  return page(title ?? '', PLAIN_STYLE, descriptions.map(document).join(''));
}

function document(description: Description): string {
  const operations = Object.entries(description.paths).flatMap(([path, place]) =>
    Object.entries(place).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const { title, version, description: introduction } = description.info as Record<string, string>;
  const groups = description.tags.map(({ name }) => {
    const members = operations.filter(({ operation }) => operation.tags.includes(String(name)));
    return { name: String(name), members };
  });
  const contents = groups.map(({ name, members }) => {
    const links = members.map(
      ({ method, path, operation }) =>
        `<li><a href="#${escaped(operation.operationId)}"><code><span class="method">${method}</span>${escaped(path)}</code></a> ${prose(operation.summary)}</li>`,
    );
    return `<h3>${escaped(name)}</h3><ul>${links.join('')}</ul>`;
  });
  const sections = groups.map(
    ({ name, members }) =>
      `<h2>${escaped(name)}</h2>${members.map(({ method, path, operation }) => section(method, path, operation, description)).join('')}`,
  );
  const schemas = Object.entries(description.components.schemas ?? {}).map(
    ([name, schema]) =>
      `<h3 id="${escaped(name)}">${escaped(name)}</h3><pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`,
  );
  return (
    `<h1>${escaped(title)} ${escaped(version)}</h1><p>${prose(introduction)}</p><nav>${contents.join('')}</nav>` +
    `<main>${sections.join('')}<h2>Schemas</h2>${schemas.join('')}</main>`
  );
}

function section(
  method: string,
  path: string,
  operation: DescribedOperation,
  { components }: Description,
): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const scopes = operation['x-required-scopes'] as readonly string[] | undefined;
  const also = operation['x-also-required-scopes'] as readonly string[] | undefined;
  const named = parameters.filter((parameter) => 'name' in parameter);
  const rows = named.map(
    (parameter) =>
      `<tr><td><code>${escaped(parameter.name)}</code></td><td>${escaped(parameter.in)}</td><td>${parameter.required === true ? 'required' : ''}</td><td>${prose(parameter.description)}</td></tr>`,
  );
  const answers = Object.entries(responses).map(([status, stated]) => {
    const shared =
      String(stated.$ref ?? '')
        .split('/')
        .at(-1) ?? '';
    const response = (components.responses?.[shared] ?? stated) as JsonSchema;
    return `<tr><td><code>${escaped(status)}</code></td><td>${prose(response.description)}</td><td>${bodyLink(response)}</td></tr>`;
  });
  return [
    `<section id="${escaped(operationId)}"><h3${operation.deprecated === true ? ' class="deprecated"' : ''}><code>${method} ${escaped(path)}</code></h3>`,
    `<p>${prose(summary)}. ${prose(description ?? '')}</p>`,
    scopes === undefined ? '' : `<p>Scopes, any one of: ${codes(scopes)}</p>`,
    also === undefined ? '' : `<p>Scopes, every one of: ${codes(also)}</p>`,
    rows.length === 0 ? '' : `<h4>Parameters</h4><table>${rows.join('')}</table>`,
    requestBody === undefined ? '' : `<h4>Body</h4><p>${bodyLink(requestBody as JsonSchema)}</p>`,
    `<h4>Answers</h4><table>${answers.join('')}</table></section>`,
  ].join('');
}

function codes(texts: readonly string[]): string {
  return texts.map((text) => `<code>${escaped(text)}</code>`).join(', ');
}

function bodyLink({ content = {} }: JsonSchema): string {
  const bodies = Object.entries(content as Record<string, { schema: { $ref?: string } }>);
  return bodies
    .map(([type, { schema }]) => {
      const name = schema.$ref?.split('/').at(-1);
      return name === undefined
        ? `<code>${escaped(type)}</code>`
        : `<code>${escaped(type)}</code> <a href="#${escaped(name)}">${escaped(name)}</a>`;
    })
    .join(', ');
}

/** Renders the page that loads the host's bundle. Its URLs are relative, so they work below any mount point. */
export function redocPage(side: Side): string {
  const links = SIDES.map(
    (other) =>
      `<a href="docs?document=${other}"${other === side ? ' aria-current="page"' : ''}>${escaped(TITLES[other])}</a>`,
  );
  const url = side === 'public' ? 'openapi.json' : '../openapi.json';
  return page(
    TITLES[side],
    REDOC_STYLE,
    `<nav>${links.join('')}</nav><redoc spec-url="${url}" disable-telemetry hide-download-button></redoc>` +
      '<script src="docs/redoc.js"></script>',
  );
}

/** The Content-Security-Policy: allows only the page's own resources. */
export function pagePolicy(html: string): string {
  const scripted = html.includes('<script');
  return [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    ...(scripted
      ? [
          "script-src 'self'",
          "connect-src 'self'",
          "img-src 'self' data:",
          // The bundle creates styles at run time and a search worker from a blob.
          "style-src 'unsafe-inline'",
          'worker-src blob:',
        ]
      : [`style-src 'sha256-${hash('sha256', PLAIN_STYLE, 'base64')}'`]),
  ].join('; ');
}

function page(title: string, style: string, body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    // Without an icon of its own, browsers ask for /favicon.ico.
    `<link rel="icon" href="data:,"><title>${escaped(title)}</title><style>${style}</style></head><body>${body}</body></html>\n`
  );
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(value: unknown): string {
  return String(value).replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** Text of a description: code spans in backticks. */
function prose(text: unknown): string {
  return escaped(text ?? '').replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
