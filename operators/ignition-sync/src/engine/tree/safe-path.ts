import { SyncError } from '../sync-error.ts';

/** The maximum lengths of a path on Linux, in bytes. */
const MAX_SEGMENT_BYTES = 255;
const MAX_PATH_BYTES = 4_096;

/** Characters that Ignition refuses in the names of resources. */
const REFUSED = /[`\\?*:|"<>]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** A lone surrogate, or the character that replaces bytes which are not UTF-8. */
const NOT_UTF8 = /[\ud800-\udfff\ufffd]/u;

/** pathProblem returns why a relative path must not be written below a data folder, or undefined. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (path.startsWith('/')) return 'the path is absolute';
  if (CONTROL.test(path)) return 'the path contains a control character';
  if (NOT_UTF8.test(path)) return 'the path is not valid UTF-8';
  const refused = REFUSED.exec(path)?.[0];
  if (refused !== undefined) return `the path contains ${refused}, which a gateway refuses`;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'the path contains an empty segment';
    if (segment === '.' || segment === '..') return `the path contains the segment ${segment}`;
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      return `a segment of the path is longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return undefined;
}

/** checkPath throws UnsafePath if a path must not be written below a data folder. */
export function checkPath(path: string): void {
  const problem = pathProblem(path);
  if (problem === undefined) return;
  throw new SyncError('UnsafePath', {
    path,
    problem,
    remedy: 'rename it in the repository, exclude it with excludePatterns, or correct the mapping',
  });
}

/** checkSource returns a source path without a trailing slash, '' for the root, or throws UnsafePath. */
export function checkSource(path: string): string {
  const source = path.replace(/\/+$/, '');
  if (path === '.' || source === '.') return '';
  // Names in a repository may contain what a gateway refuses; the destination is checked.
  const isRelative =
    source !== '' && !CONTROL.test(source) && source.split('/').every((part) => !['', '.', '..'].includes(part));
  if (isRelative) return source;
  throw new SyncError('UnsafePath', {
    path,
    problem: 'the source is not a relative path without . and .. segments',
    remedy: 'correct the source of the mapping',
  });
}
