import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../core/accept.ts';
import { packageFolder } from '../core/version.ts';
import { contentEtag, sendWithEtag } from '../http/response/etag.ts';
import { type Html, html, type Site } from './html.ts';

const folder = join(packageFolder, 'dist/web');

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

type File = { type: string; plain: Buffer; br?: Buffer | undefined; gzip?: Buffer | undefined };

/** The built console. */
export type Console = {
  index: string;
  files: Map<string, File>;
  /** The `@font-face` rules of its style sheet, for the other pages. */
  fontFaces: string;
};

let found: Console | undefined;

/** Its files do not change while the process runs, so they are read once. */
export function findConsole(): Console | undefined {
  found ??= readConsole();
  return found;
}

function readConsole(): Console | undefined {
  try {
    const index = readFileSync(join(folder, 'index.html'), 'utf8');
    const names = readdirSync(join(folder, 'assets'));
    const read = (name: string) =>
      names.includes(name) ? readFileSync(join(folder, 'assets', name)) : undefined;
    const files = names
      .filter((name) => extname(name) in types)
      .map((name): [string, File] => [
        name,
        {
          type: types[extname(name)] ?? '',
          plain: read(name) as Buffer,
          br: read(`${name}.br`),
          gzip: read(`${name}.gz`),
        },
      ]);
    const styles = files.filter(([, { type }]) => type.startsWith('text/css'));
    const fontFaces = styles.flatMap(
      ([, { plain }]) => plain.toString().match(/@font-face\s*{[^}]*}/g) ?? [],
    );
    return { index, files: new Map(files), fontFaces: fontFaces.join('\n') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Sends the single page of the console, which routes in the browser. */
export function sendConsole(request: FastifyRequest, reply: FastifyReply, { index }: Console, site: Site) {
  const text = index.replace('<base href="/">', `<base href="${site.link('/')}">`);
  reply.headers(consoleHeaders).header('cache-control', 'no-cache').type('text/html; charset=utf-8');
  return sendWithEtag(request, reply, contentEtag(text), text);
}

/** File names contain a content hash, so browsers can cache the files forever. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: File) {
  const built = (['br', 'gzip'] as const).filter((name) => file[name]);
  const { encoding } = preferredEncoding(request.headers['accept-encoding']?.toString(), built);
  if (encoding) reply.header('content-encoding', encoding);
  return reply
    .headers({
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    .type(file.type)
    .send(encoding ? file[encoding] : file.plain);
}

/** Allows scripts, styles, fonts and requests of this origin only, and nothing inline. */
const consoleHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export const notBuilt = (site: Site): Html => html`<h1>Muster</h1>
<p class="lead">The console is not built. Stop the service and run this command. The API works without it.</p>
<pre class="once"><code>npm run build</code></pre>
<p><a href="${site.link('/docs')}">API reference</a></p>`;
