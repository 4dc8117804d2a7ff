/**
 * SECRET_PATH is the pattern of the path of a secret on a device. A part cannot start with `_`, so no path contains
 * `_metadata`, under which a device stores what belongs to a secret.
 */
export const SECRET_PATH = '^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$';

/** The longest default path: a namespace (63), a slash, and the name of an HSMSecret (253). */
const MAX_SECRET_PATH_LENGTH = 317;

const PATTERN = new RegExp(SECRET_PATH);

/** secretPathProblem returns what is wrong with the path of a secret; undefined if it is valid. */
export function secretPathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path.length > MAX_SECRET_PATH_LENGTH) return `must have at most ${MAX_SECRET_PATH_LENGTH} characters`;
  if (!PATTERN.test(path))
    return "must consist of parts of letters, digits, '.', '-' and '_', separated by '/', that start with a letter or digit";
  if (path.includes('..')) return "must not contain '..'";
  return undefined;
}
