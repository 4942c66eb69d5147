import { hash } from 'node:crypto';
import type { DescribedOperation, Description } from './document.ts';
import type { JsonSchema } from './schemas.ts';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #1a1a1a; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; } h3 { margin-top: 2.5rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; } pre { overflow: auto; padding: .75rem; background: #f4f4f4; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
.method { display: inline-block; min-width: 4.5rem; } .deprecated { text-decoration: line-through; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } a { color: #8ab4f8; } pre { background: #222; }
}
`;

/** The reference as a page that needs no script: what every mount serves when the host gives no bundle. */
export function plainPage(description: Description): string {
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
        `<li><a href="#${escaped(operation.operationId)}"><code><span class="method">${method}</span>${escaped(path)}</code></a> ${escaped(operation.summary)}</li>`,
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
  return page(
    String(title),
    `<h1>${escaped(title)} ${escaped(version)}</h1><p>${escaped(introduction)}</p>` +
      `<p>Machine-readable: <a href="openapi.json">openapi.json</a></p><nav>${contents.join('')}</nav>` +
      `<main>${sections.join('')}<h2>Schemas</h2>${schemas.join('')}</main>`,
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
      `<tr><td><code>${escaped(parameter.name)}</code></td><td>${escaped(parameter.in)}</td><td>${parameter.required === true ? 'required' : ''}</td><td><code>${escaped(JSON.stringify(parameter.schema))}</code></td></tr>`,
  );
  const answers = Object.entries(responses).map(([status, stated]) => {
    const shared =
      String(stated.$ref ?? '')
        .split('/')
        .at(-1) ?? '';
    const response = (components.responses?.[shared] ?? stated) as JsonSchema;
    return `<tr><td><code>${escaped(status)}</code></td><td>${escaped(response.description)}</td><td>${bodyLink(response)}</td></tr>`;
  });
  return [
    `<section id="${escaped(operationId)}"><h3${operation.deprecated === true ? ' class="deprecated"' : ''}><code>${method} ${escaped(path)}</code></h3>`,
    `<p>${escaped(summary)}. ${escaped(description ?? '')}</p>`,
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

/** The reference drawn by the bundle that the host gave. Relative addresses hold below any mount point. */
export function redocPage(): string {
  return page(
    'Questline API',
    '<redoc spec-url="openapi.json" disable-telemetry hide-download-button></redoc><script src="docs/redoc.js"></script>',
  );
}

/** What the page may load: itself, and what it holds. Nothing from elsewhere. */
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
          // The bundle writes its styles at run time and searches in a worker of its own text.
          "style-src 'unsafe-inline'",
          'worker-src blob:',
        ]
      : [`style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`]),
  ].join('; ');
}

function page(title: string, body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>\n`
  );
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(value: unknown): string {
  return String(value).replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
