import { notMatching, type TextLimits, textProblem } from './text-check.ts';

/** RELATIVE_PATH limits paths in the repository and on the gateway to those that stay below their folder. */
export const RELATIVE_PATH: TextLimits = {
  maxLength: 1024,
  checks: [
    notMatching('[\\x00-\\x1f\\x7f]', 'contains a control character; remove it'),
    notMatching('\\\\', 'contains a backslash; separate the parts of the path by "/"'),
    notMatching('^/', 'is an absolute path; remove the "/" at the beginning'),
    notMatching(
      '(^|/)\\.{0,2}(/|$)',
      'has a part that is empty, "." or ".."; write the path without them, and without "/" at the end',
    ),
  ],
};

/** RelativePathOptions configures a check. */
export interface RelativePathOptions {
  /** Whether `.` is allowed, for the folder itself. Defaults to false. */
  readonly allowRoot?: boolean | undefined;
}

/**
 * relativePathProblem returns what is wrong with a path, and how to fix it. Undefined: nothing. Check a path again after
 * its template is rendered: the values of variables may contain anything.
 */
export function relativePathProblem(path: string, { allowRoot = false }: RelativePathOptions = {}): string | undefined {
  return allowRoot && path === '.' ? undefined : textProblem(path, RELATIVE_PATH);
}
