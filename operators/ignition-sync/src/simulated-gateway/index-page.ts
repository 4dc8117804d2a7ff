import type { Load } from './folder-scans.ts';
import type { LoadedProject } from './load-folder.ts';

/** IndexPage is what the page of a simulated gateway shows. */
export interface IndexPage {
  /** The name of the gateway; undefined if it has none. */
  readonly name: string | undefined;
  readonly state: string;
  readonly dataFolder: string;
  readonly projects: readonly LoadedProject[];
  /** The latest first. */
  readonly loads: readonly Load[];
}

/** INDEX_HEADERS are the headers of the page. It has no scripts and loads nothing. */
export const INDEX_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Tables that are wider than the window scroll: their words are not broken. */
const STYLE = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}body{max-width:70rem;margin:2rem auto;padding:0 1rem}
code{overflow-wrap:anywhere}.table{overflow-x:auto;margin:1rem 0 2rem}table{border-collapse:collapse;width:100%}
caption{text-align:left;font-weight:600;font-size:1.2rem}th,td{text-align:left;vertical-align:top;padding:.3rem 1.2rem .3rem 0;
border-bottom:1px solid #8886;font-variant-numeric:tabular-nums}tbody th{font-weight:400;white-space:nowrap}`;

/** renderIndexPage renders the page. Everything from files is escaped. */
export function renderIndexPage({ name: gateway, state, dataFolder, projects, loads }: IndexPage): string {
  const title = escapeHtml(
    gateway === undefined ? 'Simulated Ignition gateway' : `${gateway}: simulated Ignition gateway`,
  );
  const projectRows = projects.map(({ name, title, resources, problem }) => [
    name,
    title,
    String(resources),
    problem === '' ? 'loaded' : problem,
  ]);
  const loadRows = loads.map((load) => [
    timeText(load.time),
    load.folder,
    load.trigger,
    String(load.files),
    load.hash.slice(0, 12),
    load.problems.length === 0 ? 'none' : load.problems.join('; '),
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>State: <strong>${escapeHtml(state)}</strong>. Data folder: <code>${escapeHtml(dataFolder)}</code></p>
<p>Reload the page to see later loads. Two loads with the same hash found the same files.</p>
${table('Projects', ['Name', 'Title', 'Resources', 'State'], projectRows, 'No projects are loaded.')}
${table('Last loads', ['Time', 'Folder', 'Trigger', 'Files', 'Hash', 'Problems'], loadRows, 'Nothing has been loaded yet.')}
</main>
</body>
</html>
`;
}

function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return `<h2>${caption}</h2>\n<p>${empty}</p>`;
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('');
    return `<tr><th scope="row">${escapeHtml(first)}</th>${cells}</tr>`;
  });
  const content = `<caption>${caption}</caption>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>`;
  // With the keyboard, only an element with focus scrolls.
  return `<div class="table" role="region" aria-label="${caption}" tabindex="0">\n<table>\n${content}\n</table>\n</div>`;
}

/** For example `2026-11-18 10:35:45 UTC`. */
function timeText(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
