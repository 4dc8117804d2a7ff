import { refNameProblem } from '../checks/ref-name.ts';
import { invalid, NO_REF, type Payload, type PayloadSource, type PushPayload, type RefPayload } from './payload.ts';

/** ParsedRef is a ref without `refs/heads/` or `refs/tags/`. */
export interface ParsedRef {
  readonly name: string;
  /** Undefined: the text did not include it. */
  readonly type: 'branch' | 'tag' | undefined;
}

const FULL_NAME = /^refs\/(heads|tags)\//;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** parseRef strips and checks a ref. It returns what is wrong with one that cannot be used; the text is not quoted. */
export function parseRef(text: string): ParsedRef | { readonly problem: string } {
  const [prefix, folder] = FULL_NAME.exec(text) ?? [];
  const name = prefix === undefined ? text : text.slice(prefix.length);
  const problem = refNameProblem(name);
  if (problem !== undefined) return { problem: `the ref ${problem}` };
  // A branch named refs/heads/x would be read as the branch x. JSON can express what is no Unicode text.
  if (name.startsWith('refs/')) return { problem: 'the ref has the name of another one' };
  if (/\p{Surrogate}/u.test(name)) return { problem: 'the ref is not valid Unicode' };
  return { name, type: folder === undefined ? undefined : folder === 'heads' ? 'branch' : 'tag' };
}

/** isCommit reports whether a value is a commit, with all its digits. */
export function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value) && !isZeroCommit(value);
}

/** isZeroCommit reports whether a value is the commit of a ref that does not exist. */
export function isZeroCommit(value: unknown): boolean {
  return typeof value === 'string' && /^0{40,64}$/.test(value);
}

/** refPayload returns the payload that requests a ref. */
export function refPayload(source: PayloadSource, ref: unknown): Payload {
  if (typeof ref !== 'string' || ref === '') return invalid(source, NO_REF);
  const parsed = parseRef(ref);
  if ('problem' in parsed) return invalid(source, parsed.problem);
  return { kind: 'ref', source, ref: parsed.name, isBranch: parsed.type === 'branch' } satisfies RefPayload;
}

/** pushPayload returns the payload that reports a branch. */
export function pushPayload(source: PayloadSource, branch: string, commit: unknown): Payload {
  const parsed = parseRef(branch);
  if ('problem' in parsed) return invalid(source, parsed.problem);
  if (!isCommit(commit)) return invalid(source, 'no commit found in payload');
  return { kind: 'push', source, heads: [{ branch: parsed.name, commit }] } satisfies PushPayload;
}
