import { refNameProblem } from '../../checks/ref-name.ts';
import { GitError } from '../errors/git-error.ts';

/** ParsedRef is a checked ref: a commit, or the full names to look for, the preferred one first. */
export type ParsedRef =
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'named'; readonly candidates: readonly string[] };

const COMMIT = /^[0-9a-f]{40}$/i;

/** isCommitHash reports whether a text is the full hash of a commit or another object. */
export function isCommitHash(text: string): boolean {
  return COMMIT.test(text);
}

/** isValidRef reports whether a ref is a hash or a valid name. */
export function isValidRef(ref: string): boolean {
  return COMMIT.test(ref) || (ref !== '' && refNameProblem(ref) === undefined);
}

/**
 * parseRef checks a ref by git's rules for names, so that no ref is taken for an option, a pattern or an expression. A short name
 * stands for a tag, or else for a branch.
 */
export function parseRef(ref: string): ParsedRef {
  if (COMMIT.test(ref)) return { kind: 'commit', commit: ref.toLowerCase() };
  if (!isValidRef(ref)) {
    throw new GitError('RefNotFound', 'the ref is not a valid name', {
      remedy: 'use a tag, a branch, refs/heads/…, refs/tags/… or a commit of 40 hex digits in git.ref',
    });
  }
  if (/^refs\/(?:heads|tags)\//.test(ref)) return { kind: 'named', candidates: [ref] };
  return { kind: 'named', candidates: [`refs/tags/${ref}`, `refs/heads/${ref}`] };
}
